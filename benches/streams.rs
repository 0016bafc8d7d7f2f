//! Streams: what an event costs, what an idle stream holds, how promptly events leave, and how fair it all is.
//!
//! ```text
//! cargo bench --bench streams                 everything; figures against bounds
//! cargo bench --bench streams -- --check      the same, and fails where a bound does not hold
//! cargo bench --bench streams -- cpu          one part: cpu, size, memory, prompt or fair
//! cargo bench --bench streams -- profile gzip 100000
//!                                             one contender alone, for a profiler
//! ```

#[path = "streams/contenders.rs"]
mod contenders;
#[path = "streams/cpu.rs"]
mod cpu;
#[path = "streams/events.rs"]
mod events;
#[path = "streams/fair.rs"]
mod fair;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/heap.rs"]
mod heap;
// Other benches and tests use what this one does not.
#[allow(dead_code)]
#[path = "../tests/it/support/incremental.rs"]
mod incremental;
#[allow(dead_code)]
#[path = "support/measure.rs"]
mod measure;
#[path = "streams/memory.rs"]
mod memory;
#[path = "streams/prompt.rs"]
mod prompt;
#[path = "support/random.rs"]
mod random;
#[path = "support/results.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod results;
#[path = "streams/size.rs"]
mod size;
#[path = "streams/source.rs"]
mod source;

use figures::Figure;
use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

type Part = (&'static str, fn(&mut Vec<Figure>));

/// The parts, by name.
const PARTS: [Part; 5] = [
    ("size", size::run),
    ("cpu", cpu::run),
    ("memory", memory::run),
    ("prompt", prompt::run),
    ("fair", fair::run),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["profile", contender, events] => {
            cpu::profile(contender, events.parse().expect("a number of events"));
            return ExitCode::SUCCESS;
        }
        // A process of its own, with a heap of its own.
        ["hold", contender, streams] => {
            memory::hold(contender, streams.parse().expect("a number of streams"));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let (options, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.starts_with("--"));
    let mut figures = Vec::new();
    for (name, run) in PARTS {
        if words.is_empty() || words.iter().any(|word| word == name) {
            run(&mut figures);
        }
    }
    let check = options.iter().any(|option| option == "--check");
    if words.is_empty() {
        figures::conclude("streams", &figures, check)
    } else {
        figures::judge(&figures, check)
    }
}
