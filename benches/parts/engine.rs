//! The write buffer, the writer, and the pool.

use super::cpu::Cpu;
use super::nothing::Nothing;
use super::orders::{Format, orders};
use super::pools::{local, pooled, side_by_side};
use super::writes::Writes;
use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use std::io::Write;
use tower_compress::codec::{Codec, by_name};
use tower_compress::engine::WriteBuffer;
use tower_compress::{CompressionLevel, EncoderPool, WriterOptions};

/// Writes of one size, up to 16 KiB.
pub(crate) fn write_buffer(criterion: &mut Criterion<Cpu>) {
    const ROUND: usize = 16 * 1024;
    let mut group = criterion.benchmark_group("write buffer");
    for size in [1, 3, 16, 100, 1024] {
        let writes = ROUND / size;
        group.throughput(Throughput::Elements(writes as u64));
        let input = vec![b'x'; size];
        for (name, within) in [("push", false), ("push_within", true)] {
            let mut buffer = WriteBuffer::new(ROUND);
            group.bench_with_input(BenchmarkId::new(name, size), &input, |bench, input| {
                bench.iter(|| {
                    for _ in 0..writes {
                        let input = black_box(input.as_slice());
                        if !within || !buffer.push_within(input) {
                            buffer.push(input);
                        }
                    }
                    buffer.drain(buffer.len());
                });
            });
        }
    }
    group.finish();
}

/// A serializer's writes of 26 KB, into the writer and into a vector.
pub(crate) fn writer(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("writer");
    let writes = Writes::record(Format::Json, &orders(64));
    group.throughput(Throughput::Elements(writes.count() as u64));
    group.bench_function("vector", |bench| {
        bench.iter(|| {
            let mut body = Vec::new();
            writes.iter().for_each(|write| body.extend_from_slice(write));
            body
        });
    });
    for (name, codec) in
        [("nothing", &Nothing as &dyn Codec), ("gzip", by_name("gzip").expect("it is compiled in"))]
    {
        let options = WriterOptions::new().coding(codec, CompressionLevel::Default).pool(EncoderPool::new());
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut writer = options.whole();
                writes.iter().for_each(|write| writer.write_all(write).expect("memory takes every write"));
                writer.finish().expect("memory takes every write")
            });
        });
    }
    group.finish();
}

/// What it costs to fetch an encoder and to give it back, with and without others who do the same.
pub(crate) fn pool(criterion: &mut Criterion<Cpu>) {
    let zstd = by_name("zstd").expect("it is compiled in");
    let body = Writes::record(Format::Json, &orders(1)).bytes;
    let mut group = criterion.benchmark_group("pool");
    for (name, codec) in [("nothing", &Nothing as &'static dyn Codec), ("zstd-3 402B", zstd)] {
        for threads in [1, 2, 8] {
            let pool = EncoderPool::new();
            group.bench_function(BenchmarkId::new(format!("{name}/shared"), threads), |bench| {
                bench.iter_custom(|runs| side_by_side(threads, runs, || pooled(&pool, codec, &body)));
            });
            group.bench_function(BenchmarkId::new(format!("{name}/thread-local"), threads), |bench| {
                bench.iter_custom(|runs| side_by_side(threads, runs, || local(codec, &body)));
            });
        }
    }
    group.finish();
}
