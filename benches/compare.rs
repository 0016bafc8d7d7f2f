//! Side by side: this crate, the limit, its peers, and programs without it. See `docs/benchmarks.md`.

#[path = "compare/coding.rs"]
mod coding;
#[path = "compare/contenders.rs"]
mod contenders;
#[path = "support/heap.rs"]
mod heap;
#[path = "support/measure.rs"]
mod measure;
#[path = "support/orders.rs"]
mod orders;
#[path = "support/random.rs"]
mod random;
#[path = "support/writes.rs"]
mod writes;

use contenders::{Case, Shape};
use orders::Format;
use std::time::Duration;
use writes::Writes;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const SIZES: [(&str, usize); 5] = [("402B", 1), ("1.6K", 4), ("26K", 64), ("416K", 1024), ("10M", 25_600)];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for format in Format::ALL {
        for (size, count) in SIZES {
            let orders = orders::orders(count);
            let writes = Writes::record(format, &orders);
            for shape in [Shape::Whole, Shape::Tiny] {
                for coding in coding::ALL {
                    let name = format!("{}/{size}/{}/{}", format.name(), shape.name(), coding.label);
                    if !args.iter().all(|a| name.contains(a.as_str())) {
                        continue;
                    }
                    println!("{name} {} bytes {} writes", writes.bytes.len(), writes.count());
                    let case =
                        Case { writes: writes.clone(), content_type: format.content_type(), shape, coding };
                    if let Ok(only) = std::env::var("ONLY") {
                        let runs: usize = std::env::var("RUNS").unwrap().parse().unwrap();
                        for mut c in case.contenders() {
                            if c.name == only {
                                for _ in 0..runs {
                                    std::hint::black_box((c.run)());
                                }
                            }
                        }
                        continue;
                    }
                    let measured = measure::interleave(&mut case.contenders(), Duration::from_millis(60));
                    let limit = measured[0].cpu();
                    let drain = measured[1].cpu();
                    for m in &measured {
                        println!(
                            "  {:22} {:10.2} us +-{:4.1}% x{:.3} net x{:.3} {} allocs {} bytes {} frames",
                            m.name,
                            m.cpu() / 1e3,
                            m.spread() * 100.0,
                            m.cpu() / limit,
                            (m.cpu() - drain) / limit,
                            m.allocations,
                            m.output.bytes,
                            m.output.frames
                        );
                    }
                }
            }
        }
    }
}
