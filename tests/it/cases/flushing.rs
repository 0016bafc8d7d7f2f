//! A: what the producer has released leaves, and nothing is flushed for another reason.

use crate::conformance::all_hold;
use crate::conformance::case::{Case, get};
use crate::conformance::check::{coded, decodes, exact_length, identity, one_last_chunk, that};
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::{Random, json, noise};
use crate::support::counting::Counting;
use crate::support::serve::{answer, receive, text};
use crate::support::{Script, Step as Scripted};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::routing::{get as get_route, post};
use bytes::Bytes;
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tower_compress::codec::{CODECS, Codec};
use tower_compress::{CompressionLayer, EncoderPool};

const STREAMING: [&str; 5] = ["gzip", "zstd", "br", "deflate", "x-snappy-framed"];
const ALL: &[&str] = &["zstd", "br", "gzip", "deflate", "x-snappy-framed"];

fn data(bytes: impl Into<Bytes>) -> Step {
    Step::Data(bytes.into())
}

/// Frames, of which each waits until the client has decoded all before it.
fn gated(frames: &[&[u8]]) -> Reply {
    let mut sent = 0;
    let steps = frames.iter().flat_map(|frame| {
        sent += frame.len();
        [data(frame.to_vec()), Step::Until(sent)]
    });
    Reply::of(steps.collect::<Vec<_>>())
}

#[test]
fn a01_an_event_stream_is_not_delivered_as_one_block() {
    let events = || gated(&[b"data: 1\n\n", b"data: 2\n\n"]);
    all_hold(STREAMING.map(|coding| {
        get(coding).offering(ALL).reply(events().content_type("text/event-stream")).expect([coded(coding)])
    }));
}

#[test]
fn a02_the_first_part_of_a_slow_body_does_not_wait_for_the_second() {
    let types = ["text/html", "application/x-ndjson", "multipart/mixed; boundary=x", "application/json"];
    let case = |coding, content_type: &str| {
        let body = gated(&[&json(300), &json(100)]).content_type(content_type);
        get(coding).offering(ALL).reply(body).expect([coded(coding)])
    };
    all_hold(STREAMING.into_iter().flat_map(|coding| types.map(|content_type| case(coding, content_type))));
}

/// The handler sends a line and waits until the client has said, in a request of its own, that it has decoded
/// the last one. Anything that is held back ends in a deadlock.
#[tokio::test]
async fn a02_requests_and_acknowledgements_do_not_deadlock() {
    for coding in STREAMING {
        tokio::time::timeout(Duration::from_secs(10), ping_pong(coding)).await.expect(coding);
    }
}

type Acknowledged = Arc<Mutex<Option<mpsc::Receiver<u32>>>>;

const ROUNDS: u32 = 100;

async fn ping_pong(coding: &'static str) {
    let (sender, receiver) = mpsc::channel::<u32>(1);
    let acknowledged: Acknowledged = Arc::new(Mutex::new(Some(receiver)));
    let layer = CompressionLayer::new().br(true).snappy_framed(true);
    let app = Router::new()
        .route("/lines", get_route(lines).with_state(acknowledged))
        .route("/seen/{number}", post(seen).with_state(sender))
        .layer(layer);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    let client = reqwest::Client::new();
    let request = client.get(format!("{origin}/lines")).header("accept-encoding", coding);
    let mut response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-encoding"], coding);
    let (mut bytes, mut decoded) = (Vec::new(), String::new());
    for number in 0..ROUNDS {
        while decoded.lines().count() as u32 <= number {
            bytes.extend_from_slice(&response.chunk().await.unwrap().expect("the stream goes on"));
            decoded = String::from_utf8(crate::support::decode::decode_prefix(coding, &bytes)).unwrap();
        }
        client.post(format!("{origin}/seen/{number}")).send().await.unwrap();
    }
    while let Some(chunk) = response.chunk().await.unwrap() {
        bytes.extend_from_slice(&chunk);
    }
    assert_eq!(crate::support::decode::decode(coding, &bytes).unwrap(), decoded.as_bytes());
    server.abort();
}

async fn lines(State(acknowledged): State<Acknowledged>) -> Body {
    let mut receiver = acknowledged.lock().unwrap().take().unwrap();
    let (sender, body) = http_body_util::channel::Channel::<Bytes, std::convert::Infallible>::new(1);
    let mut sender = sender;
    tokio::spawn(async move {
        for number in 0..ROUNDS {
            let line = format!("line {number} of a stream of lines, 40 B.\n");
            if sender.send_data(line.into()).await.is_err() || receiver.recv().await != Some(number) {
                return;
            }
        }
    });
    Body::new(body)
}

async fn seen(State(sender): State<mpsc::Sender<u32>>, Path(number): Path<u32>) {
    sender.send(number).await.unwrap();
}

#[tokio::test]
async fn a02_frames_that_are_ready_are_not_flushed_one_by_one() {
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let counting = Counting::new(codec.name());
        let script = Script::new((0..10).map(|_| Scripted::data(json(200))));
        let response = answer(&everything().codec(counting), codec.name(), text(script)).await;
        assert_eq!(receive(response.into_body()).await.decoded(codec.name()), json(200).repeat(10));
        assert_eq!((counting.calls().len(), counting.flushes()), (1, 0), "{}", codec.name());
    }
}

fn everything() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(EncoderPool::new())
}

async fn coded_size(codec: &'static dyn Codec, steps: Vec<Scripted>, input: &[u8]) -> (usize, usize, usize) {
    let counting = Counting::new(codec.name());
    let response = answer(&everything().codec(counting), codec.name(), text(Script::new(steps))).await;
    let received = receive(response.into_body()).await;
    assert!(received.decoded(codec.name()) == input);
    (received.bytes().len(), received.frames.len(), counting.calls().len())
}

#[tokio::test(start_paused = true)]
async fn a05_many_small_writes_do_not_inflate_the_body() {
    let input = json(200_000);
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let (whole, ..) = coded_size(*codec, vec![Scripted::data(&input)], &input).await;
        let ready = || input.chunks(20).map(Scripted::data);
        let (size, frames, calls) = coded_size(*codec, ready().collect(), &input).await;
        let name = codec.name();
        assert!(size * 100 <= whole * 105, "{name}: {size} of {whole}");
        assert!(frames <= size / 4096 + 2, "{name}: {frames} frames of {size} bytes");
        let batch = codec.batch(codec.level(Default::default()));
        assert!(calls <= input.len() / batch.min(4096) + 2, "{name}: {calls} calls");

        // A producer that yields after each frame is no producer that pauses.
        let yielding = ready().flat_map(|step| [step, Scripted::Yield]).collect();
        let (size, ..) = coded_size(*codec, yielding, &input).await;
        assert!(size <= input.len() + 1024, "{name}: {size} with yields");
        assert!(size * 100 <= whole * 105, "{name}: {size} of {whole} with yields");
    }
}

#[test]
fn a07_a_body_of_unknown_length_is_not_held_for_the_minimum() {
    let short = || [data(json(200)), Step::Until(200)];
    let case = |coding, reply: Reply| get(coding).reply(reply).expect([decodes(), one_last_chunk()]);
    for coding in ["gzip", "zstd"] {
        all_hold([
            // (a) 200 bytes are visible while the handler waits, coded or not.
            case(coding, Reply::of(short())),
            // (b) They end promptly, as they are.
            case(coding, Reply::of([data(json(200))])).expect([identity(), exact_length()]),
            // (d), (e) A length that is said.
            case(coding, Reply::text(json(200)).with_length()).expect([identity(), exact_length()]),
            case(coding, Reply::text(json(1023)).with_length()).expect([identity(), exact_length()]),
            case(coding, Reply::text(json(1024)).with_length()).expect([coded(coding)]),
            case(coding, Reply::text(json(1025)).with_length()).expect([coded(coding)]),
            // (f) An empty frame first.
            case(coding, Reply::of([Step::Empty, data(json(2000))])).expect([coded(coding)]),
            case(coding, Reply::of([Step::Empty, Step::Yield, data(json(2000))])).expect([coded(coding)]),
        ]);
    }
}

/// (c) 64 MiB of unknown length are never in the layer at once: what was taken in, and has not come out, is bounded.
#[tokio::test]
async fn a07_the_whole_body_is_never_gathered() {
    const BOUND: usize = 512 * 1024;
    let frame = noise(64 * 1024);
    let given = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&given);
    let frames = (0..1024).map(move |_| {
        *counter.lock().unwrap() += frame.len();
        Ok::<_, std::convert::Infallible>(http_body::Frame::data(Bytes::from(frame.clone())))
    });
    let body = http_body_util::StreamBody::new(tokio_stream::iter(frames));
    // snappy finds no repetition at this distance, so all that went in must come out.
    let response = answer(&everything(), "x-snappy-framed", text(body)).await;
    let mut body = std::pin::pin!(response.into_body());
    let mut taken = 0;
    while let Some(frame) = body.frame().await {
        taken += frame.unwrap().into_data().unwrap().len();
        assert!(*given.lock().unwrap() <= taken + BOUND, "{} given, {taken} taken", given.lock().unwrap());
    }
    assert!(taken >= 64 * 1024 * 1024);
}

/// Frames of the sizes that stand next to a limit, in random order, with pauses anywhere.
#[tokio::test]
async fn a08_nothing_is_sent_twice_or_dropped_at_a_boundary() {
    let sizes =
        [0, 1, 511, 512, 513, 1023, 1024, 1025, 8191, 8192, 8193, 16_383, 16_384, 16_385, 65_536, 70_000];
    let mut random = Random(8);
    for codec in CODECS {
        for _ in 0..25 {
            let (mut steps, mut input) = (Vec::new(), Vec::new());
            for _ in 0..random.below(8) {
                let size = sizes[random.below(sizes.len())];
                let frame = if random.below(4) == 0 { noise(size) } else { json(size) };
                input.extend_from_slice(&frame);
                steps.push(Scripted::data(&frame));
                steps.extend(vec![Scripted::Yield; random.below(5)]);
            }
            let response = answer(&everything().min_size(0), codec.name(), text(Script::new(steps))).await;
            let coding = crate::support::serve::coding(&response).to_owned();
            let decoded = receive(response.into_body()).await.decoded(&coding);
            assert!(decoded == input, "{coding}: {} bytes became {}", input.len(), decoded.len());
        }
    }
}

#[tokio::test]
async fn a10_the_end_is_never_cut_off() {
    let mixed = || {
        let mut mixed = json(1_583_124);
        mixed.extend_from_slice(&noise(1_583_124));
        mixed
    };
    let layer = everything();
    for codec in CODECS {
        let sizes = (0..300_000).step_by(7919).chain([3_166_248]);
        for size in sizes {
            let input = if size > 300_000 { mixed() } else { json(size) };
            for cut in [input.len().max(1), 8192] {
                let response = answer(&layer, codec.name(), text(Script::cut(&input, cut))).await;
                let coding = crate::support::serve::coding(&response).to_owned();
                assert!(
                    receive(response.into_body()).await.decoded(&coding) == input,
                    "{coding} {size} {cut}"
                );
            }
        }
    }
}

/// The whole of a long body arrives, with the last chunk of HTTP/1.1 after the end of the coding.
#[test]
fn a10_the_end_is_never_cut_off_on_the_wire() {
    let whole = |coding| -> Case {
        let mut input = json(1_583_124);
        input.extend_from_slice(&noise(1_583_124));
        let complete = that("the last chunk", |answer| {
            !answer.wire.starts_with(b"HTTP/1.1") || answer.wire.ends_with(b"0\r\n\r\n")
        });
        get(coding).offering(ALL).reply(Reply::cut(&input, 8192)).expect([coded(coding), complete])
    };
    all_hold(STREAMING.map(whole));
}
