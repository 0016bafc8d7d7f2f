//! The first story: JAXB wrote XML straight into a `GZIPOutputStream`, and 24 ms became 400.
//!
//! Here a serializer writes the same orders as XML and as JSON; what differs is what stands between it and gzip
//! at level 6. The time includes the serializer's, which is the first line.

use super::measure::{Contender, Output, interleave};
use super::orders::{Format, Orders, orders};
use super::row::Row;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;
use tower_compress::codec::by_name;
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

pub(crate) fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for format in [Format::Xml, Format::Json] {
        for (size, count) in [("1.6K", 4), ("26K", 64), ("416K", 1024)] {
            let orders = Arc::new(orders(count));
            let mut contenders = [
                contender("serializer alone", &orders, format, |write| {
                    let mut bytes = 0;
                    write(&mut Count(&mut bytes));
                    bytes
                }),
                contender("straight into the encoder", &orders, format, |write| {
                    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
                    write(&mut encoder);
                    encoder.finish().expect("memory takes it").len() as u64
                }),
                contender("8 KiB BufWriter ahead of it", &orders, format, |write| {
                    let encoder = GzEncoder::new(Vec::new(), Compression::new(6));
                    let mut buffered = BufWriter::with_capacity(8 * 1024, encoder);
                    write(&mut buffered);
                    let encoder = buffered.into_inner().expect("memory takes it");
                    encoder.finish().expect("memory takes it").len() as u64
                }),
                contender("into memory, then one call", &orders, format, |write| {
                    let mut body = Vec::new();
                    write(&mut body);
                    whole(&body)
                }),
            ];
            let measured = interleave(&mut contenders, Duration::from_millis(100));
            let workload = format!("{}/{size}", format.name());
            rows.extend(measured.iter().map(|measured| Row::new("batching", &workload, "gzip-6", measured)));
        }
    }
    rows
}

type Writing<'a> = &'a dyn Fn(&mut dyn Write);

fn contender(
    name: &'static str,
    orders: &Arc<Orders>,
    format: Format,
    through: impl Fn(Writing<'_>) -> u64 + 'static,
) -> Contender {
    let orders = Arc::clone(orders);
    Contender::new(name, move || {
        let bytes = through(&|output| format.write(&orders, output).expect("memory takes it"));
        Output { bytes, frames: 1 }
    })
}

/// A body that is all there, through this crate's pool.
fn whole(body: &[u8]) -> u64 {
    let gzip = by_name("gzip").expect("gzip is compiled in");
    let size = Some(body.len() as u64);
    let compressor = Compressor::new(&EncoderPool::default(), gzip, CompressionLevel::Default, size);
    compressor.whole(body).expect("a warm encoder does not fail").0.len() as u64
}

/// Counts what is written.
struct Count<'a>(&'a mut u64);

impl Write for Count<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
