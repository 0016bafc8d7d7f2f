//! This crate's peers, as rows for `benches/compare.rs`: one JSON array on the standard output.

#[path = "../../support/drain.rs"]
mod drain;
#[path = "../../support/heap.rs"]
#[allow(dead_code)]
mod heap;
#[cfg(feature = "together")]
mod layered_peer;
#[path = "../../support/measure.rs"]
#[allow(dead_code)]
mod measure;
#[path = "../../support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "../../support/random.rs"]
mod random;
mod tower_peers;
#[path = "../../support/writes.rs"]
#[allow(dead_code)]
mod writes;

use measure::{Contender, Output};
use orders::Format;
use serde::Serialize;
use std::time::Duration;
use writes::{Produced, Writes};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// One body in one coding.
#[derive(Debug, Clone)]
struct Case {
    writes: Writes,
    tiny: bool,
    /// With the level that all peers can be set to: 6 and 3.
    token: &'static str,
}

impl Case {
    fn body(&self) -> Produced {
        if self.tiny { self.writes.tiny() } else { self.writes.whole() }
    }
}

#[derive(Debug, Serialize)]
struct Row {
    workload: String,
    codec: &'static str,
    variant: String,
    cpu_ns: f64,
    cpu_least_ns: f64,
    spread: f64,
    bytes_in: u64,
    writes: u64,
    bytes_out: u64,
    allocations: u64,
    frames: u64,
}

const SIZES: [(&str, usize); 4] = [("402B", 1), ("1.6K", 4), ("26K", 64), ("416K", 1024)];

fn main() {
    let suffix = if cfg!(feature = "together") { "together" } else { "miniz" };
    let mut rows = Vec::new();
    for (size, count) in SIZES {
        let writes = Writes::record(Format::Json, &orders::orders(count));
        for tiny in [false, true] {
            for (token, codec) in [("gzip", "gzip-6"), ("zstd", "zstd-3")] {
                let case = Case { writes: writes.clone(), tiny, token };
                let mut contenders = tower_peers::contenders(&case);
                contenders.insert(0, limit(&case));
                #[cfg(feature = "together")]
                contenders.extend(layered_peer::contenders(&case));
                for measured in measure::interleave(&mut contenders, Duration::from_millis(60)) {
                    rows.push(Row {
                        workload: format!("json/{size}/{}", if tiny { "tiny" } else { "whole" }),
                        codec,
                        variant: format!("{} ({suffix})", measured.name),
                        cpu_ns: measured.cpu(),
                        cpu_least_ns: measured.least(),
                        spread: measured.spread(),
                        bytes_in: writes.bytes.len() as u64,
                        writes: writes.count() as u64,
                        bytes_out: measured.output.bytes,
                        allocations: measured.allocations,
                        frames: measured.output.frames,
                    });
                }
            }
        }
    }
    println!("{}", serde_json::to_string(&rows).expect("rows are plain data"));
}

/// The limit in this binary, so that each process has its own measure.
fn limit(case: &Case) -> Contender {
    let body = case.writes.bytes.clone();
    let mut output = Vec::new();
    if case.token == "zstd" {
        let mut context = zstd::bulk::Compressor::new(3).expect("a level that zstd has");
        return Contender::new("limit", move || {
            output.clear();
            output.reserve(zstd::zstd_safe::compress_bound(body.len()));
            let bytes = context.compress_to_buffer(&body[..], &mut output).expect("there is room") as u64;
            Output { bytes, frames: 1 }
        });
    }
    // Not every backend has gzip framing of its own; zlib's costs the same but for another checksum.
    let mut context = flate2::Compress::new(flate2::Compression::new(6), true);
    Contender::new("limit", move || {
        context.reset();
        output.clear();
        output.reserve(body.len() + body.len() / 1000 + 64);
        let status = context.compress_vec(&body, &mut output, flate2::FlushCompress::Finish);
        assert!(matches!(status, Ok(flate2::Status::StreamEnd)));
        Output { bytes: output.len() as u64, frames: 1 }
    })
}
