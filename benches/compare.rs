//! Side by side: this crate, the limit, its peers, and programs without it. See `docs/benchmarks.md`.
//!
//! ```text
//! cargo bench --bench compare                          everything; figures against bounds
//! cargo bench --bench compare -- --check               the same, and fails where a bound does not hold
//! cargo bench --bench compare -- json 26K zstd         only workloads whose name has all these words
//! cargo bench --bench compare -- profile tower-compress 5000 json/26K/tiny/zstd-3
//!                                                      one contender alone, for a profiler
//! ```

#[path = "compare/bounds.rs"]
mod bounds;
#[path = "compare/coding.rs"]
mod coding;
#[path = "compare/contenders.rs"]
mod contenders;
#[path = "support/drain.rs"]
mod drain;
#[path = "support/figures.rs"]
mod figures;
#[path = "support/heap.rs"]
mod heap;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/orders.rs"]
mod orders;
#[path = "compare/peers.rs"]
mod peers;
#[path = "compare/pool.rs"]
mod pool;
#[path = "support/pools.rs"]
mod pools;
#[path = "support/random.rs"]
mod random;
#[path = "support/results.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod results;
#[path = "compare/rows.rs"]
mod rows;
#[path = "support/writes.rs"]
mod writes;

use contenders::{Case, Shape};
use orders::Format;
use rows::Row;
use std::process::ExitCode;
use std::time::Duration;
use writes::Writes;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// The sizes, by the names that they have in tables, in orders.
const SIZES: [(&str, usize); 5] = [("402B", 1), ("1.6K", 4), ("26K", 64), ("416K", 1024), ("10M", 25_600)];

/// The size that is cut into frames of so many bytes, as JSON.
const SWEPT: &str = "416K";
const FRAMES: [usize; 8] = [4, 16, 64, 256, 1024, 4096, 16_384, 65_536];

/// CPU time for each contender on each workload. The format that the bounds are about gets more.
const BUDGET: Duration = Duration::from_millis(40);
const JSON_BUDGET: Duration = Duration::from_millis(120);

/// On a thread of its own, as servers answer on threads of their own: glibc's allocator gives the main thread's free
/// memory back to the system more often, which would be measured with what allocates.
fn main() -> ExitCode {
    std::thread::spawn(run).join().expect("what panicked has said why")
}

fn run() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [profile, contender, runs, workload] = &words[..] {
        if profile == "profile" {
            let runs = runs.parse().expect("a number of runs");
            cases(std::slice::from_ref(workload), |_, case| case.run(contender, runs));
            return ExitCode::SUCCESS;
        }
    }
    let (options, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.starts_with("--"));
    let mut rows = Vec::new();
    let mut figures = Vec::new();
    cases(&words, |workload, case| {
        let budget = if workload.starts_with("json") { JSON_BUDGET } else { BUDGET };
        let measured = measure::interleave(&mut case.contenders(), budget);
        let of_case = Row::all(workload, case, &measured);
        rows::print(&of_case);
        bounds::of_case(workload, case, &measured, &mut figures);
        rows.extend(of_case);
    });
    let everything = words.is_empty();
    if everything {
        figures.push(pool::run());
        let of_peers = peers::run();
        for same in
            of_peers.chunk_by(|one, other| (&one.workload, &one.codec) == (&other.workload, &other.codec))
        {
            rows::print(same);
        }
        rows.extend(of_peers);
        bounds::of_all(&rows, &mut figures);
    }
    rows::save(rows, everything);
    let check = options.iter().any(|option| option == "--check");
    if everything {
        figures::conclude("compare-bounds", &figures, check)
    } else {
        figures::judge(&figures, check)
    }
}

/// Every case whose workload and coding have all `words` in their names.
fn cases(words: &[String], mut each: impl FnMut(&str, &Case)) {
    for format in Format::ALL {
        for (size, count) in SIZES {
            let mut recorded = None;
            for (name, shape, frame) in shapes(format, size) {
                let workload = format!("{}/{size}/{name}", format.name());
                for coding in coding::ALL {
                    let name = format!("{workload}/{}", coding.label);
                    let swept = [coding::GZIP, coding::ZSTD].contains(&coding);
                    if frame.is_some() && !swept || !words.iter().all(|word| name.contains(word.as_str())) {
                        continue;
                    }
                    let writes = recorded
                        .get_or_insert_with(|| Writes::record(format, &orders::orders(like(format, count))));
                    let writes = frame.map_or_else(|| writes.clone(), |bytes| writes.cut(bytes));
                    each(&workload, &Case { writes, content_type: format.content_type(), shape, coding });
                }
            }
        }
    }
}

/// As many orders as make a body of about the size that `count` of them have as JSON.
fn like(format: Format, count: usize) -> usize {
    match format {
        Format::Json | Format::Html => count,
        Format::Xml => (count * 2 / 3).max(1),
        Format::Protobuf => count * 9 / 4,
    }
}

/// How bodies come, by the names that it has in workloads: as a whole, in the serializer's writes, and one body in
/// frames of several sizes.
fn shapes(format: Format, size: &str) -> impl Iterator<Item = (String, Shape, Option<usize>)> {
    let frames: &[usize] = if (format, size) == (Format::Json, SWEPT) { &FRAMES } else { &[] };
    let plain = [Shape::Whole, Shape::Tiny].map(|shape| (shape.name().to_owned(), shape, None));
    let swept = frames.iter().map(|bytes| (format!("frames-{bytes}"), Shape::Tiny, Some(*bytes)));
    plain.into_iter().chain(swept)
}
