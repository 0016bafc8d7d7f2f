//! The fourth story: on the same Avro records Snappy took 28 ms, Deflate 142 and Bzip2 315.
//!
//! 1,024 orders in four formats times the codecs: size, time to write (serialize and encode), and time to read
//! (decode and parse). Avro applies its codecs itself, block by block, and is the one that has bzip2; how many
//! records a block has is measured too.

use super::measure::{Contender, Measured, Output, interleave};
use super::orders::{Format, Orders, orders};
use super::row::Row;
use apache_avro::{Bzip2Settings, ZstandardSettings};
use apache_avro::{Codec as AvroCodec, DeflateSettings, Reader, Schema, Writer, from_value};
use bytes::Bytes;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use tower_compress::codec::{Codec, DecodeLimits, by_name};
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

const COUNT: usize = 1024;

pub(crate) fn run() -> Vec<Row> {
    let orders = Arc::new(orders(COUNT));
    let mut ways = Vec::new();
    for format in [Format::Json, Format::Xml, Format::Protobuf] {
        for (token, label) in CODECS {
            ways.push(Way::of_body(format, token, label, &orders));
        }
    }
    let all_avro = [
        ("none", AvroCodec::Null),
        ("snappy", AvroCodec::Snappy),
        ("deflate-6", AvroCodec::Deflate(DeflateSettings::default())),
        ("bzip2-9", AvroCodec::Bzip2(Bzip2Settings::new(9))),
        ("zstd-3", AvroCodec::Zstandard(ZstandardSettings::new(3))),
    ];
    for (label, codec) in all_avro {
        ways.push(Way::of_avro("avro", label, codec, COUNT, &orders));
    }
    for (name, block) in [("avro/1 a block", 1), ("avro/16 a block", 16)] {
        ways.push(Way::of_avro(
            name,
            "deflate-6",
            AvroCodec::Deflate(DeflateSettings::default()),
            block,
            &orders,
        ));
    }
    measure(ways)
}

const CODECS: [(Option<&str>, &str); 5] = [
    (None, "none"),
    (Some("snappy"), "snappy"),
    (Some("deflate"), "deflate-6"),
    (Some("gzip"), "gzip-6"),
    (Some("zstd"), "zstd-3"),
];

/// One format in one codec: how to write the orders, and how to read them again.
struct Way {
    workload: String,
    codec: &'static str,
    write: Contender,
    read: Contender,
}

impl Way {
    /// A body written into memory and encoded with this crate.
    fn of_body(format: Format, token: Option<&str>, label: &'static str, orders: &Arc<Orders>) -> Self {
        let codec = token.map(|token| by_name(token).expect("all codecs are compiled in"));
        let pool = EncoderPool::new();
        let written = encode(codec, &pool, serialize(format, orders));
        let (to_write, expected) = (Arc::clone(orders), Arc::clone(orders));
        let write = Contender::new("write", move || {
            let bytes = encode(codec, &pool, serialize(format, &to_write)).len() as u64;
            Output { bytes, frames: 1 }
        });
        let read = Contender::new("read", move || {
            let parsed = parse(format, &decode(codec, &written));
            assert_eq!(parsed.order.len(), expected.order.len());
            Output { bytes: written.len() as u64, frames: 1 }
        });
        Self { workload: format.name().to_owned(), codec: label, write, read }
    }

    /// An Avro file, whose blocks hold so many records.
    fn of_avro(
        name: &str,
        label: &'static str,
        codec: AvroCodec,
        block: usize,
        orders: &Arc<Orders>,
    ) -> Self {
        let schema: &'static Schema = Box::leak(Box::new(Schema::parse_str(SCHEMA).expect("a valid schema")));
        let written = write_avro(schema, codec, block, orders);
        let to_write = Arc::clone(orders);
        let write = Contender::new("write", move || Output {
            bytes: write_avro(schema, codec, block, &to_write).len() as u64,
            frames: 1,
        });
        let read = Contender::new("read", move || {
            let records = Reader::with_schema(schema, &written[..]).expect("a valid file");
            let parsed = records.map(|record| from_value::<super::orders::Order>(&record.expect("a record")));
            assert_eq!(parsed.filter(Result::is_ok).count(), COUNT);
            Output { bytes: written.len() as u64, frames: 1 }
        });
        Self { workload: name.to_owned(), codec: label, write, read }
    }
}

/// All ways take turns, writing and reading.
fn measure(ways: Vec<Way>) -> Vec<Row> {
    let mut names = Vec::new();
    let mut contenders = Vec::new();
    for Way { workload, codec, write, read } in ways {
        names.push((workload, codec));
        contenders.extend([write, read]);
    }
    let measured = interleave(&mut contenders, Duration::from_millis(150));
    let row = |((workload, codec), pair): ((String, &str), &[Measured])| {
        let mut row = Row::new("formats", "1024 orders", codec, &pair[0]);
        row.variant = workload;
        row.read_ns = Some(pair[1].cpu());
        row
    };
    let mut rows: Vec<_> = names.into_iter().zip(measured.chunks(2)).map(row).collect();
    rows.sort_by(|one, other| one.codec.cmp(&other.codec));
    rows
}

fn serialize(format: Format, orders: &Orders) -> Vec<u8> {
    let mut body = Vec::new();
    match format {
        Format::Protobuf => orders.encode(&mut body).expect("memory takes it"),
        // With its root, so that it can be parsed as one.
        Format::Json => serde_json::to_writer(&mut body, orders).expect("memory takes it"),
        _ => format.write(orders, &mut body).expect("memory takes it"),
    }
    body
}

fn parse(format: Format, body: &[u8]) -> Orders {
    match format {
        Format::Protobuf => Orders::decode(body).expect("what was written"),
        Format::Json => serde_json::from_slice(body).expect("what was written"),
        _ => quick_xml::de::from_reader(body).expect("what was written"),
    }
}

fn encode(codec: Option<&'static dyn Codec>, pool: &EncoderPool, body: Vec<u8>) -> Bytes {
    let Some(codec) = codec else { return Bytes::from(body) };
    let size = Some(body.len() as u64);
    let compressor = Compressor::new(pool, codec, CompressionLevel::Default, size);
    compressor.whole(&body).expect("a warm encoder does not fail").0
}

fn decode(codec: Option<&'static dyn Codec>, body: &Bytes) -> Vec<u8> {
    let Some(codec) = codec else { return body.to_vec() };
    let limits = DecodeLimits { max_window: 8 << 20, max_length: 64 << 20 };
    let mut decoder = codec.decoder(limits).expect("memory");
    let (mut decoded, mut taken) = (Vec::new(), 0);
    loop {
        let before = decoded.len();
        taken += decoder.decode(&body[taken..], 64 * 1024, &mut decoded).expect("what was written");
        if taken == body.len() && decoded.len() - before < 64 * 1024 {
            decoder.finish().expect("what was written");
            return decoded;
        }
    }
}

fn write_avro(schema: &Schema, codec: AvroCodec, block: usize, orders: &Orders) -> Vec<u8> {
    let mut writer = Writer::with_codec(schema, Vec::new(), codec);
    for orders in orders.order.chunks(block) {
        for order in orders {
            writer.append_ser(order).expect("it fits the schema");
        }
        // Ends the block.
        writer.flush().expect("memory takes it");
    }
    writer.into_inner().expect("memory takes it")
}

const SCHEMA: &str = r#"{
  "type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"},
    {"name": "placed", "type": "string"},
    {"name": "customer", "type": "string"},
    {"name": "city", "type": "string"},
    {"name": "status", "type": "string"},
    {"name": "lines", "type": {"type": "array", "items": {
      "type": "record", "name": "Line", "fields": [
        {"name": "sku", "type": "string"},
        {"name": "product", "type": "string"},
        {"name": "quantity", "type": "int"},
        {"name": "cents", "type": "int"}
      ]}}}
  ]}"#;
