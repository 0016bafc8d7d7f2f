//! A server's requests: what is decoded, what is refused, and how errors reach whom.

use crate::support::corpus::{json, noise};
use crate::support::encode::{encode, stack};
use crate::support::serve::{Received, receive};
use crate::support::{Script, Step};
use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::post;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{Empty, Full, LengthLimitError};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower::{Layer, ServiceExt};
use tower_compress::codec::CODECS;
use tower_compress::request::AnswerBody;
use tower_compress::{BoxError, DecompressionBody, Error, Limits, RequestDecompressionLayer};

/// A layer that accepts everything.
fn layer() -> RequestDecompressionLayer {
    RequestDecompressionLayer::new().br(true).snappy(true).snappy_framed(true)
}

fn full(bytes: impl Into<Bytes>) -> Full<Bytes> {
    Full::new(bytes.into())
}

fn request<B>(coding: &str, body: B) -> Request<B> {
    Request::post("/").header(CONTENT_ENCODING, coding).body(body).unwrap()
}

/// What the service saw of a request, if it was called, and the answer.
async fn serve<B>(
    layer: &RequestDecompressionLayer,
    request: Request<B>,
) -> (Option<(HeaderMap, Received)>, Response<AnswerBody<Empty<Bytes>>>)
where
    B: Body + 'static,
    B::Error: Into<BoxError>,
{
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let service = layer.layer(tower::service_fn(move |request: Request<DecompressionBody<B>>| {
        let tell = tell.clone();
        async move {
            let (parts, body) = request.into_parts();
            tell.send((parts.headers, receive(body).await)).unwrap();
            Ok::<_, Infallible>(Response::new(Empty::new()))
        }
    }));
    let response = service.oneshot(request).await.unwrap();
    (told.recv().await, response)
}

#[tokio::test]
async fn c107_the_service_sees_a_plain_request() {
    let plain = json(20_000);
    for codec in CODECS {
        for coding in
            [codec.name().to_owned(), codec.name().to_uppercase(), format!("identity, {}", codec.name())]
        {
            let coded = encode(codec.name(), &plain);
            let mut request = request(&coding, full(coded.clone()));
            for (name, value) in [
                ("content-length", &*coded.len().to_string()),
                ("content-digest", "sha-256=:a:"),
                ("content-type", "application/json"),
                ("if-match", "\"x\""),
            ] {
                request
                    .headers_mut()
                    .insert(name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap());
            }
            let (seen, response) = serve(&layer(), request).await;
            let (headers, received) = seen.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert!(received.error.is_none() && received.bytes() == plain, "{coding}");
            let names: Vec<_> = headers.keys().map(http::HeaderName::as_str).collect();
            assert_eq!(names, ["content-type", "if-match"]);
        }
    }
}

#[tokio::test]
async fn c106_stacked_codings_are_undone_in_reverse() {
    let plain = json(5000);
    let coded = stack(&["gzip", "zstd", "br"], &plain);
    let (seen, _) = serve(&layer(), request("gzip, zstd, br", Script::cut(&coded, 100))).await;
    assert_eq!(seen.unwrap().1.bytes(), plain);
}

/// A body that must not be read.
struct Unread;

impl Body for Unread {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        panic!("the body was read");
    }
}

#[tokio::test]
async fn h09_an_unknown_coding_is_415_before_the_body_is_read() {
    for coding in ["compress", "foo", "gzip, foo", "foo, gzip", "gzip, br"] {
        let layer = layer().no_br();
        let (seen, response) = serve(&layer, request(coding, Unread)).await;
        assert!(seen.is_none(), "{coding}");
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(response.headers()[ACCEPT_ENCODING], "zstd, gzip, deflate, x-snappy-framed, snappy");
        assert!(response.body().is_end_stream());
    }
    let default = serve(&RequestDecompressionLayer::new(), request("foo", Unread)).await.1;
    assert_eq!(default.headers()[ACCEPT_ENCODING], "zstd, gzip, deflate");
}

#[tokio::test]
async fn i04_too_many_codings_are_415() {
    for count in [6, 100, 8000] {
        let line = vec!["gzip"; count].join(",");
        let (seen, response) = serve(&layer(), request(&line, Unread)).await;
        assert!(seen.is_none());
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let mut request = request("gzip", Unread);
        for _ in 1..count {
            request.headers_mut().append(CONTENT_ENCODING, "gzip".parse().unwrap());
        }
        assert_eq!(serve(&layer(), request).await.1.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let coded = stack(&["gzip"; 5], &json(1000));
    let (seen, _) = serve(&layer(), request("gzip, gzip, gzip, gzip, gzip", full(coded))).await;
    assert_eq!(seen.unwrap().1.bytes(), json(1000));
}

#[tokio::test]
async fn c105_what_is_not_accepted_can_pass_through() {
    let pass = layer().pass_through_unaccepted(true);
    for coding in ["foo", "gzip, foo", "foo, gzip"] {
        let (seen, response) = serve(&pass, request(coding, full("bytes"))).await;
        let (headers, received) = seen.unwrap();
        assert_eq!(headers[CONTENT_ENCODING], coding);
        assert_eq!((received.bytes(), response.status()), (b"bytes".to_vec(), StatusCode::OK));
    }
    let (seen, _) = serve(&pass, request("gzip", full(encode("gzip", b"plain")))).await;
    assert_eq!(seen.unwrap().1.bytes(), b"plain");
    // Decoding switched off altogether says so.
    let off = RequestDecompressionLayer::new().no_gzip().no_deflate().no_zstd();
    let (_, response) = serve(&off, request("gzip", Unread)).await;
    assert_eq!(response.headers()[ACCEPT_ENCODING], "identity");
}

#[tokio::test]
async fn what_has_no_coding_passes() {
    for coding in [None, Some("identity"), Some("")] {
        let mut request = Request::new(full(json(5000)));
        request.headers_mut().insert("content-length", "5000".parse().unwrap());
        coding.map(|coding| request.headers_mut().insert(CONTENT_ENCODING, coding.parse().unwrap()));
        let (seen, response) = serve(&layer(), request).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(seen.unwrap().1.bytes(), json(5000), "{coding:?}");
    }
    // A part of a coded form cannot be decoded.
    let mut part = request("gzip", full("part"));
    part.headers_mut().insert("content-range", "bytes 0-3/100".parse().unwrap());
    let (headers, received) = serve(&layer(), part).await.0.unwrap();
    assert_eq!((&headers[CONTENT_ENCODING], received.bytes()), (&"gzip".parse().unwrap(), b"part".to_vec()));
}

#[tokio::test]
async fn h06_an_empty_body_is_empty_whatever_its_coding() {
    for codec in CODECS {
        let (seen, response) = serve(&layer(), request(codec.name(), Empty::<Bytes>::new())).await;
        let (headers, received) = seen.unwrap();
        assert!(headers.is_empty() && received.frames.is_empty() && received.error.is_none());
        assert_eq!(response.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn a_415_of_the_services_own_gains_nothing() {
    let service = layer().layer(tower::service_fn(async |_: Request<DecompressionBody<Full<Bytes>>>| {
        let mut response = Response::new(Empty::<Bytes>::new());
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Ok::<_, Infallible>(response)
    }));
    let response = service.oneshot(request("gzip", full(encode("gzip", b"<xml/>")))).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(response.headers().is_empty());
}

/// Bodies that cannot be decoded within 100,000 bytes, and the status for them.
fn bad_bodies(coding: &str) -> Vec<(&'static str, Vec<u8>, StatusCode)> {
    let coded = encode(coding, &json(20_000));
    let mut bodies = vec![
        ("noise", noise(1000), StatusCode::BAD_REQUEST),
        ("a beginning, then noise", [&coded[..20], &noise(1000)].concat(), StatusCode::BAD_REQUEST),
        ("cut", coded[..coded.len() / 2].to_vec(), StatusCode::BAD_REQUEST),
        ("one byte short", coded[..coded.len() - 1].to_vec(), StatusCode::BAD_REQUEST),
        ("one byte more", [&coded[..], b"x"].concat(), StatusCode::BAD_REQUEST),
        ("too long", encode(coding, &json(100_001)), StatusCode::PAYLOAD_TOO_LARGE),
    ];
    if coding != "br" && coding != "snappy" {
        // These have a checksum; zstd's encoder does not write it unasked.
        let mut wrong = coded.clone();
        let at = if coding == "gzip" { coded.len() - 8 } else { coded.len() - 1 };
        wrong[at] ^= 1;
        if coding != "zstd" {
            bodies.push(("wrong checksum", wrong, StatusCode::BAD_REQUEST));
        }
    }
    bodies
}

fn limited() -> RequestDecompressionLayer {
    layer().limits(Limits::requests().max_decoded(100_000))
}

#[tokio::test]
async fn h10_axum_answers_400_and_413() {
    let router = Router::new()
        .route("/bytes", post(async |body: Bytes| body.len().to_string()))
        .route("/json", post(async |_: axum::Json<serde_json::Value>| "read"))
        .route("/text", post(async |text: String| text.len().to_string()))
        .layer(limited());
    for codec in CODECS {
        for (what, body, status) in bad_bodies(codec.name()) {
            for path in ["/bytes", "/json", "/text"] {
                let request = Request::post(path)
                    .header(CONTENT_ENCODING, codec.name())
                    .header("content-type", "application/json")
                    .body(AxumBody::from(body.clone()))
                    .unwrap();
                let response = router.clone().oneshot(request).await.unwrap();
                assert_eq!(response.status(), status, "{codec:?} {path} {what}");
            }
        }
        let fits = request(codec.name(), AxumBody::from(encode(codec.name(), &json(100_000))));
        let (mut parts, body) = fits.into_parts();
        parts.uri = "/bytes".parse().unwrap();
        let response = router.clone().oneshot(Request::from_parts(parts, body)).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{codec:?}");
    }
}

#[tokio::test]
async fn h10_the_bodys_error_says_what_it_was() {
    for codec in CODECS {
        for (what, body, status) in bad_bodies(codec.name()) {
            let (seen, response) = serve(&limited(), request(codec.name(), Script::cut(&body, 999))).await;
            let error = seen.unwrap().1.error.unwrap();
            // The service has answered, knowing of the error.
            assert_eq!(response.status(), StatusCode::OK);
            match error.downcast_ref::<Error>() {
                Some(error) => {
                    assert!(error.is_malformed() || error.is_truncated(), "{codec:?} {what}: {error:?}");
                    assert_eq!(status, StatusCode::BAD_REQUEST, "{codec:?} {what}");
                }
                None => {
                    assert!(error.is::<LengthLimitError>(), "{codec:?} {what}: {error:?}");
                    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{codec:?} {what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_service_that_fails_because_of_the_body_is_answered_for() {
    type Answer = fn(BoxError) -> Result<Response<Empty<Bytes>>, BoxError>;
    let answers: [(Answer, bool); 3] = [
        (Err, true),
        (|_| Ok(Response::builder().status(500).body(Empty::new()).unwrap()), true),
        (|_| Ok(Response::builder().status(422).body(Empty::new()).unwrap()), false),
    ];
    for (answer, ours) in answers {
        let service = limited().layer(tower::service_fn(
            move |request: Request<DecompressionBody<Script>>| async move {
                match receive(request.into_body()).await.error {
                    Some(error) => answer(error),
                    None => Ok(Response::new(Empty::new())),
                }
            },
        ));
        for (what, body, status) in bad_bodies("gzip") {
            let request = request("gzip", Script::cut(&body, 999));
            let expected = if ours { status } else { StatusCode::UNPROCESSABLE_ENTITY };
            let response = service.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), expected, "{what}");
        }
        // Not for the body's own errors, which are none of ours.
        let steps = [Step::data(&encode("gzip", &json(5000))[..20]), Step::Error("reset")];
        let result = service.clone().oneshot(request("gzip", Script::new(steps))).await;
        match result {
            Err(error) => assert_eq!(error.to_string(), "reset"),
            Ok(response) => assert!([422, 500].contains(&response.status().as_u16())),
        }
    }
}

/// Writes `request` to a server that answers with the length of the body that it read, and reads until `until`
/// comes; then goes on with the next pair.
async fn talk(exchanges: &[(&[u8], &str)]) -> Vec<String> {
    let router = Router::new().route("/", post(async |body: Bytes| body.len().to_string())).layer(limited());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let mut connection = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut answers = Vec::new();
    for (request, until) in exchanges {
        connection.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        while !String::from_utf8_lossy(&answer).contains(until) {
            if connection.read_buf(&mut answer).await.unwrap() == 0 {
                break;
            }
        }
        answers.push(String::from_utf8(answer).unwrap());
    }
    server.abort();
    answers
}

#[tokio::test]
async fn c111_expect_100_continue_works_through_the_layer() {
    let coded = encode("gzip", &json(5000));
    let head = |coding: &str| {
        format!(
            "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n",
            coded.len()
        )
    };
    let answers = talk(&[(head("gzip").as_bytes(), "\r\n\r\n"), (&coded, "5000")]).await;
    assert!(answers[0].starts_with("HTTP/1.1 100 Continue\r\n\r\n"), "{answers:?}");
    assert!(answers[1].starts_with("HTTP/1.1 200 OK\r\n"), "{answers:?}");
    // Refused before the client is asked for the body.
    let answers = talk(&[(head("foo").as_bytes(), "\r\n\r\n")]).await;
    assert!(answers[0].starts_with("HTTP/1.1 415 "), "{answers:?}");
    assert!(answers[0].to_lowercase().contains("accept-encoding: zstd, br, gzip"), "{answers:?}");
}

#[tokio::test]
async fn h10_the_connection_goes_on_after_a_bad_body() {
    let head = |length: usize| {
        format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n")
    };
    let (good, bad) = (encode("gzip", &json(5000)), noise(100));
    let bad = [head(bad.len()).as_bytes(), &bad].concat();
    let good = [head(good.len()).as_bytes(), &good].concat();
    let answers = talk(&[(&bad, "body"), (&good, "5000")]).await;
    assert!(answers[0].starts_with("HTTP/1.1 400 "), "{answers:?}");
    assert!(answers[1].starts_with("HTTP/1.1 200 OK\r\n"), "{answers:?}");
}
