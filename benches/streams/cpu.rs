//! CPU time per event.

use crate::contenders::{NAMES, PARKED, contender};
use crate::events::tick;
use crate::figures::Figure;
use crate::measure::{Contender, Output, by_round, interleave};
use std::time::Duration;

/// Events of one run.
const RUN: usize = 64;

/// CPU time for each contender.
const BUDGET: Duration = Duration::from_millis(400);

pub(crate) fn run(figures: &mut Vec<Figure>) {
    let mut contenders: Vec<_> = NAMES.iter().map(|name| measured(name)).collect();
    let measured = interleave(&mut contenders, BUDGET);
    println!(
        "\nCPU time and allocations per tick of 86 B, on a stream that has had many, each flushed by itself"
    );
    for one in &measured {
        let events = RUN as f64;
        println!("{:24} {:>8.0} ns {:>6.1}", one.name, one.cpu() / events, one.allocations as f64 / events);
    }
    let find = |name: &str| measured.iter().find(|one| one.name == name).expect("it was measured");
    let ratio =
        |one: &str, other: &str| by_round(&[find(one), find(other)], |times: &[f64]| times[0] / times[1]);
    let mut most = |figure: &str, one: &str, other: &str, bound: f64| {
        figures.push(Figure::at_most(figure, ratio(one, other), "x", bound));
    };
    most("gzip, hot: CPU against level 6 on a kept context", "gzip", "bare gzip 6", 0.2);
    most("gzip, hot beside 10,000 idle: CPU against the same", "gzip beside idle", "bare gzip 6", 0.2);
    most(
        "gzip, parked: CPU against reset, priming, flush at level 6",
        "gzip parked",
        "bare gzip 6, primed",
        1.3,
    );
    most("gzip, parked: CPU against the same at level 1", "gzip parked", "bare gzip 1, primed", 1.3);
    most("zstd: CPU against a bare encoder call", "zstd", "bare zstd 3", 1.25);
    let against = ratio("tower-http gzip", "gzip");
    figures.push(Figure::at_least("gzip: tower-http's CPU against ours", against, "x", 5.0));
}

fn measured(name: &'static str) -> Contender {
    let mut encode = contender(name);
    // Streams that take turns have all had many events before.
    let warm = if name == "gzip parked" { 20 * PARKED } else { 1000 };
    (0..warm).for_each(|number| {
        encode(&tick(number / PARKED).into());
    });
    let mut number = 0;
    Contender::new(name, move || {
        let mut bytes = 0;
        for _ in 0..RUN {
            number += 1;
            bytes += encode(&EVENTS.with(|events| events[number % events.len()].clone()));
        }
        Output { bytes: bytes as u64, frames: RUN as u64 }
    })
}

thread_local! {
    /// Made beforehand, so that making them is not measured.
    static EVENTS: Vec<bytes::Bytes> = (0..10_000).map(|number| tick(number).into()).collect();
}

/// Runs one contender alone.
pub(crate) fn profile(name: &str, events: usize) {
    let mut encode = contender(name);
    let mut bytes = 0;
    for number in 0..events {
        bytes += encode(&EVENTS.with(|events| events[number % events.len()].clone()));
    }
    println!("{name}: {events} events, {bytes} bytes");
}
