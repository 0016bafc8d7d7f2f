//! Server-sent events through axum's own `Sse`, compressed: a client in this process gets each event while the
//! stream goes on.
//!
//! ```sh
//! cargo run --release --example sse
//! ```

use axum::Router;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use futures_util::stream::{Stream, unfold};
use std::convert::Infallible;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tower_compress::CompressionLayer;

type Error = Box<dyn std::error::Error + Send + Sync>;

const EVENTS: usize = 50;

/// An event that does not come until the next one is no stream. Nothing here waits that long.
const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Error> {
    for coding in ["gzip", "zstd"] {
        let (next, wait) = mpsc::channel(1);
        let wait = Arc::new(Mutex::new(Some(wait)));
        let handler = move || {
            let wait = wait.lock().ok().and_then(|mut wait| wait.take());
            async move {
                let wait = wait.ok_or(StatusCode::CONFLICT)?;
                Ok::<_, StatusCode>(Sse::new(events(wait)).keep_alive(KeepAlive::default()))
            }
        };
        // `text/event-stream` needs no exception: what pauses is flushed.
        let router = Router::new().route("/", get(handler)).layer(CompressionLayer::new());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        tokio::spawn(async { axum::serve(listener, router).await });
        tokio::time::timeout(PATIENCE, follow(&url, coding, next)).await??;
    }
    Ok(())
}

/// An event each time that the client asks for one.
fn events(wait: mpsc::Receiver<()>) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold((wait, 0), |(mut wait, number)| async move {
        wait.recv().await?;
        Some((Ok(Event::default().id(number.to_string()).data(text(number))), (wait, number + 1)))
    })
}

fn text(number: usize) -> String {
    format!("{{\"number\":{number},\"square\":{},\"what\":\"something happened\"}}", number * number)
}

/// Asks for an event when the one before has arrived and could be decoded.
async fn follow(url: &str, coding: &str, next: mpsc::Sender<()>) -> Result<(), Error> {
    next.send(()).await?;
    let mut response = reqwest::Client::new().get(url).header("accept-encoding", coding).send().await?;
    let said = response.headers().get("content-encoding").cloned();
    if said.as_ref().is_none_or(|said| said != coding) {
        return Err(format!("the coding is {said:?} instead of {coding}").into());
    }
    let mut coded = Vec::new();
    let mut plain = 0;
    let mut slowest = Duration::ZERO;
    for number in 0..EVENTS {
        let asked = Instant::now();
        let expected = format!("id: {number}\ndata: {}\n\n", text(number));
        loop {
            let decoded = decode_so_far(coding, &coded);
            if decoded.ends_with(&expected) {
                plain = decoded.len();
                break;
            }
            let chunk = response.chunk().await?.ok_or("the stream ended too early")?;
            coded.extend_from_slice(&chunk);
        }
        slowest = slowest.max(asked.elapsed());
        next.send(()).await?;
    }
    println!(
        "{coding:5} {EVENTS} events, {plain} bytes as {}, each at once; the slowest took {} us",
        coded.len(),
        slowest.as_micros()
    );
    Ok(())
}

/// What a receiver makes of the bytes that it has.
fn decode_so_far(coding: &str, coded: &[u8]) -> String {
    let mut decoder: Box<dyn Read + '_> = match coding {
        "gzip" => Box::new(flate2::bufread::GzDecoder::new(coded)),
        _ => match zstd::stream::read::Decoder::with_buffer(coded) {
            Ok(decoder) => Box::new(decoder),
            Err(_) => return String::new(),
        },
    };
    let mut decoded = Vec::new();
    let mut piece = [0; 1024];
    while let Ok(read @ 1..) = decoder.read(&mut piece) {
        decoded.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
