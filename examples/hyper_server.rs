//! hyper without axum: answers that their writers code, behind no layer, against hyper's client in this process.
//!
//! ```sh
//! cargo run --release --example hyper_server
//! ```

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::io::{self, Read, Write};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tower_compress::{BoxError, CompressionLayer, Negotiation, WriterOptions};

type Body = UnsyncBoxBody<Bytes, BoxError>;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let layer = CompressionLayer::new();
    tokio::spawn(serve(listener, layer.clone()));

    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    for path in ["/whole", "/thread", "/task"] {
        for coding in ["gzip", "zstd", "identity"] {
            let request = Request::get(format!("http://{address}{path}"))
                .header(ACCEPT_ENCODING, coding)
                .body(Empty::new())?;
            let response = client.request(request).await?;
            let (head, body) = response.into_parts();
            let said =
                head.headers.get(CONTENT_ENCODING).map_or("identity", |said| said.to_str().unwrap_or("?"));
            let has_length = head.headers.contains_key(CONTENT_LENGTH);
            let coded = body.collect().await?.to_bytes();
            if head.status != StatusCode::OK || said != coding || has_length != (path == "/whole") {
                return Err(format!("{path} with {coding}: {:?}", head.headers).into());
            }
            if decode(coding, &coded)? != document() {
                return Err(format!("{path} came back as something else through {coding}").into());
            }
            println!("{path:8} {coding:9} {:>8} bytes as {:>8}", document().len(), coded.len());
        }
    }
    let stats = layer.stats();
    println!("{} messages coded, {:.0} writes per encoder call", stats.coded, stats.writes_per_call());
    Ok(())
}

async fn serve(listener: TcpListener, layer: CompressionLayer) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let layer = layer.clone();
        let service = service_fn(move |request| {
            let response = answer(&layer, request);
            async { Ok::<_, Infallible>(response) }
        });
        tokio::spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        );
    }
}

fn answer(layer: &CompressionLayer, mut request: Request<Incoming>) -> Response<Body> {
    let Some(mut negotiation) = layer.negotiate(&mut request) else {
        return layer.not_acceptable::<Empty<Bytes>>().map(BodyExt::boxed_unsync);
    };
    let mut head = Response::new(());
    head.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/csv"));
    match request.uri().path() {
        "/whole" => match negotiation.whole(head, write) {
            Ok(response) => response.map(BodyExt::boxed_unsync),
            Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR),
        },
        "/thread" => on_a_thread(&negotiation, head),
        "/task" => on_a_task(&negotiation, head),
        _ => failed(StatusCode::NOT_FOUND),
    }
}

/// A blocking writer: it waits for its reader, on a thread that may.
fn on_a_thread(negotiation: &Negotiation, head: Response<()>) -> Response<Body> {
    let (mut writer, response) = negotiation.writer(head, &WriterOptions::new());
    tokio::task::spawn_blocking(move || match write(&mut writer) {
        Ok(()) => writer.finish().map(drop),
        Err(error) => {
            writer.abort(error);
            Ok(())
        }
    });
    response.map(BodyExt::boxed_unsync)
}

/// An async writer: it is pending while its reader is behind. Dropped before `shutdown`, it aborts the body.
fn on_a_task(negotiation: &Negotiation, head: Response<()>) -> Response<Body> {
    let (mut writer, response) = negotiation.writer(head, &WriterOptions::new());
    tokio::spawn(async move {
        tokio::io::copy_buf(&mut &document()[..], &mut writer).await?;
        writer.shutdown().await
    });
    response.map(BodyExt::boxed_unsync)
}

fn failed(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}

fn write(writer: &mut impl Write) -> io::Result<()> {
    (0..50_000_u64).try_for_each(|number| writeln!(writer, "{number},{},{}", number * number, number % 7))
}

fn document() -> Vec<u8> {
    let mut document = Vec::new();
    write(&mut document).expect("memory takes every write");
    document
}

fn decode(coding: &str, coded: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    match coding {
        "gzip" => flate2::read::GzDecoder::new(coded).read_to_end(&mut decoded)?,
        "zstd" => zstd::stream::read::Decoder::new(coded)?.read_to_end(&mut decoded)?,
        _ => return Ok(coded.to_vec()),
    };
    Ok(decoded)
}
