//! hyper's client and a server in one process: requests and responses both travel compressed.
//!
//! `cargo run --release --example hyper_client` prints what was saved in each direction, and fails if a byte is
//! wrong.

use axum::{Json, Router, routing::post};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use std::error::Error;
use tokio::net::TcpListener;
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::response::DecodedFrom;
use tower_compress::{
    CompressionBody, CompressionLayer, DecompressionLayer, RequestCompressionLayer, RequestDecompressionLayer,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let origin = serve().await?;
    // Cheap to clone, as all of its clones share their connections.
    let hyper = Client::builder(TokioExecutor::new()).build_http::<CompressionBody<Full<Bytes>>>();

    let orders = json!((0..2000).map(order).collect::<Vec<_>>());
    println!("{:<8} {:>24} {:>24}", "coding", "request, before > after", "response, after < before");
    for coding in ["gzip", "deflate", "zstd", "br"] {
        let requests = RequestCompressionLayer::new().coding(coding);
        let responses = DecompressionLayer::new().gzip(false).deflate(false).zstd(false).br(false);
        let responses = match coding {
            "gzip" => responses.gzip(true),
            "deflate" => responses.deflate(true),
            "zstd" => responses.zstd(true),
            _ => responses.br(true),
        };
        let client = ServiceBuilder::new().layer(&requests).layer(&responses).service(hyper.clone());

        let request = Request::post(format!("{origin}/orders"))
            .header("content-type", "application/json")
            .body(Full::from(orders.to_string()))?;
        let response = client.oneshot(request).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("{coding}: {}", response.status()).into());
        }
        let coded = response.extensions().get::<DecodedFrom>().cloned();
        let mut body = response.into_body();
        let mut plain = Vec::new();
        while let Some(frame) = body.frame().await {
            plain.extend(frame?.into_data().unwrap_or_default());
        }
        if serde_json::from_slice::<Value>(&plain)? != orders {
            return Err(format!("{coding}: other orders came back").into());
        }
        if coded.is_none_or(|coded| coded.content_encoding() != coding) {
            return Err(format!("{coding}: the response did not have it").into());
        }
        let sent = requests.stats();
        let received = body.received().unwrap_or_default();
        println!(
            "{coding:<8} {:>12} > {:>9} {:>12} < {:>9}",
            sent.bytes_in,
            sent.bytes_out,
            received,
            plain.len()
        );
    }
    Ok(())
}

/// A server on a free port that decodes requests, compresses responses, and sends back the orders that it gets.
async fn serve() -> Result<String, Box<dyn Error + Send + Sync>> {
    let router = Router::new()
        .route("/orders", post(async |Json(orders): Json<Value>| Json(orders)))
        .layer(CompressionLayer::new().br(true))
        .layer(RequestDecompressionLayer::new().br(true));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

fn order(number: u64) -> Value {
    const PRODUCTS: [&str; 5] = ["keyboard", "monitor", "cable", "desk lamp", "chair"];
    json!({
        "id": 1_000_000 + number * 7919 % 999_983,
        "product": PRODUCTS[number as usize * 3 % PRODUCTS.len()],
        "quantity": number * number % 19 + 1,
        "price": (number * 7919 % 99_991) as f64 / 100.0,
    })
}
