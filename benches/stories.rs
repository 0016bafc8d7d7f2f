//! The four reports that this crate comes from, reproduced: `cargo bench --bench stories [-- WORDS]`.
//!
//! 1. `batching`: a serializer's many small writes, straight into an encoder or gathered ahead of it.
//! 2. `encoders`: an encoder built for each message, or pooled; one thread and many.
//! 3. `timestamps`: one field written as one number, as text, or as its parts.
//! 4. `formats`: JSON, XML, Protobuf and Avro, times the codecs.
//!
//! Words choose stories by name. Each prints its table; all rows go to `target/tower-compress/stories.json`.

#[path = "stories/batching.rs"]
mod batching;
#[path = "support/drain.rs"]
mod drain;
#[path = "stories/encoders.rs"]
mod encoders;
#[path = "support/figures.rs"]
#[allow(dead_code)]
mod figures;
#[path = "stories/formats.rs"]
mod formats;
#[path = "support/heap.rs"]
mod heap;
#[path = "support/measure.rs"]
#[allow(dead_code)]
mod measure;
#[path = "support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "support/random.rs"]
mod random;
#[path = "support/results.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod results;
#[path = "stories/row.rs"]
mod row;
#[path = "stories/timestamps.rs"]
mod timestamps;
#[path = "support/writes.rs"]
#[allow(dead_code)]
mod writes;

use row::Row;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

type Story = (&'static str, fn() -> Vec<Row>);

const STORIES: [Story; 4] = [
    ("batching", batching::run),
    ("encoders", encoders::run),
    ("timestamps", timestamps::run),
    ("formats", formats::run),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut rows = Vec::new();
    for (name, run) in STORIES {
        if words.is_empty() || words.iter().any(|word| word == name) {
            println!("\n# {name}");
            let of_story = run();
            row::print(&of_story);
            rows.extend(of_story);
        }
    }
    row::save(rows);
}
