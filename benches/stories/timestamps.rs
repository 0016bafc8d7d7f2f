//! The third story: Hessian on `LocalDateTime` instead of `Date` made 6 bytes 256, and 100 times slower.
//!
//! 1,000 events as JSON, which differ in nothing but how each says when it was.

use super::measure::{Contender, Output, interleave};
use super::row::Row;
use serde::Serialize;
use std::time::Duration;
use tower_compress::codec::by_name;
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

pub(crate) fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for (token, codec) in [(None, "none"), (Some("gzip"), "gzip-6"), (Some("zstd"), "zstd-3")] {
        let mut contenders = [
            contender("one integer", token, events(|at| at.milliseconds)),
            contender("RFC 3339 text", token, events(Instant::text)),
            contender("nested parts", token, events(Instant::parts)),
        ];
        let measured = interleave(&mut contenders, Duration::from_millis(100));
        rows.extend(measured.iter().map(|row| Row::new("timestamps", "json/1000 events", codec, row)));
    }
    rows
}

#[derive(Serialize)]
struct Event<T> {
    id: u32,
    kind: &'static str,
    at: T,
}

/// As `java.time.LocalDateTime` with its zone looks to a serializer that writes an object's fields.
#[derive(Serialize)]
struct Parts {
    date: Date,
    time: Time,
    zone: Zone,
}

#[derive(Serialize)]
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

#[derive(Serialize)]
struct Time {
    hour: u64,
    minute: u64,
    second: u64,
    nano: u64,
}

#[derive(Serialize)]
struct Zone {
    id: &'static str,
    #[serde(rename = "totalSeconds")]
    total_seconds: u32,
}

#[derive(Clone, Copy)]
struct Instant {
    milliseconds: u64,
}

impl Instant {
    fn date(self) -> Date {
        // Days since the epoch to the civil date, by Howard Hinnant's algorithm.
        let days = self.milliseconds / 86_400_000 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Date { year, month, day: of_year - (153 * shifted + 2) / 5 + 1 }
    }

    fn time(self) -> Time {
        let (seconds, milliseconds) = (self.milliseconds / 1000 % 86_400, self.milliseconds % 1000);
        Time {
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            nano: milliseconds * 1_000_000,
        }
    }

    fn parts(self) -> Parts {
        Parts { date: self.date(), time: self.time(), zone: Zone { id: "Z", total_seconds: 0 } }
    }

    fn text(self) -> String {
        let (Date { year, month, day }, Time { hour, minute, second, nano }) = (self.date(), self.time());
        let milliseconds = nano / 1_000_000;
        format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
    }
}

fn events<T>(at: impl Fn(Instant) -> T) -> Vec<Event<T>> {
    let kinds = ["created", "paid", "packed", "shipped"];
    let event = |id: u32| {
        // From 2024 on, at uneven distances.
        let milliseconds = 1_704_067_200_000 + u64::from(id) * 7_919_333 + u64::from(id * id % 977);
        Event { id, kind: kinds[id as usize % kinds.len()], at: at(Instant { milliseconds }) }
    };
    (0..1000).map(event).collect()
}

fn contender<T: Serialize + 'static>(
    name: &'static str,
    token: Option<&'static str>,
    events: Vec<Event<T>>,
) -> Contender {
    let codec = token.map(|token| by_name(token).expect("all codecs are compiled in"));
    let pool = EncoderPool::new();
    Contender::new(name, move || {
        let mut body = Vec::new();
        serde_json::to_writer(&mut body, &events).expect("memory takes it");
        let bytes = codec.map_or(body.len() as u64, |codec| {
            let size = Some(body.len() as u64);
            let compressor = Compressor::new(&pool, codec, CompressionLevel::Default, size);
            compressor.whole(&body).expect("a warm encoder does not fail").0.len() as u64
        });
        Output { bytes, frames: 1 }
    })
}
