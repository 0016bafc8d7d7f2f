//! The serializer's end: `serde_json::to_writer` into a `BodyWriter`, beside serializing into memory and encoding
//! that in one call, and beside the same serializer writing straight into flate2's encoder.
//!
//! ```text
//! cargo bench --bench writer               everything; figures against bounds
//! cargo bench --bench writer -- --check    the same, and fails where a bound does not hold
//! cargo bench --bench writer -- 26K gzip   only what has all these words
//! ```

#[path = "support/figures.rs"]
#[allow(dead_code)]
mod figures;
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

use figures::Figure;
use http_body::Body;
use measure::{Contender, Measured, Output, by_round, interleave};
use orders::{Order, orders};
use std::io::Write;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower_compress::codec::{Codec, by_name};
use tower_compress::engine::Compressor;
use tower_compress::{EncoderPool, WriterBody, WriterOptions};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// The documents, by the names that they have in tables, in orders of 400 bytes and 150 writes.
const SIZES: [(&str, usize); 3] = [("1.6K", 4), ("26K", 64), ("416K", 1024)];

const CODINGS: [&str; 2] = ["gzip", "zstd"];

/// What the writer may cost beyond serializing into memory, in calls of the encoder on the whole document.
const BEYOND_MEMORY: f64 = 1.15;

/// How many times less it must cost than flate2's encoder, from 26 KB up.
const BELOW_FLATE2: f64 = 3.0;

/// CPU time for each contender on each document.
const BUDGET: Duration = Duration::from_millis(300);

const MEMORY: &str = "to memory";
const LIMIT: &str = "one call";
/// The two one after the other. Each alone finds the caches as it left them; together they do not, as in a server.
const BOTH: &str = "both";
const WRITER: &str = "BodyWriter";
const WHOLE: &str = "BytesWriter";
const FLATE2: &str = "GzEncoder";

fn main() -> ExitCode {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (options, words): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with("--"));
    let mut figures = Vec::new();
    println!("microseconds of CPU, and allocations");
    for (size, count) in SIZES {
        let document = Arc::new(orders(count).order);
        for coding in CODINGS {
            let name = format!("{size} {coding}");
            if words.iter().all(|word| name.contains(&**word)) {
                judge(&name, size, &measure(coding, &document), &mut figures);
            }
        }
    }
    let check = options.iter().any(|option| option == "--check");
    if words.is_empty() {
        figures::conclude("writer", &figures, check)
    } else {
        figures::judge(&figures, check)
    }
}

fn measure(coding: &str, document: &Arc<Vec<Order>>) -> Vec<Measured> {
    let codec = by_name(coding).expect("a codec of the crate");
    let mut contenders = vec![
        Contender::new(MEMORY, memory(Arc::clone(document))),
        Contender::new(LIMIT, limit(codec, document)),
        Contender::new(BOTH, both(codec, Arc::clone(document))),
        Contender::new(WRITER, writer(codec, Arc::clone(document))),
        Contender::new(WHOLE, whole(codec, Arc::clone(document))),
    ];
    if coding == "gzip" {
        contenders.push(Contender::new(FLATE2, flate2(Arc::clone(document))));
    }
    interleave(&mut contenders, BUDGET)
}

fn memory(document: Arc<Vec<Order>>) -> impl FnMut() -> Output {
    move || {
        let mut bytes = Vec::new();
        serialize(&mut bytes, &document);
        Output { bytes: bytes.len() as u64, frames: 1 }
    }
}

/// The whole document in one slice, on a warm context of a pool of its own.
fn limit(codec: &'static dyn Codec, document: &Vec<Order>) -> impl FnMut() -> Output + 'static {
    let pool = EncoderPool::new();
    let bytes = serde_json::to_vec(document).expect("orders are JSON");
    move || one_call(&pool, codec, &bytes)
}

fn both(codec: &'static dyn Codec, document: Arc<Vec<Order>>) -> impl FnMut() -> Output {
    let pool = EncoderPool::new();
    move || {
        let mut bytes = Vec::new();
        serialize(&mut bytes, &document);
        one_call(&pool, codec, &bytes)
    }
}

fn one_call(pool: &EncoderPool, codec: &'static dyn Codec, bytes: &[u8]) -> Output {
    let compressor = Compressor::new(pool, codec, Default::default(), Some(bytes.len() as u64));
    let (coded, _) = compressor.whole(bytes).expect("memory is enough");
    Output { bytes: coded.len() as u64, frames: 1 }
}

/// The writer is made, written, finished, and its body read, on one thread: all that it costs, but for waking.
fn writer(codec: &'static dyn Codec, document: Arc<Vec<Order>>) -> impl FnMut() -> Output {
    let options = WriterOptions::new().coding(codec, Default::default()).pool(EncoderPool::new());
    move || {
        let (mut writer, body) = options.channel();
        serialize(&mut writer, &document);
        writer.finish().expect("the body is there");
        read(body)
    }
}

fn whole(codec: &'static dyn Codec, document: Arc<Vec<Order>>) -> impl FnMut() -> Output {
    let options = WriterOptions::new().coding(codec, Default::default()).pool(EncoderPool::new());
    move || {
        let mut writer = options.whole();
        serialize(&mut writer, &document);
        read(writer.finish().expect("memory is enough"))
    }
}

/// What is written without this crate. Its level is ours: 6.
fn flate2(document: Arc<Vec<Order>>) -> impl FnMut() -> Output {
    move || {
        let mut encoder = ::flate2::write::GzEncoder::new(Vec::new(), ::flate2::Compression::new(6));
        serialize(&mut encoder, &document);
        let coded = encoder.finish().expect("memory takes every write");
        Output { bytes: coded.len() as u64, frames: 1 }
    }
}

fn serialize(writer: impl Write, document: &Vec<Order>) {
    serde_json::to_writer(writer, document).expect("there is room for it");
}

fn read(mut body: WriterBody) -> Output {
    let mut cx = Context::from_waker(Waker::noop());
    let mut output = Output::default();
    while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(&mut cx) {
        let data = frame.expect("the writer has finished").into_data().expect("there are no trailers");
        output.bytes += data.len() as u64;
        output.frames += 1;
    }
    output
}

fn judge(name: &str, size: &str, measured: &[Measured], figures: &mut Vec<Figure>) {
    print!("{name:12}");
    for one in measured {
        print!("  {} {:.1} ({})", one.name, one.cpu() / 1e3, one.allocations);
    }
    println!();
    let find = |name: &str| measured.iter().find(|one| one.name == name);
    let (Some(limit), Some(both)) = (find(LIMIT), find(BOTH)) else { return };
    for ours in [WRITER, WHOLE].into_iter().filter_map(find) {
        // What is not serializing costs so many calls.
        let ratio = by_round(&[ours, both, limit], |times| 1.0 + (times[0] - times[1]) / times[2]);
        let figure = format!("{name}: {} beyond serializing / {LIMIT}", ours.name);
        figures.push(Figure::at_most(figure, ratio, "ratio", BEYOND_MEMORY));
    }
    if let (Some(ours), Some(flate2), true) = (find(WRITER), find(FLATE2), size != "1.6K") {
        let ratio = by_round(&[flate2, ours], |times| times[0] / times[1]);
        figures.push(Figure::at_least(format!("{name}: {FLATE2} / {WRITER}"), ratio, "ratio", BELOW_FLATE2));
    }
}
