//! How large a buffer should be, and how well the layer finds that out by itself.
//!
//! ```text
//! cargo bench --bench adaptive                      all four parts, with the bounds; draws docs/adaptive-*.svg
//! cargo bench --bench adaptive -- --check           the same, and fails where a bound does not hold
//! cargo bench --bench adaptive -- traces [WORDS]    adaptive against every fixed size; the codings, sizes and
//!                                                   traces that are named
//! cargo bench --bench adaptive -- learning          what predicts, how fast it is learned, what learning costs
//! cargo bench --bench adaptive -- sweep             CPU and output by batch: the source of `Codec::batch`
//! cargo bench --bench adaptive -- frontier [FILES]  CPU and output by level, on seven kinds of text or on files
//! ```
//!
//! Everything is seeded; CPU time is the thread's, in interleaved rounds.

#[path = "adaptive/altered.rs"]
mod altered;
#[path = "support/buffers.rs"]
mod buffers;
#[path = "adaptive/convergence.rs"]
mod convergence;
#[path = "support/corpus.rs"]
mod corpus;
#[path = "adaptive/cost.rs"]
mod cost;
#[path = "support/figures.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod figures;
#[path = "adaptive/frontier.rs"]
mod frontier;
#[path = "adaptive/layers.rs"]
mod layers;
#[path = "support/orders.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod orders;
#[path = "adaptive/places.rs"]
mod places;
#[path = "support/plot.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod plot;
#[path = "support/random.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod random;
#[path = "adaptive/regret.rs"]
mod regret;
#[path = "adaptive/replay.rs"]
mod replay;
#[path = "adaptive/rounds.rs"]
mod rounds;
#[path = "adaptive/sweep.rs"]
mod sweep;
#[path = "adaptive/traces.rs"]
mod traces;
#[path = "support/writes.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod writes;

use std::process::ExitCode;

#[global_allocator]
static BUFFERS: buffers::Counting = buffers::Counting;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let check = words.iter().any(|word| word == "--check");
    words.retain(|word| word != "--check");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut figures = Vec::new();
    match words[..] {
        [cost::CHILD, kind, count] => {
            cost::respond(kind, count.parse().expect("a number of responses"));
            return ExitCode::SUCCESS;
        }
        ["frontier", ref files @ ..] => frontier::run(files),
        ["sweep"] => figures.extend(sweep::run()),
        ["learning"] => figures.extend(learning()),
        ["traces", ref words @ ..] => figures.extend(regret::run(words)),
        [] => {
            figures.extend(sweep::run());
            frontier::run(&[]);
            figures.extend(regret::run(&[]));
            figures.extend(learning());
        }
        _ => {
            eprintln!("traces [CODINGS, SIZES, NAMES], learning, sweep, or frontier [FILES]");
            return ExitCode::FAILURE;
        }
    }
    match (figures.is_empty(), words.is_empty()) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => figures::conclude("adaptive", &figures, check),
        (false, false) => figures::judge(&figures, check),
    }
}

fn learning() -> Vec<figures::Figure> {
    places::print();
    let mut figures = convergence::run();
    figures.extend(cost::run());
    figures
}
