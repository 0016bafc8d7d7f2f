//! A client's requests: what is coded, how it is framed, what is learned, and what is sent again.

use crate::support::corpus::{json, noise};
use crate::support::counting::Counting;
use crate::support::origin::{Origin, status};
use crate::support::{Script, Step};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Empty, Full};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::retry::{Policy, Retry};
use tower::{Layer, Service, ServiceExt};
use tower_compress::codec::{CODECS, Operation};
use tower_compress::predicate::{ForRequest, Predicate, SizeAbove};
use tower_compress::{
    BoxError, CompressionBody, CompressionLevel, EncoderPool, Reason, RequestCompressionLayer,
};

/// A layer that can send everything, with a pool of its own.
fn layer() -> RequestCompressionLayer {
    RequestCompressionLayer::new().br(true).snappy(true).snappy_framed(true).pool(EncoderPool::new())
}

fn post<B>(body: B) -> Request<B> {
    Request::post("http://origin/").header("content-type", "application/json").body(body).unwrap()
}

fn full(bytes: Vec<u8>) -> Full<Bytes> {
    Full::from(bytes)
}

/// Sends one request, and gives the status of the answer.
async fn send<P, B>(layer: &RequestCompressionLayer<P>, origin: &Origin, request: Request<B>) -> StatusCode
where
    P: Predicate,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    layer.layer(origin.clone()).oneshot(request).await.unwrap().status()
}

#[tokio::test]
async fn j02_bodies_in_memory_cost_one_call_and_say_their_length() {
    let origin = Origin::content();
    for codec in CODECS {
        for (length, frame) in [(5000, 5000), (5000, 7), (200_000, 200_000), (200_000, 8192)] {
            let counting = Counting::new(codec.name());
            let layer = layer().codec(counting).coding(codec.name());
            if frame == length {
                send(&layer, &origin, post(full(json(length)))).await;
            } else {
                send(&layer, &origin, post(Script::cut(&json(length), frame))).await;
            }
            let seen = origin.only();
            assert_eq!(seen.header("content-encoding"), Some(codec.name()));
            let coded = seen.received.bytes().len();
            assert_eq!(seen.header("content-length"), Some(&*coded.to_string()));
            assert_eq!(seen.said, Some(coded as u64));
            assert!(coded < length && seen.decoded() == json(length));
            assert_eq!(seen.received.frames.len(), 1);
            let calls = counting.calls();
            assert!(calls.len() == 1 && calls[0].operation == Operation::Finish, "{codec:?} {calls:?}");
            assert_eq!(seen.header("vary"), None);
        }
    }
}

#[tokio::test]
async fn j02_streams_stream_unless_the_layer_waits_for_them() {
    let origin = Origin::content();
    let steps = || [Step::data(json(5000)), Step::Yield, Step::data(json(5000))];
    for codec in CODECS {
        let layer = layer().coding(codec.name());
        send(&layer, &origin, post(Script::new(steps()))).await;
        let seen = origin.only();
        if codec.streams() {
            assert_eq!(seen.header("content-encoding"), Some(codec.name()));
        } else {
            // One that cannot stream leaves the body to the next.
            assert_eq!(seen.header("content-encoding"), Some("gzip"));
        }
        assert_eq!((seen.said, seen.header("content-length")), (None, None));
        assert_eq!(seen.decoded(), [json(5000), json(5000)].concat());

        send(&layer.wait_for(20_000), &origin, post(Script::new(steps()))).await;
        let seen = origin.only();
        assert_eq!(seen.header("content-encoding"), Some(codec.name()));
        assert_eq!(seen.said, Some(seen.received.bytes().len() as u64));
        assert_eq!(seen.header("content-length").unwrap(), seen.said.unwrap().to_string());
        assert_eq!(seen.decoded(), [json(5000), json(5000)].concat());
    }
    // Longer than it waits for.
    let long = || (0..100).flat_map(|_| [Step::data(json(5000)), Step::Yield]);
    send(&layer().look_ahead(0).wait_for(20_000), &origin, post(Script::new(long()))).await;
    let seen = origin.only();
    assert_eq!((seen.said, seen.header("content-encoding")), (None, Some("gzip")));
    assert_eq!(seen.decoded(), json(5000).repeat(100));
}

#[tokio::test]
async fn what_is_too_long_to_be_looked_at_streams() {
    let origin = Origin::content();
    send(&layer(), &origin, post(full(json(2_000_000)))).await;
    let seen = origin.only();
    assert_eq!((seen.said, seen.header("content-length")), (None, None));
    assert!(seen.decoded() == json(2_000_000));
    // A block that says its length first cannot, so it is made at once however long it is.
    send(&layer().coding("snappy"), &origin, post(full(json(2_000_000)))).await;
    let seen = origin.only();
    assert_eq!(seen.header("content-encoding"), Some("snappy"));
    assert_eq!(seen.header("content-length").unwrap(), seen.received.bytes().len().to_string());
    assert!(seen.decoded() == json(2_000_000));
}

#[tokio::test]
async fn j03_what_is_not_to_be_coded_passes_as_it_is() {
    let origin = Origin::content();
    let layer = layer();
    let fields: [(&str, &str, Reason); 9] = [
        ("content-encoding", "deflate", Reason::AlreadyCoded),
        ("content-encoding", "aws-chunked", Reason::AlreadyCoded),
        ("content-type", "image/png", Reason::Predicate),
        ("content-type", "application/grpc", Reason::Grpc),
        ("content-range", "bytes 0-4999/10000", Reason::Range),
        ("upload-offset", "5000", Reason::Range),
        ("cache-control", "no-transform", Reason::NoTransform),
        ("content-md5", "abc==", Reason::Digest),
        ("content-digest", "sha-256=:a:", Reason::Digest),
    ];
    for (count, (name, value, reason)) in fields.into_iter().enumerate() {
        let mut request = post(full(json(5000)));
        request.headers_mut().insert(name, value.parse().unwrap());
        let head = request.headers().clone();
        let before = layer.stats().passed(reason);
        send(&layer, &origin, request).await;
        let seen = origin.only();
        assert_eq!((&seen.parts.headers, seen.said), (&head, Some(5000)), "{name}: {value}");
        assert_eq!(seen.received.bytes(), json(5000));
        assert_eq!(layer.stats().passed(reason), before + 1, "{count}: {name}: {value}");
    }
    for size in [1, 100, 1023] {
        send(&layer, &origin, post(full(json(size)))).await;
        send(&layer, &origin, post(Script::cut(&json(size), 10))).await;
        for seen in origin.seen() {
            assert_eq!((seen.header("content-encoding"), seen.said), (None, Some(size as u64)));
            assert_eq!(seen.received.bytes(), json(size));
        }
    }
    send(&layer, &origin, post(full(noise(20_000)))).await;
    let seen = origin.only();
    assert_eq!((seen.header("content-encoding"), seen.said), (None, Some(20_000)));
    assert_eq!(layer.stats().passed(Reason::NotSmaller), 1);
}

#[tokio::test]
async fn j03_requests_without_a_body_have_no_coding() {
    let origin = Origin::content();
    for method in [Method::GET, Method::POST, Method::DELETE] {
        let request = |body| Request::builder().method(&method).uri("http://origin/").body(body).unwrap();
        send(&layer(), &origin, request(full(vec![]))).await;
        send(&layer(), &origin, request(full(vec![])).map(|_| Empty::<Bytes>::new())).await;
        send(&layer(), &origin, request(full(vec![])).map(|_| Script::new([Step::data("")]))).await;
        for seen in origin.seen() {
            assert!(seen.parts.headers.is_empty(), "{method} {:?}", seen.parts.headers);
            assert!(seen.received.frames.is_empty());
        }
    }
}

#[tokio::test]
async fn j03_identity_is_an_opt_out_and_is_not_sent() {
    let origin = Origin::content();
    let mut request = post(full(json(5000)));
    request.headers_mut().insert("content-encoding", "identity".parse().unwrap());
    send(&layer(), &origin, request).await;
    let seen = origin.only();
    assert_eq!(seen.header("content-encoding"), None);
    assert_eq!(seen.received.bytes(), json(5000));
}

#[tokio::test]
async fn the_level_the_minimum_and_the_predicate_are_the_users() {
    let origin = Origin::content();
    let size = async |layer: &RequestCompressionLayer| {
        send(layer, &origin, post(full(json(100_000)))).await;
        origin.only().received.bytes().len()
    };
    let fast = size(&layer().quality(CompressionLevel::Fastest)).await;
    let best = size(&layer().level("gzip", CompressionLevel::Best)).await;
    assert!(best * 100 < fast * 90, "{best} {fast}");

    send(&layer().min_size(100_001), &origin, post(full(json(100_000)))).await;
    send(&layer().min_size(100_000), &origin, post(full(json(100_000)))).await;
    let codings: Vec<_> =
        origin.seen().iter().map(|seen| seen.header("content-encoding").is_some()).collect();
    assert_eq!(codings, [false, true]);

    let only_puts = SizeAbove::new(0).and(ForRequest::new(|method, _, _, _| method == Method::PUT));
    let layer = layer().compress_when(only_puts);
    for (method, coded) in [(Method::POST, false), (Method::PUT, true)] {
        let mut request = post(full(json(500)));
        *request.method_mut() = method;
        send(&layer, &origin, request).await;
        assert_eq!(origin.only().header("content-encoding").is_some(), coded);
    }
}

#[tokio::test]
async fn a_prescribed_coding_is_sent_even_if_it_does_not_pay() {
    let origin = Origin::content();
    let layer = layer().coding("snappy").force(true);
    for body in [json(1), json(100), noise(5000)] {
        send(&layer, &origin, post(full(body.clone()))).await;
        let seen = origin.only();
        assert_eq!(seen.header("content-encoding"), Some("snappy"));
        assert_eq!(seen.header("content-length").unwrap(), seen.received.bytes().len().to_string());
        assert!(seen.decoded() == body);
    }
    send(&layer, &origin, post(full(vec![]))).await;
    assert_eq!(origin.only().header("content-encoding"), None);
}

#[tokio::test]
async fn http_1_0_gets_a_length_or_no_coding() {
    let origin = Origin::content();
    let mut request = post(full(json(5000)));
    *request.version_mut() = Version::HTTP_10;
    send(&layer(), &origin, request).await;
    let mut request = post(Script::new([Step::data(json(5000)), Step::Yield]));
    *request.version_mut() = Version::HTTP_10;
    send(&layer(), &origin, request).await;
    // Too long to be coded before the head, but in memory.
    let mut request = post(full(json(300_000)));
    *request.version_mut() = Version::HTTP_10;
    send(&layer(), &origin, request).await;
    let seen = origin.seen();
    let codings: Vec<_> = seen.iter().map(|seen| seen.header("content-encoding").is_some()).collect();
    assert_eq!(codings, [true, false, false]);
    assert_eq!(seen[2].said, Some(300_000));
}

/// A body that says how long it is, whatever follows its data.
struct Said {
    body: Pin<Box<Script>>,
    rest: u64,
}

impl Said {
    fn new(rest: u64, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { body: Box::pin(Script::new(steps)), rest }
    }
}

impl Body for Said {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = self.body.as_mut().poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.rest -= frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        polled
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest)
    }
}

fn post_1_0<B>(body: B) -> Request<B> {
    let mut request = post(body);
    *request.version_mut() = Version::HTTP_10;
    request
}

#[tokio::test]
async fn http_1_0_gets_a_length_also_before_trailers() {
    let trailers = HeaderMap::from_iter([("x-checked".parse().unwrap(), "yes".parse().unwrap())]);
    let origin = Origin::content();
    // Too small, coded, not smaller, and too long to be coded before the head.
    for (data, coding) in
        [(json(500), None), (json(5000), Some("gzip")), (noise(5000), None), (json(300_000), None)]
    {
        let steps = || [Step::data(&data), Step::Trailers(trailers.clone())];
        let said = || Said::new(data.len() as u64, steps());
        send(&layer(), &origin, post_1_0(said())).await;
        // Of one that does not know its length, that is known by now, if it was looked at to its end.
        send(&layer(), &origin, post_1_0(Script::new(steps()))).await;
        // HTTP/1.1 would leave the trailers out.
        send(&layer(), &origin, post(said())).await;
        let known = [true, data.len() <= 256 * 1024, false];
        for (seen, known) in origin.seen().iter().zip(known) {
            let sent = seen.received.bytes().len();
            assert_eq!(seen.said, known.then_some(sent as u64), "{:?} {}", seen.parts.version, data.len());
            let length = (known && coding.is_some()).then(|| sent.to_string());
            assert_eq!(seen.header("content-length"), length.as_deref());
            assert_eq!(seen.decoded(), data);
            assert_eq!(seen.received.trailers.as_ref(), Some(&trailers));
            assert!(seen.header("content-encoding") == coding || data.len() > 256 * 1024);
        }
    }
}

#[tokio::test]
async fn http_1_0_gets_a_length_also_when_sent_again() {
    let trailers = HeaderMap::from_iter([("x-checked".parse().unwrap(), "yes".parse().unwrap())]);
    for (accepts, coding) in [("zstd", Some("zstd")), ("identity", None)] {
        let origin = Origin::accepting(accepts);
        let body = Script::new([Step::data(json(5000)), Step::Trailers(trailers.clone())]);
        assert_eq!(send(&layer(), &origin, post_1_0(body)).await, StatusCode::OK);
        let seen = origin.seen();
        assert_eq!((seen.len(), seen[1].header("content-encoding")), (2, coding));
        assert!(seen.iter().all(|seen| seen.said == Some(seen.received.bytes().len() as u64)));
        assert_eq!(seen[1].received.trailers.as_ref(), Some(&trailers));
    }
}

#[tokio::test]
async fn http_1_0_gets_the_length_that_was_said_of_a_body_that_fails() {
    // Without one nothing would be sent, as if the body were empty.
    let origin = Origin::content();
    let failing = || Said::new(6000, [Step::data(json(5000)), Step::Error("db")]);
    let mut opted_out = post_1_0(failing());
    opted_out.headers_mut().insert("content-encoding", "identity".parse().unwrap());
    for request in [post_1_0(failing()), opted_out] {
        send(&layer(), &origin, request).await;
        let seen = origin.only();
        assert_eq!((seen.said, seen.received.bytes().len()), (Some(6000), 5000));
        assert_eq!(seen.received.error.unwrap().to_string(), "db");
    }
}

#[tokio::test]
async fn trailers_come_after_the_end_of_the_coding() {
    let origin = Origin::content();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checked", "yes".parse().unwrap());
    for pause in [None, Some(Step::Yield)] {
        let steps = [Some(Step::data(json(5000))), pause, Some(Step::Trailers(trailers.clone()))];
        send(&layer(), &origin, post(Script::new(steps.into_iter().flatten()))).await;
        let seen = origin.only();
        assert_eq!((seen.said, seen.header("content-length")), (None, None));
        assert_eq!(seen.decoded(), json(5000));
        assert_eq!(seen.received.trailers.unwrap(), trailers);
    }
}

#[tokio::test]
async fn l01_a_body_that_fails_does_not_look_complete() {
    let origin = Origin::content();
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let steps = [Step::data(json(5000)), Step::Yield, Step::data(json(5000)), Step::Error("db")];
        send(&layer().coding(codec.name()), &origin, post(Script::new(steps))).await;
        let seen = origin.only();
        assert_eq!(seen.received.error.as_ref().unwrap().to_string(), "db");
        if codec.name() != "x-snappy-framed" {
            crate::support::decode::decode(codec.name(), &seen.received.bytes()).unwrap_err();
        }
    }
}

#[tokio::test]
async fn c101_a_415_with_accept_encoding_is_repeated_once_and_remembered() {
    let cases = [
        ("zstd, gzip", "zstd", "zstd"),
        ("gzip", "zstd", "gzip"),
        ("deflate, x-new", "zstd", "deflate"),
        ("br", "zstd", "br"),
        ("identity", "zstd", "identity"),
        ("", "zstd", "identity"),
        ("x-new", "zstd", "identity"),
    ];
    for (accepts, coding, expected) in cases {
        let origin = Origin::accepting(accepts);
        let layer = layer().coding(coding);
        for round in 0..3 {
            let status = send(&layer, &origin, post(full(json(5000)))).await;
            assert_eq!(status, StatusCode::OK, "{accepts}");
            let mut seen = origin.seen();
            assert_eq!(seen.len(), if round == 0 && coding != expected { 2 } else { 1 }, "{accepts}");
            let last = seen.pop().unwrap();
            assert_eq!(last.header("content-encoding").unwrap_or("identity"), expected, "{accepts}");
            assert_eq!(last.decoded(), json(5000));
            assert_eq!(last.said, Some(last.received.bytes().len() as u64));
            assert_eq!(last.header("content-type"), Some("application/json"));
        }
    }
}

#[tokio::test]
async fn c101_a_long_body_in_memory_is_repeated_too_and_then_uncoded() {
    for accepts in ["gzip", "identity"] {
        let origin = Origin::accepting(accepts);
        let layer = layer().coding("zstd");
        assert_eq!(send(&layer, &origin, post(full(json(300_000)))).await, StatusCode::OK);
        let seen = origin.seen();
        let codings: Vec<_> = seen.iter().map(|seen| seen.header("content-encoding")).collect();
        assert_eq!(codings, [Some("zstd"), None]);
        assert!(seen[1].decoded() == json(300_000) && seen[1].said == Some(300_000));
    }
}

#[tokio::test]
async fn c102_a_415_without_the_field_has_another_reason() {
    let origin = Origin::new(|_| status(StatusCode::UNSUPPORTED_MEDIA_TYPE, &[]));
    let layer = layer();
    for _ in 0..2 {
        let status = send(&layer, &origin, post(full(json(5000)))).await;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(origin.only().header("content-encoding"), Some("gzip"));
    }
    // So does one whose field lists the coding.
    let origin = Origin::new(|_| status(StatusCode::UNSUPPORTED_MEDIA_TYPE, &[("accept-encoding", "gzip")]));
    send(&layer, &origin, post(full(json(5000)))).await;
    assert_eq!(origin.only().header("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn c101_one_repetition_and_no_more() {
    // An origin that cannot be pleased, and one that takes nothing back.
    let origin = Origin::new(|seen| {
        let accepts = if seen.header("content-encoding") == Some("gzip") { "zstd" } else { "gzip" };
        status(StatusCode::UNSUPPORTED_MEDIA_TYPE, &[("accept-encoding", accepts)])
    });
    let status = send(&layer(), &origin, post(full(json(5000)))).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let codings: Vec<_> =
        origin.seen().iter().map(|seen| seen.header("content-encoding").unwrap().to_owned()).collect();
    assert_eq!(codings, ["gzip", "zstd"]);
}

#[tokio::test]
async fn c101_a_stream_is_not_repeated_but_teaches() {
    let origin = Origin::accepting("identity");
    let layer = layer();
    let stream = || Script::new([Step::data(json(5000)), Step::Yield, Step::data(json(5000))]);
    assert_eq!(send(&layer, &origin, post(stream())).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(origin.seen().len(), 1);
    assert_eq!(send(&layer, &origin, post(stream())).await, StatusCode::OK);
    assert_eq!(origin.only().header("content-encoding"), None);
    assert_eq!(layer.stats().passed(Reason::NotAccepted), 1);
}

#[tokio::test]
async fn the_field_teaches_on_any_response_and_about_its_origin_alone() {
    let origin = Origin::new(|_| status(StatusCode::OK, &[("accept-encoding", "zstd;q=0.5, br")]));
    let layer = layer();
    let coding = async |uri: &str| {
        let mut request = post(full(json(5000)));
        *request.uri_mut() = uri.parse().unwrap();
        send(&layer, &origin, request).await;
        origin.only().header("content-encoding").map(str::to_owned)
    };
    assert_eq!(coding("http://a/").await.as_deref(), Some("gzip"));
    assert_eq!(coding("http://a/other").await.as_deref(), Some("br"));
    assert_eq!(coding("http://b/").await.as_deref(), Some("gzip"));
    assert_eq!(coding("http://b/").await.as_deref(), Some("br"));

    let unforgetting = layer.clone().remember_for(Duration::MAX);
    for coding in ["gzip", "br", "br"] {
        send(&unforgetting, &origin, post(full(json(5000)))).await;
        assert_eq!(origin.only().header("content-encoding"), Some(coding));
    }

    let forgetful = layer.clone().remember_for(Duration::ZERO);
    for _ in 0..2 {
        send(&forgetful, &origin, post(full(json(5000)))).await;
        assert_eq!(origin.only().header("content-encoding"), Some("gzip"));
    }
}

#[tokio::test]
async fn an_origin_that_accepts_everything_gets_the_users_coding() {
    let origin = Origin::new(|_| status(StatusCode::OK, &[("accept-encoding", "*")]));
    for coding in ["gzip", "deflate", "zstd", "br"] {
        let layer = layer().coding(coding);
        for _ in 0..2 {
            send(&layer, &origin, post(full(json(5000)))).await;
            assert_eq!(origin.only().header("content-encoding"), Some(coding));
        }
    }
}

#[tokio::test]
async fn c098_the_inner_request_is_never_coded_twice() {
    let origin = Origin::content();
    let service = layer().layer(layer().layer(origin.clone()));
    service.oneshot(post(full(json(5000)))).await.unwrap();
    let seen = origin.only();
    assert_eq!(seen.header("content-encoding"), Some("gzip"));
    assert_eq!(seen.decoded(), json(5000));
}

/// Retries what was answered with 503, as often as that happens.
#[derive(Clone)]
struct Again;

impl<R> Policy<Request<Full<Bytes>>, http::Response<R>, std::convert::Infallible> for Again {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<Full<Bytes>>,
        result: &mut Result<http::Response<R>, std::convert::Infallible>,
    ) -> Option<Self::Future> {
        let busy = result.as_ref().unwrap().status() == StatusCode::SERVICE_UNAVAILABLE;
        busy.then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &Request<Full<Bytes>>) -> Option<Request<Full<Bytes>>> {
        Some(request.clone())
    }
}

impl<B, R> Policy<Request<CompressionBody<B>>, http::Response<R>, std::convert::Infallible> for Again {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<CompressionBody<B>>,
        result: &mut Result<http::Response<R>, std::convert::Infallible>,
    ) -> Option<Self::Future> {
        let busy = result.as_ref().unwrap().status() == StatusCode::SERVICE_UNAVAILABLE;
        busy.then(|| std::future::ready(()))
    }

    fn clone_request(
        &mut self,
        request: &Request<CompressionBody<B>>,
    ) -> Option<Request<CompressionBody<B>>> {
        let body = request.body().try_clone()?;
        let mut clone = Request::new(body);
        *clone.method_mut() = request.method().clone();
        *clone.uri_mut() = request.uri().clone();
        *clone.headers_mut() = request.headers().clone();
        Some(clone)
    }
}

/// An origin that is busy the first `times`.
fn busy(times: usize) -> Origin {
    let left = std::sync::atomic::AtomicUsize::new(times);
    Origin::new(move |_| {
        use std::sync::atomic::Ordering::Relaxed;
        match left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => status(StatusCode::SERVICE_UNAVAILABLE, &[]),
            Err(_) => status(StatusCode::OK, &[]),
        }
    })
}

#[tokio::test]
async fn c098_retries_outside_and_inside_send_the_same_body_coded_once() {
    for body in [json(5000), json(100), noise(5000), Vec::new()] {
        let check = |origin: Origin| {
            let seen = origin.seen();
            assert_eq!(seen.len(), 3);
            for seen in seen {
                assert_eq!(seen.header("content-encoding").is_some(), body == json(5000));
                assert!(seen.decoded() == body);
                assert_eq!(seen.said, Some(seen.received.bytes().len() as u64));
            }
        };
        let origin = busy(2);
        let outside = Retry::new(Again, layer().layer(origin.clone()));
        let response = outside.oneshot(post(full(body.clone()))).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        check(origin);

        let origin = busy(2);
        let inside = layer().layer(Retry::new(Again, origin.clone()));
        let response = inside.oneshot(post(full(body.clone()))).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        check(origin);
    }
}

#[test]
fn an_empty_body_by_default() {
    // As services want one that follow redirects inside of the layer.
    let body = CompressionBody::<Full<Bytes>>::default();
    assert!(body.is_end_stream() && body.size_hint().exact() == Some(0));
}

#[tokio::test]
async fn a_service_that_becomes_ready_only_once_is_called_once() {
    /// Ready for one call each time it was asked, and for one alone.
    #[derive(Clone)]
    struct Permit {
        origin: Origin,
        ready: bool,
    }
    impl<B> Service<Request<B>> for Permit
    where
        Origin: Service<Request<B>>,
    {
        type Response = <Origin as Service<Request<B>>>::Response;
        type Error = <Origin as Service<Request<B>>>::Error;
        type Future = <Origin as Service<Request<B>>>::Future;

        fn poll_ready(
            &mut self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), Self::Error>> {
            self.ready = true;
            self.origin.poll_ready(cx)
        }

        fn call(&mut self, request: Request<B>) -> Self::Future {
            assert!(std::mem::take(&mut self.ready), "called without being asked whether it was ready");
            self.origin.call(request)
        }
    }
    let origin = Origin::accepting("identity");
    let mut service = layer().layer(Permit { origin: origin.clone(), ready: false });
    for _ in 0..2 {
        let request = post(full(json(5000)));
        ServiceExt::<Request<Full<Bytes>>>::ready(&mut service).await.unwrap().call(request).await.unwrap();
    }
    assert_eq!(origin.seen().len(), 3);
}

#[test]
fn bodies_are_sync_when_the_inner_body_is() {
    fn is_sync<T: Send + Sync + Unpin>() {}
    is_sync::<CompressionBody<Full<Bytes>>>();
    is_sync::<tower_compress::DecompressionBody<Full<Bytes>>>();
}
