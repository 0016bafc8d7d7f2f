//! Decoding a body: ours beside the codec's bare decoder on the same chunks, and beside tower-http's layer.
//!
//! ```text
//! cargo bench --bench decode               everything; figures against bounds
//! cargo bench --bench decode -- --check    the same, and fails where a bound does not hold
//! cargo bench --bench decode -- gzip       only figures whose name has all these words
//! ```

#[path = "decode/bare.rs"]
mod bare;
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
#[path = "decode/through.rs"]
mod through;

use bare::Bare;
use bytes::Bytes;
use figures::Figure;
use measure::{Contender, Measured, Output, by_round, interleave};
use orders::{Format, orders};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use through::{Answers, through};
use tower::Layer;
use tower_compress::DecompressionLayer;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

const CODINGS: [&str; 6] = ["gzip", "deflate", "zstd", "br", "x-snappy-framed", "snappy"];

/// The decoded bodies, by the names that they have in tables, in orders.
const SIZES: [(&str, usize); 2] = [("26K", 64), ("1M", 2560)];

/// Bytes of a frame of the coded body: a trickle, a few TCP segments, hyper's read buffer.
const CHUNKS: [usize; 3] = [256, 4096, 16 * 1024];

/// CPU time for each contender on each workload.
const BUDGET: Duration = Duration::from_millis(160);

fn main() -> ExitCode {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (options, words): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with("--"));
    let mut figures = Vec::new();
    println!(
        "{:32} {:>9} {:>9} {:>10} {:>12} {:>6}",
        "microseconds", "bare", "ours", "tower-http", "allocations", "frames"
    );
    for (size, count) in SIZES {
        let mut plain = Vec::new();
        Format::Json.write(&orders(count), &mut plain).expect("memory takes every write");
        for coding in CODINGS {
            let coded = encode(coding, &plain);
            for chunk in CHUNKS {
                let name = format!("{coding}/{size}/{chunk}");
                if words.iter().all(|word| name.contains(&**word)) {
                    let frames: Vec<_> = coded.chunks(chunk).map(Bytes::copy_from_slice).collect();
                    judge(&name, &measure(coding, &frames, plain.len()), &mut figures);
                }
            }
        }
    }
    let check = options.iter().any(|option| option == "--check");
    if words.is_empty() {
        figures::conclude("decode", &figures, check)
    } else {
        figures::judge(&figures, check)
    }
}

/// Bare, ours, and tower-http's where it has the coding.
fn measure(coding: &'static str, frames: &[Bytes], length: usize) -> Vec<Measured> {
    let mut bare = Bare::new(coding, length);
    let layer = DecompressionLayer::new().br(true).snappy(true).snappy_framed(true);
    let [for_bare, for_ours, for_theirs] = [(); 3].map(|()| Answers::default());
    let mut ours = layer.layer(for_ours.clone());
    let mut theirs = tower_http::decompression::DecompressionLayer::new().layer(for_theirs.clone());
    let prepare = |answers: &Answers| {
        let (answers, frames) = (answers.clone(), frames.to_vec());
        move |count| answers.prepare(count, coding, &frames)
    };
    let mut contenders = vec![
        Contender::new("bare", {
            let answers = for_bare.clone();
            move || Output { bytes: bare.run(answers.frames()) as u64, frames: 0 }
        })
        .prepared_by(prepare(&for_bare)),
        Contender::new("ours", move || through(&mut ours)).prepared_by(prepare(&for_ours)),
        Contender::new("tower-http", move || through(&mut theirs)).prepared_by(prepare(&for_theirs)),
    ];
    contenders.truncate(if coding.contains("snappy") { 2 } else { 3 });
    let measured = interleave(&mut contenders, BUDGET);
    assert!(measured.iter().all(|contender| contender.output.bytes == length as u64), "{coding}");
    measured
}

fn judge(name: &str, measured: &[Measured], figures: &mut Vec<Figure>) {
    let time = |index: usize| {
        measured.get(index).map_or(String::new(), |of: &Measured| format!("{:.1}", of.cpu() / 1e3))
    };
    let ours = &measured[1];
    println!(
        "{name:32} {:>9} {:>9} {:>10} {:>12} {:>6}",
        time(0),
        time(1),
        time(2),
        ours.allocations,
        ours.output.frames
    );
    let to = |other: &Measured| by_round(&[ours, other], |times| times[0] / times[1]);
    figures.push(Figure::at_most(format!("{name} to the bare decoder"), to(&measured[0]), "ratio", 1.1));
    if let Some(theirs) = measured.get(2) {
        figures.push(Figure::at_most(format!("{name} to tower-http"), to(theirs), "ratio", 1.0));
    }
}

fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let write = |writer: &mut dyn Write| writer.write_all(plain).and_then(|()| writer.flush()).unwrap();
    match coding {
        "gzip" => write(&mut flate2::write::GzEncoder::new(&mut coded, flate2::Compression::default())),
        "deflate" => write(&mut flate2::write::ZlibEncoder::new(&mut coded, flate2::Compression::default())),
        "zstd" => write(&mut zstd::stream::Encoder::new(&mut coded, 3).unwrap().auto_finish()),
        "br" => write(&mut brotli::CompressorWriter::new(&mut coded, 4096, 4, 22)),
        "x-snappy-framed" => write(&mut snap::write::FrameEncoder::new(&mut coded)),
        _ => coded = snap::raw::Encoder::new().compress_vec(plain).unwrap(),
    }
    coded
}
