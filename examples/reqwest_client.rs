//! reqwest's client with our layers around it: requests leave compressed, whoever made them, and responses are
//! decoded within limits.
//!
//! `cargo run --release --example reqwest_client` starts a server that knows gzip alone, learns that, and fails if
//! a byte is wrong. reqwest itself is built without its decoders (its features `gzip` and the like).

use axum::{Router, routing::post};
use bytes::Bytes;
use http::Request;
use std::error::Error;
use tokio::net::TcpListener;
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::client::ReqwestService;
use tower_compress::{
    CompressionLayer, DecompressionLayer, Limits, RequestCompressionLayer, RequestDecompressionLayer,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let origin = serve().await?;
    let reqwest = reqwest::Client::new();
    let requests = RequestCompressionLayer::new().coding("zstd");
    let client = ServiceBuilder::new()
        .layer(&requests)
        .layer(DecompressionLayer::new().limits(Limits::responses().max_decoded(16 << 20)))
        .service(ReqwestService::new(reqwest.clone()));

    let text = "All happy families are alike; each unhappy family is unhappy in its own way. ".repeat(1000);
    for round in 1..=2 {
        // Made with reqwest, sent through the layers, and again an answer of reqwest's.
        let request = reqwest.post(format!("{origin}/echo")).body(text.clone()).build()?;
        let request = Request::<reqwest::Body>::try_from(request)?;
        let response = client.clone().oneshot(request).await?;
        let response = reqwest::Response::from(response.map(reqwest::Body::wrap)).error_for_status()?;
        if response.text().await? != text {
            return Err("another text came back".into());
        }
        let sent = requests.stats();
        println!(
            "after {round}: {} requests coded, {} bytes before and {} after",
            sent.coded, sent.bytes_in, sent.bytes_out
        );
    }
    // zstd was refused once, with what is accepted; that was sent at once, and the next time to begin with.
    if requests.stats().coded != 3 {
        return Err("what the server accepts was not learned".into());
    }
    Ok(())
}

/// A server that accepts gzip alone, and sends back what it gets.
async fn serve() -> Result<String, Box<dyn Error + Send + Sync>> {
    let router = Router::new()
        .route("/echo", post(async |body: Bytes| body))
        .layer(CompressionLayer::new())
        .layer(RequestDecompressionLayer::new().no_zstd().no_deflate());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}
