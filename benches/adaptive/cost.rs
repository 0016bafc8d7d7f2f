//! What learning costs: instructions by callgrind, and time where two threads share what is learned.

use crate::altered::Filling;
use crate::figures::Figure;
use crate::layers::Layer;
use crate::rounds;
use crate::traces::{self, Trace};
use cpu_time::ThreadTime;
use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use tower_compress::EncoderPool;
use tower_compress::engine::{Observed, Place, Sizing};

/// The first word of the command line by which this bench calls itself under callgrind.
pub(crate) const CHILD: &str = "learn";

/// Instructions for one response.
const INSTRUCTIONS: f64 = 200.0;

/// Time of a response with two threads on one layer, against a layer for each.
const SHARED: f64 = 1.05;

/// What the responses are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All ended within the look-ahead, and all of one size.
    Steady,
    /// All went on beyond it.
    Streams,
    /// Each is unlike the one before, so that each changes the record.
    Shifting,
}

const KINDS: [(&str, Kind); 3] =
    [("steady", Kind::Steady), ("streams", Kind::Streams), ("shifting", Kind::Shifting)];

impl Kind {
    fn named(name: &str) -> Self {
        KINDS.iter().find(|(of, _)| *of == name).expect("a kind of responses").1
    }
}

pub(crate) fn run() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, _) in KINDS {
        match instructions(name) {
            Some(count) => {
                let name = format!("learning, {name}: cost of a response");
                figures.push(Figure::at_most(name, count, "instructions", INSTRUCTIONS));
            }
            None => eprintln!("valgrind is needed to count instructions"),
        }
    }
    println!();
    for (name, kind) in KINDS {
        let [own, shared, _] = two_threads(|shared| side_by_side(kind, shared));
        println!(
            "learning, {name}, two threads: {own:.1} ns a response with a record each, {shared:.1} ns with one"
        );
    }
    for trace in traces::all().into_iter().filter(|trace| SHARING.contains(&trace.name)) {
        let [own, shared, ratio] = two_threads(|shared| responding(&trace, shared));
        println!(
            "{}, two threads: {own:.2} us a response with a layer each, {shared:.2} us with one",
            trace.name
        );
        let name = format!("{}, two threads on one layer / on one each", trace.name);
        figures.push(Figure::at_most(name, ratio, "ratio", SHARED));
    }
    figures
}

/// Traces that two threads go through: what is learned stays as it is, is kept by streams, and changes.
const SHARING: [&str; 3] = ["tiny answers", "NDJSON in bursts", "one after the other"];

/// So many responses of a kind; `nothing`: without learning.
pub(crate) fn respond(kind: &str, count: usize) {
    match kind {
        NOTHING => responses(None, Kind::Steady, count),
        kind => responses(Some(&Sizing::new()), Kind::named(kind), count),
    }
}

const NOTHING: &str = "nothing";

fn responses(sizing: Option<&Sizing>, kind: Kind, count: usize) {
    for response in 0..count {
        // Slices: of arrays the compiler knows the length.
        let path = black_box(&b"/api/v1/customers/83123/orders"[..]);
        let content_type = black_box(&b"application/json"[..]);
        let length = black_box(if kind == Kind::Shifting && response % 2 == 0 { 300 } else { 26_000 });
        if let Some(sizing) = sizing {
            black_box(learn(sizing, kind, path, content_type, length));
        }
    }
}

/// All that a layer does to learn. Returns what is made of it, so that none of it is left out.
fn learn(sizing: &Sizing, kind: Kind, path: &[u8], content_type: &[u8], length: usize) -> u64 {
    let place = Place::of_route(path).of_type(content_type);
    let expected = sizing.expect(place);
    let gathered = expected.gathered() as u64;
    let longer = u64::from(expected.is_longer_than(65_536));
    let likely = expected.length().unwrap_or(0);
    let mut observed = Observed { gathered: length, output: None, length: Some(length as u64) };
    if kind != Kind::Streams {
        sizing.record(place, observed);
        return gathered + longer + likely;
    }
    // A stream keeps what it will teach until its end.
    let keeps = sizing.clone();
    let longer = longer + u64::from(expected.is_longer_than(16_384));
    let output = expected.output() as u64;
    observed.output = Some(length / 2);
    keeps.record(place, observed);
    gathered + longer + likely + output
}

/// What learning adds to a response. The differences between runs leave out what it takes to start, and to count.
fn instructions(kind: &str) -> Option<f64> {
    const RESPONSES: usize = 1000;
    let of = |kind| Some(collected(kind, 2 * RESPONSES)? - collected(kind, RESPONSES)?);
    Some((of(kind)? - of(NOTHING)?) / RESPONSES as f64)
}

fn collected(kind: &str, count: usize) -> Option<f64> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args([CHILD, kind, &count.to_string()])
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&run.stderr);
    told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

/// CPU time for each response, in two threads at once: with what is learned for each, with one for both, and what the one
/// is of the other. The two take turns; medians.
fn two_threads(side_by_side: impl Fn(bool) -> f64) -> [f64; 3] {
    const RUNS: usize = 41;
    let runs: Vec<[f64; 3]> = (0..RUNS)
        .map(|_| {
            let (own, shared) = (side_by_side(false), side_by_side(true));
            [own, shared, shared / own]
        })
        .collect();
    [0, 1, 2].map(|index| rounds::median(runs.iter().map(|run| run[index]).collect()))
}

/// Nanoseconds to learn from a response.
fn side_by_side(kind: Kind, shared: bool) -> f64 {
    const RESPONSES: usize = 100_000;
    let one = Sizing::new();
    in_two_threads(RESPONSES, || {
        let sizing = if shared { one.clone() } else { Sizing::new() };
        move || responses(Some(&sizing), kind, RESPONSES)
    })
}

/// Microseconds for a response through a layer, by a pool that both threads have.
fn responding(trace: &Trace, shared: bool) -> f64 {
    const PASSES: usize = 4;
    let pool = EncoderPool::new();
    let layer = || Layer::new("gzip", None, Filling::Real, &pool);
    let one = layer();
    let responses = PASSES * trace.exchanges.len();
    in_two_threads(responses, || {
        let layer = if shared { one.clone() } else { layer() };
        layer.warm_up(&trace.exchanges);
        move || (0..PASSES).for_each(|_| drop(layer.run(&trace.exchanges)))
    }) / 1000.0
}

/// Nanoseconds of CPU time for each of so many responses, when two threads prepare and then run.
fn in_two_threads<R: FnOnce()>(responses: usize, prepare: impl Fn() -> R + Sync) -> f64 {
    let start = Barrier::new(2);
    let run = || {
        let run = prepare();
        start.wait();
        let time = ThreadTime::now();
        run();
        time.elapsed().as_nanos() as f64 / responses as f64
    };
    thread::scope(|scope| {
        let other = scope.spawn(run);
        let times = (run(), other.join().expect("the other thread is well"));
        f64::midpoint(times.0, times.1)
    })
}
