//! The server: four handlers that know nothing of compression, and one layer.

use crate::meter;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Json, Response};
use axum::routing::get;
use axum::{Router, serve};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::interval;
use tokio_stream::wrappers::IntervalStream;
use tower_compress::{CompressionLayer, Reason, Stats};

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Demo(Arc<Shared>);

struct Shared {
    address: SocketAddr,
    packages: Vec<Value>,
    layer: CompressionLayer,
    /// Pieces that handlers have written: a body, a frame, an event.
    pieces: AtomicU64,
    /// The counters as `/stats` said them last.
    said: Mutex<String>,
}

impl Demo {
    pub(crate) fn new(packages: Vec<Value>, address: SocketAddr) -> Self {
        let (pieces, said) = Default::default();
        Self(Arc::new(Shared { address, packages, layer: meter::layer(), pieces, said }))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub(crate) fn packages(&self) -> &[Value] {
        &self.0.packages
    }

    /// Pieces that handlers have written so far.
    pub(crate) fn pieces(&self) -> u64 {
        self.0.pieces.load(Ordering::Relaxed)
    }

    /// What `/stats` said last.
    pub(crate) fn said(&self) -> String {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text of `/`.
    pub(crate) fn page(&self) -> String {
        include_str!("page.html").replace("ADDRESS", &self.0.address.to_string())
    }

    pub(crate) async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let layer = self.0.layer.clone();
        let app = Router::new()
            .route("/", get(page))
            .route("/packages.json", get(document))
            .route("/packages.ndjson", get(lines))
            .route("/events", get(events))
            .route("/stats", get(stats))
            .layer(layer)
            .with_state(self);
        serve(listener, app).await
    }

    fn count(&self) {
        self.0.pieces.fetch_add(1, Ordering::Relaxed);
    }
}

async fn page(State(demo): State<Demo>) -> Html<String> {
    demo.count();
    Html(demo.page())
}

/// One document, which axum hands over as one piece.
async fn document(State(demo): State<Demo>) -> Response {
    demo.count();
    Json(demo.packages()).into_response()
}

/// A stream of lines, each in the pieces that the serializer writes it in.
async fn lines(State(demo): State<Demo>) -> Response {
    let pieces = (0..demo.packages().len())
        .flat_map({
            let demo = demo.clone();
            move |index| line(&demo.packages()[index])
        })
        .inspect(move |_| demo.count());
    let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)));
    ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

fn line(package: &Value) -> Vec<Bytes> {
    let mut pieces = Pieces::default();
    serde_json::to_writer(&mut pieces, package).expect("values are JSON and vectors take all");
    pieces.0.push(Bytes::from_static(b"\n"));
    pieces.0
}

/// Keeps every write as a piece of its own.
#[derive(Default)]
struct Pieces(Vec<Bytes>);

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.push(Bytes::copy_from_slice(piece));
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Deserialize)]
struct Events {
    n: Option<usize>,
}

async fn events(
    State(demo): State<Demo>,
    Query(events): Query<Events>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let ticks = IntervalStream::new(interval(Duration::from_millis(100)));
    let events = ticks.take(events.n.unwrap_or(10)).enumerate().map(move |(index, _)| {
        demo.count();
        let package = &demo.packages()[index % demo.packages().len()];
        Ok(Event::default().data(package.to_string()))
    });
    Sse::new(events)
}

async fn stats(State(demo): State<Demo>) -> impl IntoResponse {
    demo.count();
    let text = tell(&demo.0.layer.stats());
    demo.0.said.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&text);
    ([(CONTENT_TYPE, "application/json")], text)
}

fn tell(stats: &Stats) -> String {
    let passed: serde_json::Map<String, Value> =
        Reason::ALL.iter().map(|reason| (reason.as_str().to_owned(), stats.passed(*reason).into())).collect();
    let pool = stats.pool;
    let told = json!({
        "coded": stats.coded,
        "coded_whole": stats.coded_whole,
        "bytes_in": stats.bytes_in,
        "bytes_out": stats.bytes_out,
        "writes": stats.writes,
        "encoder_calls": stats.encoder_calls,
        "writes_per_call": stats.writes_per_call(),
        "flushes": stats.flushes,
        "resumed": stats.resumed,
        "passed": passed,
        "pool": {
            "hits": pool.hits,
            "misses": pool.misses,
            "reclaimed": pool.reclaimed,
            "transient": pool.transient,
            "idle": pool.idle,
            "memory": pool.memory,
        },
    });
    format!("{told:#}\n")
}
