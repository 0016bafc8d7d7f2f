//! What HTTP asks of response compression, item by item, of this crate and of tower-http's `CompressionLayer`:
//! `cargo run --release --example conformance`.
//!
//! Each item is one or more real exchanges, hyper's server and client over loopback; see `tests/it/conformance/`.
//! Both layers offer zstd and gzip from 1 KiB on, and are otherwise as they come. `-` means that a layer has no
//! such feature, so that there is nothing to judge. Exits with an error if this crate misses an item.

#![allow(dead_code, unused_imports, reason = "the tests use the rest of what they share with this")]

#[path = "../tests/it/conformance/mod.rs"]
mod conformance;
#[path = "../tests/it/support/mod.rs"]
mod support;

use conformance::{Outcome, Source, Subject, items, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    println!(
        "{:<5} {:<8} {:<28} {:<72} {:<5} tower-http",
        "item", "source", "RFC 9110, or", "expectation", "ours"
    );
    let mut results = Vec::new();
    for item in items() {
        let (ours, theirs) = (run(&item, Subject::Ours), run(&item, Subject::Theirs));
        let source = name(item.source);
        println!(
            "{:<5} {source:<8} {:<92} {:<5} {:<10}",
            item.id,
            item.expectation,
            word(&ours),
            word(&theirs)
        );
        results.push((item, ours, theirs));
    }

    println!("\nwhat was missed:");
    for (item, ours, theirs) in &results {
        for (name, outcome) in [("ours", ours), ("tower-http", theirs)] {
            if let Outcome::Misses(failure) = outcome {
                println!("{:<5} {name}: {failure:.300}", item.id);
            }
        }
    }

    println!("\n{:<16} {:>14} {:>14}", "", "tower-compress", "tower-http 0.7");
    for source in [Source::Must, Source::Should, Source::Interop, Source::Policy] {
        let of = |outcome: fn(&Row) -> &Outcome| {
            score(results.iter().filter(|row| row.0.source == source).map(outcome))
        };
        println!("{:<16} {:>14} {:>14}", name(source), of(|row| &row.1), of(|row| &row.2));
    }
    let ours = score(results.iter().map(|row| &row.1));
    let theirs = score(results.iter().map(|row| &row.2));
    println!("{:<16} {ours:>14} {theirs:>14}", "all");
    println!("\nscore of tower-compress: {ours}\nscore of tower-http:     {theirs}");

    if results.iter().all(|(_, ours, _)| *ours == Outcome::Holds) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

type Row = (conformance::Item, Outcome, Outcome);

fn name(source: Source) -> &'static str {
    match source {
        Source::Must => "MUST",
        Source::Should => "SHOULD",
        Source::Interop => "interop",
        Source::Policy => "policy",
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "yes",
        Outcome::Misses(_) => "NO",
        Outcome::NotOffered => "-",
    }
}

/// Items that hold, of those that could be judged.
fn score<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let (mut held, mut judged) = (0, 0);
    for outcome in outcomes {
        held += u32::from(*outcome == Outcome::Holds);
        judged += u32::from(*outcome != Outcome::NotOffered);
    }
    format!("{held} of {judged}")
}
