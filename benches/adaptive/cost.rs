//! What learning costs: instructions by callgrind, and time where two threads share what is learned.

use crate::figures::Figure;
use cpu_time::ThreadTime;
use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use tower_compress::engine::{Observed, Place, Sizing};

/// The first word of the command line by which this bench calls itself under callgrind.
pub(crate) const CHILD: &str = "learn";

/// Instructions for one response.
const INSTRUCTIONS: f64 = 200.0;

/// Time with two threads on one record, against each thread on its own.
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
    let [own, shared, ratio] = two_threads(Kind::Steady);
    println!(
        "\nlearning in two threads: {own:.1} ns a response each on its own, {shared:.1} ns on one record"
    );
    let [own, shared, _] = two_threads(Kind::Shifting);
    println!("where every response changes the record: {own:.1} ns, and {shared:.1} ns");
    figures.push(Figure::at_most("learning, two threads / one each", ratio, "ratio", SHARED));
    figures
}

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

/// Nanoseconds of CPU time for each response, in two threads at once: with a record for each, with one for both, and
/// what the one is of the other. The two take turns; medians.
fn two_threads(kind: Kind) -> [f64; 3] {
    const RUNS: usize = 41;
    let rounds: Vec<[f64; 3]> = (0..RUNS)
        .map(|_| {
            let (own, shared) = (side_by_side(kind, false), side_by_side(kind, true));
            [own, shared, shared / own]
        })
        .collect();
    [0, 1, 2].map(|index| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[index]).collect();
        values.sort_by(f64::total_cmp);
        values[RUNS / 2]
    })
}

fn side_by_side(kind: Kind, shared: bool) -> f64 {
    const RESPONSES: usize = 100_000;
    let (one, start) = (Sizing::new(), Barrier::new(2));
    let run = || {
        let sizing = if shared { one.clone() } else { Sizing::new() };
        start.wait();
        let time = ThreadTime::now();
        responses(Some(&sizing), kind, RESPONSES);
        time.elapsed().as_nanos() as f64 / RESPONSES as f64
    };
    thread::scope(|scope| {
        let other = scope.spawn(run);
        let times = (run(), other.join().expect("the other thread is well"));
        f64::midpoint(times.0, times.1)
    })
}
