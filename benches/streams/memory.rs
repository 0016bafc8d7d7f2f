//! What idle streams hold: resident growth, each contender in a process of its own.

use crate::contenders::{layer, peer};
use crate::events::tick;
use crate::figures::{self, Figure};
use crate::results::Held;
use crate::source::Stream;
use std::process::Command;
use tower::layer::util::Identity;

const EVENTS: usize = 10;

pub(crate) fn run(figures: &mut Vec<Figure>) {
    println!("\nResident growth per stream that is idle after {EVENTS} ticks, and of all");
    let mut rows = Vec::new();
    let mut held = |contender: &str, streams: usize| {
        let bytes = ask(contender, streams);
        rows.push(Held { contender: contender.to_owned(), streams, bytes });
        let each = bytes as f64 / streams as f64 / 1024.0;
        println!(
            "{contender:24} {streams:>8} {each:>10.1} KiB {:>10.1} MiB",
            bytes as f64 / (1 << 20) as f64
        );
        (each, bytes)
    };
    held("no layer", 10_000);
    for streams in [100, 1000] {
        for contender in ["gzip", "zstd or gzip", "tower-http gzip"] {
            held(contender, streams);
        }
    }
    let (each, _) = held("gzip", 10_000);
    figures.push(Figure::at_most("10,000 idle gzip streams: memory each", each, "KiB", 8.0));
    let (peer, _) = held("tower-http gzip", 10_000);
    figures.push(Figure::at_least("the same: tower-http's against ours", peer / each, "x", 1.0));
    let (_, all) = held("gzip", 100_000);
    figures.push(Figure::at_most("100,000 idle gzip streams: memory of all", all as f64 / 1e9, "GB", 1.0));
    held("zstd or gzip", 10_000);
    held("zstd or gzip", 100_000);
    figures::save("streams-memory", &rows);
}

/// Asks a process of its own.
fn ask(contender: &str, streams: usize) -> u64 {
    let program = std::env::current_exe().expect("the bench knows itself");
    let output = Command::new(program).args(["hold", contender, &streams.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().expect("a number of bytes")
}

/// Makes streams idle, and prints how many bytes have become resident.
pub(crate) fn hold(contender: &str, streams: usize) {
    let make: Box<dyn Fn() -> Stream> = match contender {
        "no layer" => Box::new(|| Stream::new(&Identity::new(), "identity")),
        "gzip" => {
            let layer = layer();
            Box::new(move || Stream::new(&layer, "gzip"))
        }
        // As browsers ask, with gzip for when there is no memory for zstd.
        "zstd or gzip" => {
            let layer = layer();
            Box::new(move || Stream::any(&layer, "zstd, gzip;q=0.9").0)
        }
        "tower-http gzip" => Box::new(|| Stream::new(&peer(), "gzip")),
        other => panic!("no contender is called {other}"),
    };
    let events: Vec<bytes::Bytes> = (0..EVENTS).map(|number| tick(number).into()).collect();
    // What the first one sets up for all is not the streams'.
    let first = make();
    let before = resident();
    let mut held = Vec::with_capacity(streams);
    for _ in 0..streams {
        let mut stream = make();
        events.iter().for_each(|event| assert!(stream.event(event.clone()) > 0));
        held.push(stream);
    }
    println!("{}", resident() - before);
    drop((first, held));
}

/// Resident bytes of this process.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
