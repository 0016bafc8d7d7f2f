//! Encoders: by level, by batch, and where they come from.

use super::cpu::Cpu;
use super::orders::{Format, orders};
use super::writes::Writes;
use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use tower_compress::codec::{Codec, Encoder, Operation, Setup, by_name};
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

const LEVELS: [(&str, &[i32]); 5] = [
    ("gzip", &[1, 3, 6, 9]),
    ("deflate", &[6]),
    ("zstd", &[-3, 1, 3, 6, 9]),
    ("br", &[0, 2, 4, 6]),
    ("x-snappy-framed", &[0]),
];

/// Whole bodies in one call, in a warm context, by codec and level.
pub(crate) fn levels(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("level");
    for (size, count) in [("1.6K", 4), ("26K", 64), ("416K", 1024)] {
        let body = json(count);
        group.throughput(Throughput::Bytes(body.len() as u64));
        for (token, levels) in LEVELS {
            for level in levels {
                let mut encoder = Warm::new(token, *level, body.len());
                group.bench_with_input(
                    BenchmarkId::new(format!("{token}-{level}"), size),
                    &body,
                    |bench, body| {
                        bench.iter(|| encoder.encode(body, body.len()));
                    },
                );
            }
        }
    }
    group.finish();
}

/// The same input in calls of so many bytes.
pub(crate) fn batches(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("batch");
    let body = json(1024);
    group.throughput(Throughput::Bytes(body.len() as u64));
    for (token, level) in
        [("gzip", 1), ("gzip", 6), ("zstd", 1), ("zstd", 3), ("br", 4), ("x-snappy-framed", 0)]
    {
        for batch in [256, 1024, 4 * 1024, 16 * 1024, 64 * 1024, 256 * 1024] {
            let mut encoder = Warm::new(token, level, body.len());
            group.bench_with_input(
                BenchmarkId::new(format!("{token}-{level}"), batch),
                &body,
                |bench, body| {
                    bench.iter(|| encoder.encode(body, batch));
                },
            );
        }
    }
    group.finish();
}

/// Where the context of a message comes from.
pub(crate) fn contexts(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("context");
    for (size, count) in [("402B", 1), ("1.6K", 4), ("26K", 64), ("416K", 1024)] {
        let body = json(count);
        group.throughput(Throughput::Bytes(body.len() as u64));
        for (token, level) in [("gzip", 6), ("zstd", 3), ("br", 4)] {
            let codec = by_name(token).expect("all codecs are compiled in");
            let id = |way: &str| BenchmarkId::new(format!("{token}-{level}/{way}"), size);
            group.bench_with_input(id("new"), &body, |bench, body| {
                bench.iter(|| Warm::new(token, level, body.len()).encode(body, body.len()));
            });
            let pool = EncoderPool::new();
            group.bench_with_input(id("pooled"), &body, |bench, body| {
                bench.iter(|| {
                    let level = CompressionLevel::Precise(level);
                    let compressor = Compressor::new(&pool, codec, level, Some(body.len() as u64));
                    compressor.whole(body).expect("there is room").0
                });
            });
            let mut own = Warm::new(token, level, body.len());
            group.bench_with_input(id("own"), &body, |bench, body| {
                bench.iter(|| {
                    own.encode(body, body.len());
                    Bytes::copy_from_slice(&own.output)
                });
            });
        }
    }
    group.finish();
}

/// An encoder that is reset after each message.
struct Warm {
    encoder: Box<dyn Encoder>,
    output: Vec<u8>,
}

impl Warm {
    fn new(token: &str, level: i32, size: usize) -> Self {
        let codec: &'static dyn Codec = by_name(token).expect("all codecs are compiled in");
        let level = codec.level(CompressionLevel::Precise(level));
        let setup = Setup { level, size_class: codec.size_class(Some(size as u64)) };
        Self { encoder: codec.encoder(setup).expect("memory"), output: Vec::new() }
    }

    fn encode(&mut self, body: &[u8], batch: usize) -> usize {
        self.output.clear();
        let mut rest = body;
        while !rest.is_empty() {
            let (slice, after) = rest.split_at(rest.len().min(batch));
            let operation = if after.is_empty() { Operation::Finish } else { Operation::Encode };
            self.encoder.encode(slice, operation, &mut self.output).expect("there is room");
            rest = after;
        }
        assert!(self.encoder.reset());
        self.output.len()
    }
}

fn json(count: usize) -> Bytes {
    Writes::record(Format::Json, &orders(count)).bytes
}
