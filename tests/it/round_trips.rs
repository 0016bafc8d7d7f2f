//! What we send is read by others, what others send is read by us, and by ourselves: in both directions, in
//! every coding that both know, however bodies are cut and wherever they are pending.

use crate::support::corpus::json;
use crate::support::origin::Origin;
use crate::support::{Script, Step};
use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::get;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Layer, Service, ServiceExt};
use tower_compress::codec::CODECS;
use tower_compress::{
    BoxError, CompressionLayer, DecompressionLayer, RequestCompressionLayer, RequestDecompressionLayer,
};

/// The codings that tower-http and reqwest know.
const SHARED: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

fn all() -> Vec<&'static str> {
    CODECS.iter().map(|codec| codec.name()).collect()
}

#[tokio::test]
async fn a_log_that_repeats_one_line_is_no_bomb() {
    let line = b"2026-01-01T00:00:00Z INFO request handled in 12 ms by worker 7 of 16\n";
    let log = line.repeat((4 << 20) / line.len());
    for name in all() {
        let (sent, received) = (Arc::new(Mutex::new(Vec::new())), log.clone());
        let seen = Arc::clone(&sent);
        let server = RequestDecompressionLayer::new().layer(tower::service_fn(move |request: Request<_>| {
            let seen = Arc::clone(&seen);
            async move {
                let body = http_body_util::BodyExt::collect(request.into_body()).await;
                *seen.lock().unwrap() = body.map_err(|_: BoxError| ()).unwrap().to_bytes().to_vec();
                Ok::<_, BoxError>(Response::new(http_body_util::Empty::<bytes::Bytes>::new()))
            }
        }));
        let client = RequestCompressionLayer::new().br(true).snappy(true).snappy_framed(true).coding(name);
        let body = http_body_util::Full::<bytes::Bytes>::from(received.clone());
        client.layer(server).oneshot(Request::post("http://origin/").body(body).unwrap()).await.unwrap();
        assert!(*sent.lock().unwrap() == received, "{name}");
    }
}

/// A message, and how its producer cuts it.
#[derive(Debug, Clone)]
struct Message {
    length: usize,
    /// The sizes of frames, repeated, and whether the producer is pending after each.
    cuts: Vec<(usize, bool)>,
}

impl Message {
    fn bytes(&self) -> Vec<u8> {
        json(self.length)
    }

    fn body(&self) -> Script {
        let bytes = self.bytes();
        let (mut rest, mut steps) = (&bytes[..], Vec::new());
        for (size, pending) in self.cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (frame, after) = rest.split_at((*size).min(rest.len()));
            steps.push(Step::data(frame));
            // Four times in a row is a pause, after which streams are flushed.
            steps.extend((0..if *pending { 4 } else { 0 }).map(|_| Step::Yield));
            rest = after;
        }
        Script::new(steps)
    }
}

fn message() -> impl Strategy<Value = Message> {
    let size = prop_oneof![1..20_usize, 20..3000_usize, 3000..100_000_usize];
    let cuts = prop::collection::vec((size, prop::bool::weighted(0.2)), 1..12);
    let length = prop_oneof![0..3000_usize, 3000..300_000_usize];
    (length, cuts).prop_map(|(length, mut cuts)| {
        // Pauses in a body of single bytes would only take time.
        cuts.iter_mut().filter(|(size, _)| *size < 100).for_each(|(_, pending)| *pending = false);
        Message { length, cuts }
    })
}

/// The answer of a service that sends this message, as tower-http and we know it.
fn service(
    message: &Message,
) -> impl Service<Request<()>, Response = Response<Script>, Error = Infallible, Future: Send> + Clone + Send {
    let message = message.clone();
    tower::service_fn(move |_: Request<()>| std::future::ready(Ok(Response::new(message.body()))))
}

fn ask(coding: &str) -> Request<()> {
    Request::get("/").header(ACCEPT_ENCODING, coding).body(()).unwrap()
}

fn ours() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true)
}

fn our_client() -> DecompressionLayer {
    DecompressionLayer::new().br(true).snappy(true).snappy_framed(true).always_decode(true)
}

async fn collect<B>(body: B) -> Vec<u8>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    body.collect().await.map_err(Into::into).unwrap().to_bytes().to_vec()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Sends the message through a client's and a server's layer, and gives what the service read. A macro, since
/// the servers' bodies have different types.
macro_rules! upload {
    ($client:expr, $server:expr, $message:expr) => {
        run(async {
            let origin = Origin::content();
            let service = $client.layer($server.layer(origin.clone()));
            let request = Request::post("http://origin/").body($message.body()).unwrap();
            service.oneshot(request).await.unwrap();
            let seen = origin.only();
            assert!(seen.received.error.is_none(), "{:?}", seen.received.error);
            assert_eq!(seen.header("content-encoding"), None);
            seen.received.bytes()
        })
    };
}
proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn responses_of_ours_are_read_by_us(message in message(), coding in select(all())) {
        let service = our_client().layer(ours().layer(service(&message)));
        let read = run(async { collect(service.oneshot(ask(coding)).await.unwrap().into_body()).await });
        prop_assert!(read == message.bytes());
    }

    #[test]
    fn responses_of_ours_are_read_by_tower_http(message in message(), coding in select(&SHARED)) {
        let service = tower_http::decompression::DecompressionLayer::new().layer(ours().layer(service(&message)));
        let read = run(async { collect(service.oneshot(ask(coding)).await.unwrap().into_body()).await });
        prop_assert!(read == message.bytes());
    }

    #[test]
    fn responses_of_tower_http_are_read_by_us(message in message(), coding in select(&SHARED)) {
        let theirs = tower_http::compression::CompressionLayer::new();
        let service = our_client().layer(theirs.layer(service(&message)));
        let read = run(async {
            let response = service.oneshot(ask(coding)).await.unwrap();
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            collect(response.into_body()).await
        });
        prop_assert!(read == message.bytes());
    }

    #[test]
    fn requests_of_ours_are_read_by_us(message in message(), coding in select(all())) {
        let client = RequestCompressionLayer::new().coding(coding);
        let server = RequestDecompressionLayer::new().br(true).snappy(true).snappy_framed(true);
        prop_assert!(upload!(client, server, message) == message.bytes());
    }

    #[test]
    fn requests_of_ours_are_read_by_tower_http(message in message(), coding in select(&SHARED)) {
        let client = RequestCompressionLayer::new().coding(coding);
        let server = tower_http::decompression::RequestDecompressionLayer::new();
        prop_assert!(upload!(client, server, message) == message.bytes());
    }

    #[test]
    fn requests_of_others_are_read_by_us(message in message(), coding in select(&SHARED)) {
        // tower-http codes responses alone, so one of its is sent on as a request.
        let theirs = tower_http::compression::CompressionLayer::new().layer(service(&message));
        let read = run(async {
            let (parts, body) = theirs.oneshot(ask(coding)).await.unwrap().into_parts();
            let origin = Origin::content();
            let mut request = Request::new(body);
            *request.headers_mut() = parts.headers;
            let server = RequestDecompressionLayer::new().br(true);
            server.layer(origin.clone()).oneshot(request).await.unwrap();
            origin.only().received.bytes()
        });
        prop_assert!(read == message.bytes());
    }
}

/// reqwest has no parts to test by themselves, so these go over a connection: one server for all cases, which
/// answers with the message at hand.
#[test]
fn responses_of_ours_are_read_by_reqwest() {
    run(async {
        let at_hand = Arc::new(Mutex::new(None::<Message>));
        let handler = {
            let at_hand = Arc::clone(&at_hand);
            get(move || {
                let body = at_hand.lock().unwrap().as_ref().unwrap().body();
                std::future::ready(AxumBody::new(body.map_err(BoxError::from)))
            })
        };
        let router = Router::new().route("/", handler).layer(ours());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await });

        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for round in 0..60 {
            let coding = SHARED[round % SHARED.len()];
            let message = message().new_tree(&mut runner).unwrap().current();
            *at_hand.lock().unwrap() = Some(message.clone());
            // Asks for one coding alone, and decodes it.
            let client = reqwest12::Client::builder()
                .gzip(coding == "gzip")
                .deflate(coding == "deflate")
                .brotli(coding == "br")
                .zstd(coding == "zstd")
                .build()
                .unwrap();
            let read = client.get(&uri).send().await.unwrap().bytes().await.unwrap();
            assert!(read == message.bytes(), "{coding} {message:?}");
        }
        server.abort();
    });
}
