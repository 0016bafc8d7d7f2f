//! Streams: what leaves when, how bodies end, and how they fail.

use crate::conformance::Source::{Interop, Must, Policy};
use crate::conformance::app::{App, Kind, Reply, Step};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, coded, decodes, fails, frames, no_field, that, trailers};
use crate::conformance::exchange::{Protocol, connect};
use crate::conformance::layers::{OurLayer, Setup, Stack, Subject, stack};
use crate::conformance::{Item, Outcome, item};
use crate::support::corpus::{json, noise};
use crate::support::failing::FAILING;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tower_compress::EncoderPool;

group! {
    item_071_an_event_leaves_before_the_next,
    item_071a_so_does_every_other_type,
    item_073_pauses_without_data,
    item_074_a_pause_before_the_minimum,
    item_075_every_flush_is_a_decodable_prefix,
    item_076_the_cuts_do_not_matter,
    item_077_no_flush_without_a_pause,
    item_078_trailers,
    item_079_fields_in_trailers,
    item_080_an_error_of_the_handlers_body,
    item_081_an_error_of_the_encoder,
    item_082_the_client_goes_away,
    item_083_a_slow_reader,
    item_084_sizes,
    item_085_layers_twice,
}

const STREAMING: [&str; 4] = ["gzip", "zstd", "deflate", "br"];

const ALL: &[&str] = &["zstd", "br", "gzip", "deflate"];

/// Events, each of which the client must decode before the next one comes.
fn events(count: usize) -> Reply {
    let mut steps = Vec::new();
    let mut sent = 0;
    for number in 0..count {
        let event = format!("data: {{\"number\":{number},\"of\":\"an event stream\"}}\n\n");
        sent += event.len();
        steps.extend([Step::Data(event.into()), Step::Until(sent)]);
    }
    Reply::of(steps)
}

fn item_071_an_event_leaves_before_the_next() -> Item {
    let case = |coding| get(coding).offering(ALL).reply(events(5).content_type("text/event-stream"));
    item(
        "71",
        Interop,
        "",
        "server-sent events: each is decodable before the next, every coding",
        STREAMING.map(|coding| case(coding).expect([decodes()])),
    )
}

fn item_071a_so_does_every_other_type() -> Item {
    let case = |coding, content_type: &str| {
        let steps =
            [Step::Data(json(300).into()), Step::Until(300), Step::Data(json(100).into()), Step::Until(400)];
        get(coding).offering(ALL).reply(Reply::of(steps).content_type(content_type)).expect([coded(coding)])
    };
    item(
        "71a",
        Interop,
        "",
        "so is the first part of every other slow body, coded",
        [
            case("gzip", "text/html"),
            case("zstd", "application/x-ndjson"),
            case("deflate", "multipart/mixed; boundary=x"),
            case("br", "application/json"),
        ],
    )
}

fn item_073_pauses_without_data() -> Item {
    let mut steps = vec![Step::Data(json(300).into()), Step::Until(300)];
    steps.extend(vec![Step::Yield; 20]);
    steps.extend([Step::Data(json(300).into()), Step::Until(600)]);
    item(
        "73",
        Interop,
        "",
        "pauses without new data put nothing out",
        STREAMING.map(|coding| {
            let case = get(coding).offering(ALL).over(&[Protocol::H2]).reply(Reply::of(steps.clone()));
            // Two flushed parts, the coding's header if it goes alone, and its end.
            case.expect([coded(coding), that("at most four frames", |answer| answer.frames.len() <= 4)])
        }),
    )
}

fn item_074_a_pause_before_the_minimum() -> Item {
    let steps = || [Step::Data(json(10).into()), Step::Until(10), Step::Data(json(2000).into())];
    item(
        "74",
        Interop,
        "8.4",
        "a pause below the minimum decides: head and bytes agree",
        [
            get("gzip").reply(Reply::of(steps())).expect([decodes()]),
            get("zstd").reply(Reply::of(steps())).expect([decodes()]),
            get("gzip").reply(Reply::of([Step::Data(json(10).into()), Step::Until(10)])).expect([decodes()]),
        ],
    )
}

fn item_075_every_flush_is_a_decodable_prefix() -> Item {
    let case = |coding| get(coding).reply(events(50)).expect([coded(coding)]);
    item(
        "75",
        Interop,
        "",
        "after each of 50 pauses all that came is decodable",
        [case("gzip"), case("zstd"), case("x-snappy-framed").offering(&["x-snappy-framed"])],
    )
}

/// Within 1 % of the size that the answer before had.
fn same_size() -> Check {
    that("a size within 1 %", |answer| {
        let (now, before) =
            (answer.bytes().len(), answer.before.as_ref().expect("an answer before").bytes().len());
        now.abs_diff(before) * 100 <= before
    })
}

fn item_076_the_cuts_do_not_matter() -> Item {
    let text = json(300_000);
    let case = |coding, cut| {
        get(coding)
            .reply(Reply::cut(&text, 300_000))
            .then_reply(Reply::cut(&text, cut))
            .expect([coded(coding), same_size()])
    };
    item(
        "76",
        Interop,
        "",
        "the same bytes in other chunks: the same size within 1 %",
        [case("gzip", 7), case("gzip", 5000), case("zstd", 7), case("zstd", 5000)],
    )
}

fn item_077_no_flush_without_a_pause() -> Item {
    let no_marker = that("no sync marker", |answer| {
        let bytes = answer.bytes();
        !bytes[..bytes.len() - 8].windows(4).any(|window| window == [0, 0, 0xff, 0xff])
    });
    item(
        "77",
        Policy,
        "",
        "a body that is ready: no sync marker inside gzip",
        [get("gzip").reply(Reply::cut(&json(300_000), 300)).expect([coded("gzip"), no_marker])],
    )
}

fn item_078_trailers() -> Item {
    let ok = || Step::Trailers(vec![("grpc-status", "0"), ("x-a", "b")]);
    let data = |bytes| Step::Data(json(bytes).into());
    let case = |content_type: &str, steps: Vec<Step>| {
        get("gzip")
            .over(&[Protocol::H2])
            .reply(Reply::of(steps).content_type(content_type))
            .expect([decodes(), trailers(&[("grpc-status", "0"), ("x-a", "b")])])
    };
    item(
        "78",
        Must,
        "6.5",
        "trailers come after the end of the coding",
        [
            case("text/plain", vec![data(5000), data(5000), ok()]),
            case("application/grpc-web+proto", vec![data(5000), data(5000), ok()]),
            case("text/plain", vec![data(200_000), ok()]),
            case("text/plain", vec![data(5), Step::Yield, ok()]),
            case("text/plain", vec![data(5), ok()]),
            case("text/plain", vec![Step::Yield, ok()]),
        ],
    )
}

fn item_079_fields_in_trailers() -> Item {
    let fields = || Step::Trailers(vec![("etag", "\"x\""), ("repr-digest", "sha-256=:a:"), ("x-a", "b")]);
    let case = |size| {
        get("gzip").over(&[Protocol::H2]).reply(Reply::of([Step::Data(json(size).into()), fields()])).expect(
            [
                coded("gzip"),
                that("x-a, but neither the digest nor the strong tag", |answer| {
                    answer.trailers.as_ref().is_some_and(|trailers| {
                        trailers.contains_key("x-a")
                            && !trailers.contains_key("repr-digest")
                            && trailers.get("etag").is_none_or(|tag| tag != "\"x\"")
                    })
                }),
            ],
        )
    };
    item(
        "79",
        Interop,
        "6.5",
        "a tag or digest in trailers is treated as in the head",
        [case(5000), case(200_000)],
    )
}

fn item_080_an_error_of_the_handlers_body() -> Item {
    let data = || Step::Data(json(5000).into());
    let case = |coding, steps: Vec<Step>| get(coding).offering(ALL).reply(Reply::of(steps)).expect([fails()]);
    item(
        "80",
        Must,
        "RFC 9112 8",
        "an error in the body: no valid end, the exchange breaks off",
        [
            case("gzip", vec![data(), Step::Yield, data(), Step::Error]),
            case("zstd", vec![data(), Step::Yield, data(), Step::Error]),
            case("deflate", vec![data(), Step::Until(5000), data(), Step::Error]),
            case("br", vec![data(), Step::Until(5000), data(), Step::Error]),
            case("gzip", vec![Step::Data(json(200_000).into()), Step::Error]),
            case("gzip", vec![data(), Step::Error]),
            case("gzip", vec![Step::Error]),
        ],
    )
}

/// With an encoder that fails after 100,000 bytes.
fn broken(layer: OurLayer, app: App) -> Stack {
    stack(layer.codec(&FAILING), app)
}

fn item_081_an_error_of_the_encoder() -> Item {
    item(
        "81",
        Must,
        "RFC 9112 8",
        "an error of the encoder: the same",
        [get("gzip").reply(Reply::text(json(300_000))).only_ours().ours(broken).expect([fails()])],
    )
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
    Item {
        special: Some(special),
        ..item("82", Interop, "", "the client goes away: the encoder is back in the pool", [])
    }
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
    Item {
        special: Some(special),
        ..item("83", Interop, "", "a reader that stops: the handler is not drained", [])
    }
}

/// Window of the client, look-ahead, batch and chunks, and the connection's own buffers.
const BOUND: usize = 1024 * 1024;

async fn slow(subject: Subject) -> Outcome {
    const FRAME: usize = 16 * 1024;
    let frame = Bytes::from(noise(FRAME));
    let app = App::new(Reply::of(vec![Step::Data(frame); 1024]).kind(Kind::FileServer));
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

fn item_084_sizes() -> Item {
    let mut cases: Vec<Case> = Vec::new();
    for coding in STREAMING {
        for size in [0, 1, 1023, 1024, 1025, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073] {
            let text = json(size);
            let case =
                |reply| get(coding).offering(ALL).over(&[Protocol::H11]).reply(reply).expect([decodes()]);
            cases.extend([case(Reply::text(text.clone())), case(Reply::cut(&text, 4096))]);
        }
    }
    for coding in ["gzip", "zstd"] {
        let reply = Reply::cut(&json(16 * 1024 * 1024), 100_000);
        cases.push(get(coding).over(&[Protocol::H2]).reply(reply).expect([coded(coding)]));
    }
    Item { cases, ..item("84", Interop, "", "0 bytes to 16 MiB, whole and in chunks: all decode", []) }
}

fn item_085_layers_twice() -> Item {
    let case = |accept: &str| get(accept).offering(&["gzip"]);
    item(
        "85",
        Interop,
        "8.4",
        "a layer in a layer: coded once, one decision",
        [
            case("gzip").inside(&["gzip"]).expect([coded("gzip")]),
            case("gzip, zstd").inside(&["zstd"]).expect([coded("gzip")]),
            case("zstd").inside(&["zstd"]).expect([coded("zstd")]),
            case("gzip, zstd")
                .inside(&["zstd"])
                .reply(Reply::text(json(5000)).field("cache-control", "no-transform"))
                .expect([no_field("content-encoding")]),
            case("gzip").inside(&["gzip"]).reply(Reply::cut(&json(200), 10)).expect([decodes(), frames(1)]),
        ],
    )
}
