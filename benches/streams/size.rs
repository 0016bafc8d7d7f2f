//! What events come out as, each flushed by itself.

use crate::contenders::{NAMES, PARKED, contender};
use crate::events::{log, tick, token};
use crate::figures::Figure;

const EVENTS: usize = 1000;

type Kind = (&'static str, fn(usize) -> Vec<u8>);
const KINDS: [Kind; 3] = [("ticks of 86 B", tick), ("tokens of a model", token), ("log lines", log)];

pub(crate) fn run(figures: &mut Vec<Figure>) {
    println!(
        "\nBytes out of {EVENTS} events, each flushed by itself, as a part of level 6's on a kept context"
    );
    println!("{:24} {:>18} {:>18} {:>18}", "", KINDS[0].0, KINDS[1].0, KINDS[2].0);
    let bare = KINDS.map(|(_, event)| total("bare gzip 6", event));
    for name in NAMES {
        if name == "gzip beside idle" {
            continue;
        }
        let totals = KINDS.map(|(_, event)| total(name, event));
        print!("{name:24}");
        for (total, bare) in totals.iter().zip(bare) {
            print!(" {total:>10} {:>7.3}", ratio(*total, bare));
        }
        println!();
        if name == "gzip" {
            figures.push(Figure::at_most(
                "gzip, hot: ticks' size against level 6",
                ratio(totals[0], bare[0]),
                "x",
                1.0,
            ));
        }
    }
    let parked = ratio(total("gzip parked", tick), total("gzip", tick));
    figures.push(Figure::at_most("gzip, parked: ticks' size against hot", parked, "x", 1.25));
}

fn total(name: &str, event: fn(usize) -> Vec<u8>) -> usize {
    let mut encode = contender(name);
    if name == "gzip parked" {
        // Each event goes to all streams in turn.
        let to_all = |number| (0..PARKED).map(|_| encode(&event(number).into())).sum::<usize>();
        return (0..EVENTS).map(to_all).sum::<usize>() / PARKED;
    }
    (0..EVENTS).map(|number| encode(&event(number).into())).sum()
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
