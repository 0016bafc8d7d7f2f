//! Clients that go away, and clients that do not read.

use crate::conformance::Source::Interop;
use crate::conformance::app::App;
use crate::conformance::exchange::connect;
use crate::conformance::layers::{OurLayer, Setup, Subject, stack};
use crate::conformance::reply::{Kind, Reply, Step};
use crate::conformance::{Item, Outcome, item};
use crate::support::corpus::{json, noise};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tower_compress::EncoderPool;

group! {
    item_082_the_client_goes_away,
    item_083_a_slow_reader,
}

/// Waits until the server has noticed, which it does while others run.
async fn until(holds: impl Fn() -> bool) -> bool {
    for _ in 0..100_000 {
        if holds() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

fn outcome(holds: bool, otherwise: String) -> Outcome {
    if holds { Outcome::Holds } else { Outcome::Misses(otherwise) }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn item_082_the_client_goes_away() -> Item {
    let special = |subject| match subject {
        Subject::Ours => block_on(gone()),
        Subject::Theirs => Outcome::NotOffered,
    };
    item("82", Interop, "", "the client goes away: the encoder is back in the pool").special(special)
}

async fn gone() -> Outcome {
    let pool = EncoderPool::new();
    let layer = OurLayer::new().pool(pool.clone());
    for coding in ["gzip", "zstd"] {
        let reply = Reply::of([Step::Data(json(200_000).into()), Step::Until(usize::MAX)]);
        let Ok((stream, _)) = connect(stack(layer.clone(), App::new(reply))).await else {
            return Outcome::Misses("no connection".to_owned());
        };
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
        let connection = tokio::spawn(connection);
        let request = Request::get("/").header("accept-encoding", coding).body(Empty::<Bytes>::new());
        let mut response = sender.send_request(request.expect("a request")).await.expect("a response");
        let first = response.body_mut().frame().await;
        let used = pool.stats();
        connection.abort();
        drop((response, sender, first));
        // The body is dropped with the connection: its context is idle again.
        let expected = if coding == "gzip" { 1 } else { 2 };
        if !until(|| pool.stats().idle == expected).await {
            return Outcome::Misses(format!("{coding}: {used:?} became {:?}", pool.stats()));
        }
    }
    Outcome::Holds
}

fn item_083_a_slow_reader() -> Item {
    let special = |subject| block_on(slow(subject));
    item("83", Interop, "", "a reader that stops: the handler is not drained").special(special)
}

/// Window of the client, look-ahead, batch and chunks, and the connection's own buffers.
const BOUND: usize = 1024 * 1024;

async fn slow(subject: Subject) -> Outcome {
    const FRAME: usize = 16 * 1024;
    // No frame like another, or gzip would make them small.
    let app = App::new(Reply::cut(&noise(512 * FRAME), FRAME).kind(Kind::FileServer));
    let progress = app.progress.clone();
    let (stream, _) = connect(Setup::default().service(subject, app)).await.expect("a connection");
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(65_535).initial_connection_window_size(65_535);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    let request = |method: &str| {
        let request =
            Request::builder().method(method).uri("http://localhost/").header("accept-encoding", "gzip");
        request.body(Empty::<Bytes>::new()).expect("a request")
    };
    let response = sender.send_request(request("GET")).await.expect("a response");
    let mut pulled = progress.pulled.load(std::sync::atomic::Ordering::SeqCst);
    // Heads go back and forth until the server has come to rest.
    for _ in 0..10 {
        let _ = sender.send_request(request("HEAD")).await;
        pulled = progress.pulled.load(std::sync::atomic::Ordering::SeqCst).max(pulled);
    }
    drop(response);
    outcome(pulled * FRAME <= BOUND, format!("{} bytes were taken from the handler", pulled * FRAME))
}
