//! B: frames, trailers, and the end of a body.

use crate::conformance::all_hold;
use crate::conformance::case::{Case, get};
use crate::conformance::check::{
    coded, decodes, exact_length, identity, no_body, one_last_chunk, that, trailers,
};
use crate::conformance::exchange::Protocol;
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::json;
use crate::support::serve::{answer, coding, text};
use crate::support::{Script, Step as Scripted};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use hyper_util::rt::TokioIo;
use tower_compress::codec::CODECS;
use tower_compress::{CompressionLayer, EncoderPool};

fn everything() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy(true).snappy_framed(true).min_size(0).pool(EncoderPool::new())
}

fn data(size: usize) -> Step {
    Step::Data(json(size).into())
}

#[test]
fn b01_trailers_come_after_the_end_of_the_coding() {
    let with = |content_type: &str, mut steps: Vec<Step>| -> Case {
        steps.push(Step::Trailers(vec![("grpc-status", "0"), ("x-a", "b")]));
        let reply = Reply::of(steps).content_type(content_type);
        let expected = [decodes(), trailers(&[("grpc-status", "0"), ("x-a", "b")])];
        get("gzip").min_size(0).over(&[Protocol::H2]).reply(reply).expect(expected)
    };
    for content_type in ["application/grpc-web+proto", "text/plain"] {
        all_hold([
            with(content_type, vec![data(100), data(100)]).expect([coded("gzip")]),
            with(content_type, vec![]).expect([identity(), no_body()]),
            with(content_type, vec![data(5), Step::Yield]).expect([coded("gzip")]),
            with(content_type, vec![data(200_000)]).expect([coded("gzip")]),
            with(content_type, vec![data(300), Step::Until(300), data(300), Step::Until(600)]),
        ]);
    }
}

#[tokio::test]
async fn b01_after_the_trailers_there_is_nothing() {
    let mut fields = HeaderMap::new();
    fields.insert("grpc-status", "0".parse().unwrap());
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        for size in [0, 100, 5000, 100_000] {
            let steps =
                [Scripted::data(json(size)), Scripted::Trailers(fields.clone()), Scripted::data("late")];
            let response = answer(&everything(), codec.name(), text(Script::new(steps))).await;
            let mut body = std::pin::pin!(response.into_body());
            let mut seen = Vec::new();
            while let Some(frame) = body.frame().await {
                seen.push(frame.unwrap().is_trailers());
            }
            assert_eq!(seen.iter().filter(|trailers| **trailers).count(), 1, "{} {size}", codec.name());
            assert_eq!(seen.last(), Some(&true), "{} {size}", codec.name());
            assert!(body.is_end_stream());
        }
    }
}

#[tokio::test]
async fn b04_no_empty_frame_comes_out() {
    // Raw snappy does not stream: with pauses the handler's frames pass as they are.
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let steps = (0..1000).flat_map(|_| [Scripted::data("x"), Scripted::data("")]);
        for yields in [0, 1, 4] {
            let steps =
                steps.clone().flat_map(|step| std::iter::once(step).chain(vec![Scripted::Yield; yields]));
            let response = answer(&everything(), codec.name(), text(Script::new(steps))).await;
            let coding = coding(&response).to_owned();
            let received = crate::support::serve::receive(response.into_body()).await;
            assert!(received.frames.iter().all(|frame| !frame.is_empty()), "{coding} {yields}");
            assert_eq!(received.decoded(&coding), [b'x'; 1000]);
        }
    }
}

#[test]
fn b04_a_chunked_body_has_one_last_chunk() {
    let steps = (0..1000).flat_map(|_| [data(1), Step::Empty]);
    let paused =
        (0..20).flat_map(|_| [data(300), Step::Empty, Step::Yield, Step::Yield, Step::Yield, Step::Yield]);
    let long = (0..300).flat_map(|_| [data(1000), Step::Empty]);
    for coding in ["gzip", "zstd", "deflate", "br"] {
        let case = |reply| {
            let case = get(coding).offering(&["zstd", "br", "gzip", "deflate"]).min_size(0).reply(reply);
            case.over(&[Protocol::H11]).expect([decodes(), one_last_chunk()])
        };
        all_hold([
            case(Reply::of(steps.clone().collect::<Vec<_>>())),
            case(Reply::of(paused.clone().collect::<Vec<_>>())),
            case(Reply::of(long.clone().collect::<Vec<_>>())),
        ]);
    }
}

#[test]
fn b06_no_exact_size_of_the_original_stays() {
    let body = || Reply::text("a".repeat(81)).with_length();
    all_hold([
        get("gzip").min_size(0).reply(body()).expect([coded("gzip"), exact_length()]),
        get("zstd").min_size(0).reply(body()).expect([coded("zstd"), exact_length()]),
        get("gzip").min_size(0).reply(Reply::text(json(100_000)).with_length()).expect([
            coded("gzip"),
            that("no Content-Length", |answer| answer.lines("content-length").is_empty()),
        ]),
    ]);
}

#[tokio::test]
async fn b06_the_size_hint_is_that_of_the_coded_body() {
    for codec in CODECS {
        for size in [81, 5000, 200_000] {
            let response =
                answer(&everything(), codec.name(), text(Full::new(Bytes::from("a".repeat(size))))).await;
            let coding = coding(&response).to_owned();
            let mut body = std::pin::pin!(response.into_body());
            let first = body.size_hint();
            let (mut frames, mut total) = (Vec::new(), 0);
            while let Some(frame) = body.frame().await {
                let length = frame.unwrap().into_data().unwrap().len() as u64;
                total += length;
                frames.push((length, body.size_hint()));
            }
            assert!(first.lower() <= total, "{coding} {size}");
            assert!(first.upper().is_none_or(|upper| upper == total), "{coding} {size}: {first:?}, {total}");
            let mut left = total;
            for (length, hint) in frames {
                left -= length;
                assert!(
                    hint.lower() <= left && hint.upper().is_none_or(|upper| upper == left),
                    "{coding} {size}"
                );
            }
        }
    }
}

/// The connection is free for the next request once a coded body has ended, in whichever way.
#[tokio::test]
async fn b08_the_connection_goes_on_after_a_coded_body() {
    use crate::conformance::app::App;
    use crate::conformance::exchange::connect;
    use crate::conformance::layers::{Setup, Subject};
    let replies = [
        Reply::of([data(200)]),
        Reply::text(json(5000)),
        Reply::cut(&json(200_000), 1000),
        Reply::of([data(10), Step::Yield, data(10)]),
        Reply::of([data(2000), Step::Yield, Step::Yield, Step::Yield, Step::Yield]),
        Reply::of([Step::Yield]),
        Reply::of([data(5000), Step::Trailers(vec![("x-a", "b")])]),
    ];
    for coding in ["gzip", "zstd", "deflate", "br"] {
        let setup = Setup { codings: &["zstd", "br", "gzip", "deflate"], ..Setup::default() };
        for reply in &replies {
            let service = setup.service(Subject::Ours, App::new(reply.clone()));
            let (stream, _) = connect(service).await.unwrap();
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            for _ in 0..3 {
                sender.ready().await.expect("the connection is still open");
                let request = Request::get("/").header("host", "localhost").header("accept-encoding", coding);
                let response =
                    sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
                let applied = crate::support::serve::coding(&response).to_owned();
                let bytes = response.into_body().collect().await.unwrap().to_bytes();
                assert_eq!(crate::support::decode::decode(&applied, &bytes).unwrap(), reply.bytes());
            }
        }
    }
}
