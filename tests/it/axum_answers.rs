//! What axum's users get: an extractor for what was negotiated, and answers encoded for it.

use crate::support::corpus::json;
use crate::support::counting::Counting;
use crate::support::decode::{decode, decode_prefix};
use crate::support::serve::{Received, coding};
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::stream;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use http::{HeaderValue, StatusCode, Version};
use http_body_util::BodyExt;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tower::ServiceExt;
use tower_compress::axum::{BlockingWriter, CodingConfig, ContentCoding, Csv, Json, JsonLines};
use tower_compress::{CompressionLayer, EncoderPool};

#[derive(Debug, Clone, Serialize)]
struct Order {
    id: u32,
    name: &'static str,
}

fn orders(count: u32) -> Vec<Order> {
    (0..count).map(|id| Order { id, name: "a name, with a comma" }).collect()
}

/// A value that cannot be serialized.
struct Broken;

impl Serialize for Broken {
    fn serialize<S: serde::Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("a map with keys that are no strings"))
    }
}

fn request(accept: &str) -> Request {
    Request::get("/").header(ACCEPT_ENCODING, accept).body(axum::body::Body::empty()).unwrap()
}

async fn ask(router: &Router, request: Request) -> Response {
    router.clone().oneshot(request).await.unwrap()
}

async fn receive(response: Response) -> Received {
    let mut body = response.into_body();
    let mut received = Received::default();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => received.frames.push(frame.into_data().unwrap()),
            Err(error) => {
                received.error = Some(error.into());
                break;
            }
        }
    }
    received
}

/// Whether a response says that it was negotiated.
fn varies(response: &Response) -> bool {
    response
        .headers()
        .get_all(VARY)
        .iter()
        .any(|value| value.as_bytes().eq_ignore_ascii_case(b"accept-encoding"))
}

fn length(response: &Response) -> Option<usize> {
    response.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn router<H, T>(handler: H) -> Router
where
    H: axum::handler::Handler<T, ()>,
    T: 'static,
{
    Router::new().route("/", get(handler))
}

#[tokio::test]
async fn json_has_an_exact_length_and_is_the_same_as_axums() {
    for count in [1, 100, 10_000] {
        let router = router(move |coding: ContentCoding| coding.encode(Json(orders(count))));
        let plain = serde_json::to_vec(&orders(count)).unwrap();
        for name in ["gzip", "zstd", "identity"] {
            let response = ask(&router, request(name)).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
            assert!(varies(&response), "{name} {count}");
            let expected = if count == 1 { "identity" } else { name };
            assert_eq!(coding(&response), expected, "{count}");
            let said = length(&response).expect("a length");
            let received = receive(response).await;
            assert_eq!(received.bytes().len(), said);
            assert!(received.decoded(expected) == plain, "{name} {count}");
        }
    }
}

#[tokio::test]
async fn json_in_memory_is_few_calls_from_the_layers_pool() {
    let counting = Counting::new("gzip");
    let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
    let config = CodingConfig::new().layer(layer.clone());
    let router = router(|coding: ContentCoding| coding.encode(Json(orders(10_000)))).layer(Extension(config));
    for _ in 0..3 {
        let response = ask(&router, request("gzip")).await;
        assert!(receive(response).await.decoded("gzip") == serde_json::to_vec(&orders(10_000)).unwrap());
    }
    assert_eq!(counting.built(), 1);
    let stats = layer.stats();
    assert_eq!((stats.coded, stats.encoder_calls), (3, counting.calls().len() as u64));
    assert!(stats.writes_per_call() > 1000.0);
    assert!(counting.calls().iter().all(|call| call.bytes <= 16 * 1024));
}

#[tokio::test]
async fn a_serializers_error_before_the_first_byte_is_a_500() {
    let first = || stream::iter([Err("the database is away"), Ok(1)]);
    let broken = || stream::iter([Ok(()), Err("the database is away")]);
    let routers = [
        router(|coding: ContentCoding| coding.encode(Json(Broken))),
        router(|coding: ContentCoding| coding.encode(JsonLines::iter([Broken]))),
        router(move |coding: ContentCoding| coding.encode(JsonLines::new(first()))),
        router(move |coding: ContentCoding| coding.encode(JsonLines::new(broken()))),
        router(|coding: ContentCoding| coding.encode(Csv::iter([Broken]))),
        router(move |coding: ContentCoding| coding.encode(Csv::new(first()))),
        router(|coding: ContentCoding| {
            coding.encode(BlockingWriter::new(|writer| {
                writer.write_all(b"half")?;
                Err(io::Error::other("the database is away"))
            }))
        }),
        router(|coding: ContentCoding| {
            coding.encode(BlockingWriter::new(|_| -> io::Result<()> { panic!("on purpose") }))
        }),
    ];
    for (index, plain) in routers.into_iter().enumerate() {
        for router in [plain.clone(), plain.layer(CompressionLayer::new())] {
            let response = ask(&router, request("gzip")).await;
            assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{index}");
            assert_eq!(response.headers()[CONTENT_TYPE], "text/plain; charset=utf-8");
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            assert!(varies(&response));
            let received = receive(response).await;
            assert!(received.error.is_none() && !received.bytes().is_empty());
        }
    }
}

#[tokio::test]
async fn an_error_after_the_first_byte_aborts_the_body() {
    let rows = || stream::iter((0..100_000).map(Ok).chain([Err("the database went away")]));
    let routers = [
        router(move |coding: ContentCoding| coding.encode(JsonLines::new(rows()))),
        router(move |coding: ContentCoding| coding.encode(Csv::new(rows()))),
        router(|coding: ContentCoding| {
            coding.encode(BlockingWriter::new(|writer| {
                // More than any buffer holds. A flush that no reader waits for yet would not do: it collapses.
                writer.write_all(&json(1_000_000))?;
                Err(io::Error::other("the database went away"))
            }))
        }),
    ];
    for plain in routers {
        for router in [plain.clone(), plain.layer(CompressionLayer::new())] {
            for name in ["gzip", "identity"] {
                let response = ask(&router, request(name)).await;
                assert_eq!((response.status(), coding(&response)), (StatusCode::OK, name));
                let received = receive(response).await;
                let error = received.error.as_ref().expect("an error").to_string();
                assert_eq!(error, "the database went away");
                assert!(name == "identity" || decode(name, &received.bytes()).is_err(), "a valid end");
            }
        }
    }
}

#[tokio::test]
async fn rows_are_lines_of_json_or_of_csv() {
    let lines = router(|coding: ContentCoding| coding.encode(JsonLines::iter(orders(5000))));
    let table = router(|coding: ContentCoding| coding.encode(Csv::iter(orders(5000))));
    let mut expected_lines = Vec::new();
    let mut expected_table = csv::Writer::from_writer(Vec::new());
    for order in orders(5000) {
        serde_json::to_writer(&mut expected_lines, &order).unwrap();
        expected_lines.push(b'\n');
        expected_table.serialize(&order).unwrap();
    }
    let expected_table = expected_table.into_inner().unwrap();
    assert!(expected_table.starts_with(b"id,name\n0,\"a name, with a comma\"\n"));
    for (plain, content_type, expected) in
        [(lines, "application/x-ndjson", expected_lines), (table, "text/csv; charset=utf-8", expected_table)]
    {
        for router in [plain.clone(), plain.layer(CompressionLayer::new())] {
            for name in ["gzip", "zstd", "identity"] {
                let response = ask(&router, request(name)).await;
                assert_eq!(response.headers()[CONTENT_TYPE], content_type);
                assert_eq!(coding(&response), name);
                assert!(varies(&response));
                assert!(receive(response).await.decoded(name) == expected);
            }
        }
    }
}

#[tokio::test]
async fn a_few_rows_are_a_whole_body() {
    for count in [0, 1, 100] {
        let router = router(move |coding: ContentCoding| coding.encode(JsonLines::iter(orders(count))));
        let response = ask(&router, request("gzip")).await;
        assert_eq!(coding(&response), if count == 100 { "gzip" } else { "identity" });
        assert!(length(&response).is_some(), "{count}");
    }
}

#[tokio::test]
async fn rows_leave_as_they_come() {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<Result<u32, io::Error>>();
    let receiver = Arc::new(Mutex::new(Some(receiver)));
    let router = router(move |coding: ContentCoding| {
        let mut receiver = receiver.lock().unwrap().take().unwrap();
        coding.encode(JsonLines::new(stream::poll_fn(move |cx| receiver.poll_recv(cx))))
    });
    let padded = |row: u32| row + 1_000_000;
    sender.send(Ok(padded(0))).unwrap();
    let response = ask(&router, request("gzip")).await;
    assert_eq!(coding(&response), "gzip");
    let mut body = response.into_body();
    let mut got = Vec::new();
    let mut expected = Vec::new();
    for row in 0..20 {
        if row > 0 {
            sender.send(Ok(padded(row))).unwrap();
        }
        writeln!(expected, "{}", padded(row)).unwrap();
        while decode_prefix("gzip", &got) != expected {
            got.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
        }
    }
    drop(sender);
    got.extend_from_slice(&body.collect().await.unwrap().to_bytes());
    assert_eq!(decode("gzip", &got).unwrap(), expected);
}

#[tokio::test]
async fn a_closure_writes_and_its_flushes_are_honoured() {
    // Alone and inside a layer that would flush only at the end.
    let alone = CompressionLayer::new();
    let outer = CompressionLayer::new().flush(tower_compress::FlushPolicy::End);
    for layered in [false, true] {
        let (go, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(Some(wait)));
        let mut router = router(move |coding: ContentCoding| {
            let wait = wait.lock().unwrap().take().unwrap();
            assert_eq!(coding.name(), if layered { None } else { Some("gzip") });
            let write = BlockingWriter::new(move |writer| -> io::Result<()> {
                for event in 0..10 {
                    writeln!(writer, "event {event}")?;
                    writer.flush()?;
                    let _ = wait.recv();
                }
                Ok(())
            });
            coding.with([(CONTENT_TYPE, "text/plain")]).encode(write)
        })
        .layer(Extension(CodingConfig::new().layer(alone.clone())));
        if layered {
            router = router.layer(outer.clone());
        }
        let response = ask(&router, request("gzip")).await;
        assert_eq!(coding(&response), "gzip");
        assert_eq!(response.headers()[CONTENT_TYPE], "text/plain");
        assert_eq!(length(&response), None);
        let mut body = response.into_body();
        let mut got = Vec::new();
        for event in 0..10 {
            let last = format!("event {event}\n");
            while !decode_prefix("gzip", &got).ends_with(last.as_bytes()) {
                got.extend_from_slice(&body.frame().await.unwrap().unwrap().into_data().unwrap());
            }
            go.send(()).unwrap();
        }
        got.extend_from_slice(&body.collect().await.unwrap().to_bytes());
        assert_eq!(decode("gzip", &got).unwrap().len(), 80);
    }
}

#[tokio::test]
async fn what_a_closure_writes_at_once_is_a_whole_body() {
    for (size, name) in [(10, "identity"), (5000, "gzip")] {
        let router = router(move |coding: ContentCoding| {
            coding.encode(BlockingWriter::new(move |writer| writer.write_all(&json(size))))
        });
        let response = ask(&router, request("gzip")).await;
        assert_eq!(coding(&response), name);
        assert!(length(&response).is_some() && varies(&response));
        assert_eq!(receive(response).await.decoded(name), json(size));
    }
}

#[tokio::test]
async fn no_transform_is_obeyed_on_either_side() {
    let transform = |coding: ContentCoding| coding.encode(Json(orders(1000)));
    let refuse =
        |coding: ContentCoding| coding.with([(CACHE_CONTROL, "no-transform")]).encode(Json(orders(1000)));
    let closure = |coding: ContentCoding| {
        let write = BlockingWriter::new(|writer| writer.write_all(&json(500_000)));
        coding.with([(CACHE_CONTROL, "no-transform")]).encode(write)
    };
    let lines = |coding: ContentCoding| {
        coding.with([(CACHE_CONTROL, "no-transform")]).encode(JsonLines::iter(orders(1000)))
    };
    for router in [router(refuse), router(closure), router(lines)] {
        assert_eq!(coding(&ask(&router, request("gzip")).await), "identity");
    }
    let mut asked = request("gzip");
    asked.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-transform"));
    assert_eq!(coding(&ask(&router(transform), asked).await), "identity");
}

#[tokio::test]
async fn entity_tags_are_marked_and_mapped_back() {
    let handler = |coding: ContentCoding, headers: http::HeaderMap| {
        let fresh = headers.get(IF_NONE_MATCH).is_some_and(|tag| tag == "\"v1\"");
        let status = if fresh { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        coding.with((status, [(ETAG, "\"v1\"")])).encode(Json(orders(1000)))
    };
    let router = router(handler);
    let first = ask(&router, request("gzip")).await;
    assert_eq!(first.headers()[ETAG], "\"v1~gzip\"");
    let mut again = request("gzip");
    again.headers_mut().insert(IF_NONE_MATCH, first.headers()[ETAG].clone());
    let again = ask(&router, again).await;
    assert_eq!((again.status(), &again.headers()[ETAG]), (StatusCode::NOT_MODIFIED, &first.headers()[ETAG]));
}

#[tokio::test]
async fn http_1_0_gets_a_stream_uncoded_and_a_whole_body_coded() {
    let lines = router(|coding: ContentCoding| coding.encode(JsonLines::iter(orders(50_000))));
    let closure = router(|coding: ContentCoding| {
        coding.encode(BlockingWriter::new(|writer| writer.write_all(&json(500_000))))
    });
    let whole = router(|coding: ContentCoding| coding.encode(Json(orders(50_000))));
    for (router, expected) in [(lines, "identity"), (closure, "identity"), (whole, "gzip")] {
        let mut old = request("gzip");
        *old.version_mut() = Version::HTTP_10;
        let response = ask(&router, old).await;
        assert_eq!(coding(&response), expected);
        assert!(receive(response).await.error.is_none());
    }
}

#[tokio::test]
async fn head_has_the_head_of_get() {
    let router = router(|coding: ContentCoding| coding.encode(Json(orders(1000))));
    let got = ask(&router, request("gzip")).await;
    let mut head = request("gzip");
    *head.method_mut() = http::Method::HEAD;
    let head = ask(&router, head).await;
    for name in [CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY] {
        assert_eq!(head.headers().get(&name), got.headers().get(&name), "{name}");
    }
    assert!(receive(head).await.frames.is_empty());
}

#[tokio::test]
async fn a_strict_layer_refuses_before_the_handler_runs() {
    let config = CodingConfig::new().layer(CompressionLayer::new().strict(true));
    let router = router(|coding: ContentCoding| coding.encode(Json(1))).layer(Extension(config));
    let response = ask(&router, request("identity;q=0, br")).await;
    assert_eq!(response.status(), StatusCode::NOT_ACCEPTABLE);
}

/// A body of which one frame was read, so that its closure is known to be at work.
async fn begin(router: &Router) -> axum::body::Body {
    let response = ask(router, request("gzip")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let first: Bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(!first.is_empty());
    body
}

#[tokio::test]
async fn closures_are_capped_and_a_client_that_goes_away_frees_its_place() {
    let (ended, ends) = mpsc::channel();
    let config = CodingConfig::new().max_blocking(2).deadline(Duration::from_secs(3600)).capacity(1);
    let impatient = config.clone().deadline(Duration::from_millis(1));
    let endless = router(move |coding: ContentCoding| {
        let ended = ended.clone();
        coding.encode(BlockingWriter::new(move |writer| {
            let result = loop {
                if let Err(error) = writer.write_all(&json(100_000)) {
                    break error;
                }
            };
            ended.send(result.kind()).unwrap();
            Err(result)
        }))
    });
    let patient = endless.clone().layer(Extension(config));
    let impatient = endless.layer(Extension(impatient));
    // Both places are taken by readers that do not read on.
    let (one, two) = (begin(&patient).await, begin(&patient).await);
    let refused = ask(&impatient, request("gzip")).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    drop(one);
    let three = begin(&patient).await;
    drop((two, three));
    let kinds = tokio::task::spawn_blocking(move || ends.iter().take(3).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(kinds, [ErrorKind::BrokenPipe; 3]);
}

#[tokio::test]
async fn a_reader_that_stalls_loses_its_closure() {
    let config = CodingConfig::new().deadline(Duration::from_millis(1)).capacity(1);
    let (ended, ends) = mpsc::channel();
    let router = router(move |coding: ContentCoding| {
        let ended = ended.clone();
        coding.encode(BlockingWriter::new(move |writer| {
            let result = (0..1000).try_for_each(|_| writer.write_all(&json(100_000)));
            ended.send(result.as_ref().unwrap_err().kind()).unwrap();
            result
        }))
    })
    .layer(Extension(config));
    let response = ask(&router, request("gzip")).await;
    let kind = tokio::task::spawn_blocking(move || ends.recv().unwrap()).await.unwrap();
    assert_eq!(kind, ErrorKind::TimedOut);
    assert!(receive(response).await.error.is_some());
}

#[tokio::test]
async fn many_clients_that_go_away_leave_nothing_behind() {
    let pool = EncoderPool::new();
    let config = CodingConfig::new().layer(CompressionLayer::new().pool(pool.clone())).max_blocking(4);
    let router = router(|coding: ContentCoding| {
        coding.encode(BlockingWriter::new(
            |writer| loop {
                writer.write_all(&json(100_000))?;
            } as io::Result<()>,
        ))
    })
    .layer(Extension(config));
    for round in 0..20 {
        let mut body = ask(&router, request("gzip")).await.into_body();
        for _ in 0..round % 3 {
            body.frame().await.unwrap().unwrap();
        }
    }
    // A place was free each time, so every closure has ended or is about to; the last ones give their encoders
    // back when they do.
    let all = tokio::task::spawn_blocking(move || {
        while pool.stats().idle as u64 != pool.stats().misses {
            std::thread::yield_now();
        }
    });
    all.await.unwrap();
}
