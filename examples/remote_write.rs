//! Sends samples to Prometheus: its remote write protocol wants protobuf in one raw snappy block.
//!
//! `cargo run --release --example remote_write -- http://127.0.0.1:9090/api/v1/write [metric]`, with Prometheus
//! started as `prometheus --web.enable-remote-write-receiver`. `tests/prometheus.sh` does all of it.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use prost::Message;
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};
use tower::{Layer, ServiceExt};
use tower_compress::{CompressionBody, RequestCompressionLayer};

/// `prometheus.WriteRequest`, as far as remote write 1.0 needs it.
#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

/// One series to a room.
const ROOMS: i64 = 100;

/// Samples in each, a second apart, the last one now.
const SAMPLES: i64 = 60;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: remote_write URL [metric]")?;
    let metric = arguments.next().unwrap_or_else(|| "tower_compress_example".to_owned());
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;

    // The protocol knows no other coding, and none at all is an error.
    let layer = RequestCompressionLayer::new().no_gzip().no_deflate().no_zstd().coding("snappy").force(true);
    let hyper = Client::builder(TokioExecutor::new()).build_http::<CompressionBody<Full<Bytes>>>();

    let request = Request::post(url)
        .header("content-type", "application/x-protobuf")
        .header("user-agent", concat!("tower-compress-example/", env!("CARGO_PKG_VERSION")))
        .header("x-prometheus-remote-write-version", "0.1.0")
        .body(Full::from(samples(&metric, now).encode_to_vec()))?;
    let response = layer.layer(hyper).oneshot(request).await?;
    let status = response.status();
    if !status.is_success() {
        let body = response.into_body().collect().await?.to_bytes();
        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
    }
    let sent = layer.stats();
    println!(
        "{status}: {} samples, {} bytes before and {} after",
        ROOMS * SAMPLES,
        sent.bytes_in,
        sent.bytes_out
    );
    Ok(())
}

/// In every room `metric` counts up to the room's number and a half.
fn samples(metric: &str, now: i64) -> WriteRequest {
    let series = |room: i64| TimeSeries {
        // Sorted by name, as the protocol demands.
        labels: vec![label("__name__", metric), label("room", &room.to_string())],
        samples: (1 - SAMPLES..=0)
            .map(|step| Sample { value: (room + step) as f64 + 0.5, timestamp: now + 1000 * step })
            .collect(),
    };
    WriteRequest { timeseries: (0..ROOMS).map(series).collect() }
}

fn label(name: &str, value: &str) -> Label {
    Label { name: name.to_owned(), value: value.to_owned() }
}
