//! Six serializers, each through a `BodyWriter`, each against a client in this process: how many writes they make,
//! and how many calls of the encoder those become.
//!
//! ```sh
//! cargo run --release --example serializers
//! ```

#[path = "../benches/support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "../benches/support/random.rs"]
mod random;

use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use orders::{Line, Orders};
use prost::Message;
use std::io::{self, Read, Write};
use std::sync::Arc;
use tokio::net::TcpListener;
use tower_compress::axum::{BlockingWriter, CodingConfig, ContentCoding};
use tower_compress::{CompressionLayer, EncoderPool};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A serializer, as it is used without any of this: it writes into what it is given.
type Serializer = fn(&Orders, &mut dyn Write) -> Result<(), Error>;

const SERIALIZERS: [(&str, &str, Serializer); 6] = [
    ("json", "application/json", json),
    ("ndjson", "application/x-ndjson", ndjson),
    ("csv", "text/csv", csv),
    ("xml", "application/xml", xml),
    ("protobuf", "application/x-protobuf", protobuf),
    ("avro", "application/avro", avro),
];

/// 416 KB of JSON.
const ORDERS: usize = 1024;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let orders = Arc::new(orders::orders(ORDERS));
    println!(
        "{:9} {:6} {:>9} {:>8} {:>8} {:>6} {:>9} {:>9}",
        "format", "coding", "bytes", "writes", "B/write", "calls", "writes/c", "coded"
    );
    for (name, content_type, serialize) in SERIALIZERS {
        let mut expected = Vec::new();
        serialize(&orders, &mut expected)?;
        for coding in ["gzip", "zstd"] {
            // A layer for each, since its counters are what is printed.
            let layer = CompressionLayer::new().pool(EncoderPool::new());
            let orders = Arc::clone(&orders);
            let handler = move |accepted: ContentCoding| {
                let orders = Arc::clone(&orders);
                let write = BlockingWriter::new(move |writer| serialize(&orders, writer));
                accepted.with([("content-type", content_type)]).encode(write)
            };
            let coded = fetch(serve(handler, layer.clone()).await?, coding, content_type).await?;
            if !same(name, &decode(coding, &coded)?, &expected)? {
                return Err(format!("{name} came back as something else through {coding}").into());
            }
            let stats = layer.stats();
            println!(
                "{name:9} {coding:6} {:>9} {:>8} {:>8.1} {:>6} {:>9.0} {:>9}",
                expected.len(),
                stats.writes,
                expected.len() as f64 / stats.writes as f64,
                stats.encoder_calls,
                stats.writes_per_call(),
                coded.len()
            );
        }
    }
    Ok(())
}

/// Serves one handler, and returns its address.
async fn serve<F, R>(handler: F, layer: CompressionLayer) -> io::Result<String>
where
    F: Fn(ContentCoding) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response> + Send + 'static,
{
    let config = CodingConfig::new().layer(layer);
    let router = Router::new().route("/", get(handler)).layer(Extension(config));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok(format!("http://{address}/"))
}

/// The body as it was sent.
async fn fetch(url: String, coding: &str, content_type: &str) -> Result<Vec<u8>, Error> {
    let response = reqwest::Client::new().get(url).header("accept-encoding", coding).send().await?;
    let response = response.error_for_status()?;
    let field = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let expected =
        [("content-encoding", coding), ("content-type", content_type), ("vary", "accept-encoding")];
    for (name, value) in expected {
        if field(name) != Some(value) {
            return Err(format!("{name} is {:?} instead of {value}", field(name)).into());
        }
    }
    Ok(response.bytes().await?.to_vec())
}

fn decode(coding: &str, coded: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    match coding {
        "gzip" => flate2::read::GzDecoder::new(coded).read_to_end(&mut decoded)?,
        _ => zstd::stream::read::Decoder::new(coded)?.read_to_end(&mut decoded)?,
    };
    Ok(decoded)
}

/// Whether two documents say the same: byte for byte, but for Avro's metadata, which is in no order.
fn same(format: &str, one: &[u8], other: &[u8]) -> Result<bool, Error> {
    let records = |file| apache_avro::Reader::new(file)?.collect::<Result<Vec<_>, _>>();
    Ok(one == other || format == "avro" && records(one)? == records(other)?)
}

fn json(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    Ok(serde_json::to_writer(output, &orders.order)?)
}

fn ndjson(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    for order in &orders.order {
        serde_json::to_writer(&mut *output, order)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

/// A row for each line of each order. The csv crate gathers 8 KiB itself.
fn csv(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    let mut rows = csv::Writer::from_writer(output);
    for order in &orders.order {
        for Line { sku, product, quantity, cents } in &order.lines {
            rows.serialize((order.id, &order.placed, &order.customer, sku, product, quantity, cents))?;
        }
    }
    Ok(rows.flush()?)
}

fn xml(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    let mut xml = quick_xml::Writer::new(output);
    xml.create_element("orders").write_inner_content(|xml| {
        orders
            .order
            .iter()
            .try_for_each(|order| xml.write_serializable("order", order).map_err(io::Error::other))
    })?;
    Ok(())
}

/// Prost writes into memory only, so a stream of messages is the finest grain there is.
fn protobuf(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    let mut message = Vec::new();
    for order in &orders.order {
        message.clear();
        order.encode_length_delimited(&mut message)?;
        output.write_all(&message)?;
    }
    Ok(())
}

/// An object container file (Avro specification, section "Object Container Files").
fn avro(orders: &Orders, output: &mut dyn Write) -> Result<(), Error> {
    let schema = apache_avro::Schema::parse_str(SCHEMA)?;
    let mut file = apache_avro::Writer::new(&schema, output);
    orders.order.iter().try_for_each(|order| file.append_ser(order).map(drop))?;
    file.flush()?;
    Ok(())
}

const SCHEMA: &str = r#"{
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "placed", "type": "string"},
        {"name": "customer", "type": "string"},
        {"name": "city", "type": "string"},
        {"name": "status", "type": "string"},
        {"name": "lines", "type": {"type": "array", "items": {
            "type": "record",
            "name": "Line",
            "fields": [
                {"name": "sku", "type": "string"},
                {"name": "product", "type": "string"},
                {"name": "quantity", "type": "int"},
                {"name": "cents", "type": "int"}
            ]
        }}}
    ]
}"#;
