//! Traces of traffic: what is asked for, and how the bodies are produced.

use crate::corpus::Kind;
use crate::orders::{Format, orders};
use crate::random::Random;
use crate::writes::Writes;

/// A body as its producer makes it. The bytes are in one piece and the lengths are small, so that replaying costs
/// little next to what is measured.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Script {
    pub(crate) bytes: &'static [u8],
    /// The lengths of the frames, and [`PAUSE`] where nothing comes for a while.
    pub(crate) steps: &'static [u32],
}

/// The producer waits for something.
pub(crate) const PAUSE: u32 = u32::MAX;

/// One response.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) script: Script,
}

/// Responses in the order in which they are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) exchanges: Vec<Exchange>,
    /// Whether the traffic stays as it is.
    pub(crate) steady: bool,
}

/// The traces of the bounds.
pub(crate) fn all() -> Vec<Trace> {
    let random = &mut Random(2025);
    let steady = |name, exchanges| Trace { name, exchanges, steady: true };
    let mut traces = vec![
        steady("tiny answers", tiny_answers(random, 120)),
        steady("lists of 16 to 26 KB", lists(random, 10, 40..=64)),
        steady("lists of 0.1 to 0.4 MB", lists(random, 2, 300..=1000)),
        steady("NDJSON in bursts", ndjson(random, 8)),
        steady("events with pauses", events(random, 12)),
        steady("26 KB in 2-byte writes", two_byte_writes(10)),
        steady("64 KiB file frames", files(random, 3)),
    ];
    let mix = [
        tiny_answers(random, 60),
        lists(random, 6, 40..=64),
        lists(random, 1, 300..=500),
        ndjson(random, 4),
        events(random, 4),
        two_byte_writes(2),
        files(random, 1),
    ];
    traces.push(Trace { name: "a mix of all", exchanges: shuffled(random, mix.concat()), steady: false });
    let shift = [
        tiny_answers(random, 60),
        lists(random, 6, 100..=140),
        tiny_answers(random, 60),
        lists(random, 1, 300..=500),
        ndjson(random, 4),
    ];
    traces.push(Trace { name: "one after the other", exchanges: shift.concat(), steady: false });
    traces
}

/// One order or a few, as a serializer writes them.
pub(crate) fn tiny_answers(random: &mut Random, count: usize) -> Vec<Exchange> {
    let bodies: Vec<_> = (1..=5).map(serialized).collect();
    let one = |_| {
        // Most have one order, few have five.
        let script = bodies[[0, 0, 0, 0, 1, 1, 1, 2, 2, 4][random.below(10)]];
        exchange(format!("/orders/{}", random.below(100_000)), "application/json", script)
    };
    (0..count).map(one).collect()
}

/// Lists of so many orders, as a serializer writes them.
pub(crate) fn lists(
    random: &mut Random,
    count: usize,
    orders: std::ops::RangeInclusive<usize>,
) -> Vec<Exchange> {
    let (least, most) = (*orders.start(), *orders.end());
    let mut one = || serialized(least + random.below(most - least + 1));
    (0..count).map(|_| exchange("/orders".into(), "application/json", one())).collect()
}

/// Lines of 400 bytes, 8 to 32 at a time, between pauses.
pub(crate) fn ndjson(random: &mut Random, count: usize) -> Vec<Exchange> {
    let body = Kind::Ndjson.body(100_000);
    let lines: Vec<_> = body.split_inclusive(|byte| *byte == b'\n').collect();
    let mut one = || {
        let mut producer = Producer::default();
        for _ in 0..3 + random.below(6) {
            let burst = 8 + random.below(25);
            let first = random.below(lines.len() - burst);
            producer.pause();
            lines[first..first + burst].iter().for_each(|line| producer.write(line));
        }
        producer.script()
    };
    (0..count).map(|_| exchange("/export".into(), "application/x-ndjson", one())).collect()
}

/// Server-sent events of 86 bytes, each after a pause.
pub(crate) fn events(random: &mut Random, count: usize) -> Vec<Exchange> {
    let mut one = || {
        let mut producer = Producer::default();
        for id in 0..60 + random.below(60) {
            let (price, change) = (random.below(100_000), random.below(1000));
            let event = format!(
                "id: {id:06}\nevent: quote\ndata: {{\"symbol\":\"{}\",\"price\":{price:06},\"change\":{change:04}}}\n\n",
                random.pick(&["ACME", "GLOB", "INIT", "UMBR"]),
            );
            producer.pause();
            producer.write(event.as_bytes());
        }
        producer.script()
    };
    (0..count).map(|_| exchange("/events".into(), "text/event-stream", one())).collect()
}

/// A report of 26 KB, two bytes at a time.
pub(crate) fn two_byte_writes(count: usize) -> Vec<Exchange> {
    let script = cut(&Kind::Json.body(26_000), 2);
    (0..count).map(|_| exchange("/report".into(), "application/json", script)).collect()
}

/// Files as a file server reads them: frames of 64 KiB, the last one shorter.
pub(crate) fn files(random: &mut Random, count: usize) -> Vec<Exchange> {
    let body = Kind::Logs.body(8 << 16);
    let mut one = || cut(&body[..((2 + random.below(6)) << 16) - 1000], 1 << 16);
    (0..count).map(|file| exchange(format!("/logs/{file}.txt"), "text/plain", one())).collect()
}

fn shuffled(random: &mut Random, mut exchanges: Vec<Exchange>) -> Vec<Exchange> {
    for last in (1..exchanges.len()).rev() {
        exchanges.swap(last, random.below(last + 1));
    }
    exchanges
}

fn exchange(path: String, content_type: &'static str, script: Script) -> Exchange {
    Exchange { path, content_type, script }
}

/// So many orders as JSON, in the writes that `serde_json` makes.
pub(crate) fn serialized(count: usize) -> Script {
    let mut producer = Producer::default();
    Writes::record(Format::Json, &orders(count)).iter().for_each(|write| producer.write(write));
    producer.script()
}

fn cut(body: &[u8], size: usize) -> Script {
    let mut producer = Producer::default();
    body.chunks(size).for_each(|frame| producer.write(frame));
    producer.script()
}

/// Writes scripts.
#[derive(Default)]
struct Producer {
    bytes: Vec<u8>,
    steps: Vec<u32>,
}

impl Producer {
    fn write(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.steps.push(u32::try_from(frame.len()).expect("frames are small"));
    }

    fn pause(&mut self) {
        self.steps.push(PAUSE);
    }

    /// Scripts live as long as the bench does.
    fn script(self) -> Script {
        Script { bytes: self.bytes.leak(), steps: self.steps.leak() }
    }
}
