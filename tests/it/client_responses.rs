//! A client's responses: what is asked for, what is decoded, and what the head says then.

use crate::decoding::layer;
use crate::support::corpus::json;
use crate::support::encode::{encode, stack};
use crate::support::serve::{coding, receive};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tower::{Layer, ServiceExt};
use tower_compress::codec::CODECS;
use tower_compress::response::DecodedFrom;
use tower_compress::{CompressionLayer, DecompressionBody, DecompressionLayer, EtagPolicy};

type Fields<'a> = &'a [(&'a str, &'a str)];

fn headers(fields: Fields<'_>) -> HeaderMap {
    let parse =
        |(name, value): &(&str, &str)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap());
    fields.iter().map(parse).collect()
}

fn request(method: Method, fields: Fields<'_>) -> Request<()> {
    let mut request = Request::builder().method(method).body(()).unwrap();
    *request.headers_mut() = headers(fields);
    request
}

fn response(status: u16, fields: Fields<'_>, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status).body(Full::from(body)).unwrap();
    *response.headers_mut() = headers(fields);
    response
}

/// The response as the caller sees it, and the head of the request as the origin sees it.
async fn exchange(
    layer: &DecompressionLayer,
    request: Request<()>,
    response: Response<Full<Bytes>>,
) -> (Response<DecompressionBody<Full<Bytes>>>, HeaderMap) {
    let mut seen = HeaderMap::new();
    let service = layer.layer(tower::service_fn(|request: Request<()>| {
        seen = request.headers().clone();
        let response = response.clone();
        async move { Ok::<_, Infallible>(response) }
    }));
    let response = service.oneshot(request).await.unwrap();
    (response, seen)
}

#[tokio::test]
async fn j05_what_is_asked_for() {
    let asked = async |layer: &DecompressionLayer, fields: Fields<'_>| {
        let (_, seen) = exchange(layer, request(Method::GET, fields), response(200, &[], vec![])).await;
        seen.get(ACCEPT_ENCODING).map(|value| value.to_str().unwrap().to_owned())
    };
    let default = DecompressionLayer::new();
    assert_eq!(asked(&default, &[]).await.as_deref(), Some("zstd, gzip, deflate"));
    assert_eq!(asked(&default.clone().br(true).no_zstd(), &[]).await.as_deref(), Some("br, gzip, deflate"));
    assert_eq!(
        asked(&default.clone().no_gzip().no_zstd().no_deflate(), &[]).await.as_deref(),
        Some("identity")
    );
    for own in ["identity", "gzip", "", "br;q=0.1, *;q=0"] {
        assert_eq!(asked(&default, &[("accept-encoding", own)]).await.as_deref(), Some(own));
    }
    assert_eq!(asked(&default, &[("range", "bytes=100-")]).await, None);
    let both = [("range", "bytes=100-"), ("accept-encoding", "identity")];
    assert_eq!(asked(&default, &both).await.as_deref(), Some("identity"));
}

#[tokio::test]
async fn c114_who_asks_for_a_coding_gets_it() {
    let coded = encode("gzip", &json(5000));
    let answer = || response(200, &[("content-encoding", "gzip")], coded.clone());
    let own = || request(Method::GET, &[("accept-encoding", "gzip")]);
    let (raw, _) = exchange(&layer(), own(), answer()).await;
    assert_eq!(coding(&raw), "gzip");
    assert_eq!(receive(raw.into_body()).await.bytes(), coded);
    let (decoded, _) = exchange(&layer().always_decode(true), own(), answer()).await;
    assert_eq!(coding(&decoded), "identity");
    assert_eq!(receive(decoded.into_body()).await.bytes(), json(5000));
}

#[tokio::test]
async fn c113_what_became_false_goes_and_is_kept_in_an_extension() {
    for codec in CODECS {
        let coded = encode(codec.name(), &json(50_000));
        let length = coded.len().to_string();
        let answer = response(
            200,
            &[
                ("content-type", "application/json"),
                ("content-encoding", codec.name()),
                ("content-length", &length),
                ("accept-ranges", "bytes"),
                ("etag", "\"x\""),
                ("vary", "accept-encoding"),
                ("content-md5", "abc=="),
                ("repr-digest", "sha-256=:a:"),
            ],
            coded.clone(),
        );
        let (decoded, _) = exchange(&layer(), request(Method::GET, &[]), answer).await;
        let expected =
            headers(&[("content-type", "application/json"), ("etag", "\"x\""), ("vary", "accept-encoding")]);
        assert_eq!(decoded.headers(), &expected);
        let from = decoded.extensions().get::<DecodedFrom>().unwrap();
        assert_eq!(from.content_encoding(), codec.name());
        assert_eq!(from.content_length(), Some(coded.len() as u64));
        assert_eq!(decoded.body().size_hint().exact(), None);
        assert_eq!(decoded.body().received(), Some(0));
        let mut body = decoded.into_body();
        let mut plain = Vec::new();
        while let Some(frame) = body.frame().await {
            plain.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        assert_eq!(body.received(), Some(coded.len() as u64));
        assert!(plain == json(50_000));
    }
}

#[tokio::test]
async fn c113_the_entity_tag_is_the_users_choice() {
    let cases = [
        (EtagPolicy::Keep, "\"x~gzip\"", Some("\"x~gzip\"")),
        (EtagPolicy::Suffix, "\"x\"", Some("\"x\"")),
        (EtagPolicy::Weaken, "\"x\"", Some("W/\"x\"")),
        (EtagPolicy::Remove, "\"x\"", None),
    ];
    for (policy, tag, after) in cases {
        let answer = response(200, &[("content-encoding", "gzip"), ("etag", tag)], encode("gzip", b"x"));
        let (decoded, _) = exchange(&layer().etag(policy), request(Method::GET, &[]), answer).await;
        assert_eq!(decoded.headers().get("etag").map(|tag| tag.to_str().unwrap()), after, "{policy:?}");
    }
}

#[tokio::test]
async fn c113_trailers_are_treated_as_the_head_is() {
    let cases = [
        (EtagPolicy::Keep, Some("\"x\"")),
        (EtagPolicy::Weaken, Some("W/\"x\"")),
        (EtagPolicy::Remove, None),
    ];
    for (policy, after) in cases {
        let service = layer().etag(policy).layer(tower::service_fn(async |_: Request<()>| {
            let fields = [("etag", "\"x\""), ("repr-digest", "sha-256=:a:"), ("x-checked", "yes")];
            let body = Full::<Bytes>::from(encode("gzip", b"x"));
            let body = body.with_trailers(std::future::ready(Some(Ok(headers(&fields)))));
            Ok::<_, Infallible>(Response::builder().header(CONTENT_ENCODING, "gzip").body(body).unwrap())
        }));
        let response = service.oneshot(Request::new(())).await.unwrap();
        let received = receive(response.into_body()).await;
        let mut expected = headers(&[("x-checked", "yes")]);
        expected.extend(after.map(|tag| (http::header::ETAG, tag.parse().unwrap())));
        assert_eq!(received.trailers, Some(expected), "{policy:?}");
    }
}

#[tokio::test]
async fn l02_every_status_with_content_is_decoded() {
    for status in [200, 201, 203, 301, 400, 404, 500, 503] {
        let answer = response(status, &[("content-encoding", "gzip")], encode("gzip", &json(500)));
        let (decoded, _) = exchange(&layer(), request(Method::POST, &[]), answer).await;
        assert_eq!((decoded.status().as_u16(), coding(&decoded)), (status, "identity"));
        assert_eq!(receive(decoded.into_body()).await.bytes(), json(500));
    }
}

#[tokio::test]
async fn h06_what_has_no_content_of_its_own_passes_as_it_is() {
    let fields = [("content-encoding", "gzip"), ("content-length", "5000"), ("etag", "\"x\"")];
    let cases = [
        (Method::HEAD, 200),
        (Method::GET, 204),
        (Method::GET, 205),
        (Method::GET, 304),
        (Method::GET, 206),
        (Method::CONNECT, 200),
    ];
    for (method, status) in cases {
        let body = if status == 206 { b"part of a coded form".to_vec() } else { vec![] };
        let answer = response(status, &fields, body.clone());
        let (passed, _) = exchange(&layer(), request(method.clone(), &[]), answer).await;
        assert_eq!(passed.headers(), &headers(&fields), "{method} {status}");
        assert!(passed.extensions().get::<DecodedFrom>().is_none());
        assert_eq!(receive(passed.into_body()).await.bytes(), body);
    }
    // A GET whose content is empty has none to decode either, and no coding.
    let answer = response(200, &[("content-encoding", "gzip"), ("content-length", "0")], vec![]);
    let (empty, _) = exchange(&layer(), request(Method::GET, &[]), answer).await;
    assert!(empty.headers().is_empty() && empty.body().is_end_stream());
}

#[tokio::test]
async fn h08_what_is_not_known_is_left_in_place() {
    let gzip = encode("gzip", b"x");
    let untouched: [(&str, &[u8]); 4] =
        [("foo", b"bytes"), ("gzip, foo", b"bytes"), ("aws-chunked", b"bytes"), ("br", b"bytes")];
    for (field, body) in untouched {
        let answer = response(200, &[("content-encoding", field), ("content-length", "5")], body.to_vec());
        let (passed, _) = exchange(&layer().no_br(), request(Method::GET, &[]), answer).await;
        let expected = headers(&[("content-encoding", field), ("content-length", "5")]);
        assert_eq!(passed.headers(), &expected);
        assert_eq!(receive(passed.into_body()).await.bytes(), body);
    }
    // What lies over it is undone.
    let answer = response(200, &[("content-encoding", "foo, gzip")], gzip);
    let (decoded, _) = exchange(&layer(), request(Method::GET, &[]), answer).await;
    assert_eq!(decoded.headers()[CONTENT_ENCODING], "foo");
    assert_eq!(receive(decoded.into_body()).await.bytes(), b"x");
    let answer = response(200, &[("content-encoding", "br, gzip")], stack(&["br", "gzip"], b"x"));
    let (decoded, _) = exchange(&layer(), request(Method::GET, &[]), answer).await;
    assert!(decoded.headers().is_empty());
    assert_eq!(receive(decoded.into_body()).await.bytes(), b"x");
}

#[tokio::test]
async fn i04_too_many_codings_pass_as_they_are() {
    for count in [6, 100, 8000] {
        let field = vec!["gzip"; count].join(",");
        let answer = response(200, &[("content-encoding", &field)], b"bytes".to_vec());
        let (passed, _) = exchange(&layer(), request(Method::GET, &[]), answer).await;
        assert_eq!(passed.headers()[CONTENT_ENCODING], field);
        assert_eq!(receive(passed.into_body()).await.bytes(), b"bytes");
    }
}

#[tokio::test]
async fn h07_a_proxy_says_of_each_response_what_is_true_of_it() {
    for upstream_codes in [true, false] {
        for client_accepts in [true, false] {
            let upstream =
                CompressionLayer::new().br(true).layer(tower::service_fn(async |_: Request<()>| {
                    Ok::<_, Infallible>(
                        Response::builder()
                            .header("etag", "\"x\"")
                            .body(Full::<Bytes>::from(json(5000)))
                            .unwrap(),
                    )
                }));
            let decoding = if upstream_codes {
                layer()
            } else {
                layer().no_zstd().no_gzip().no_deflate().no_br().snappy(false).snappy_framed(false)
            };
            let client = decoding.etag(EtagPolicy::Weaken).layer(upstream);
            // The proxy asks for itself.
            let handler = tower::util::MapRequest::new(client, |_: Request<()>| Request::new(()));
            let proxy = CompressionLayer::new().layer(handler);
            let mut request = Request::new(());
            if client_accepts {
                request.headers_mut().insert(ACCEPT_ENCODING, "gzip".parse().unwrap());
            }
            let response = proxy.oneshot(request).await.unwrap();
            let said = coding(&response).to_owned();
            let tag = response.headers()["etag"].to_str().unwrap();
            assert_eq!(tag == "\"x\"", !upstream_codes && !client_accepts, "{tag}");
            assert_eq!(said == "gzip", client_accepts, "{upstream_codes} {client_accepts}");
            let received = receive(response.into_body()).await;
            assert_eq!(received.decoded(&said), json(5000));
        }
    }
}

/// A server that answers each request with a coded body whose end it holds back until it is told to send it.
/// Returns its address and how many connections it has seen.
async fn server(
    coded: Vec<u8>,
    coding: &'static str,
    end: Arc<Notify>,
    trailers: bool,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let (coded, end) = (coded.clone(), Arc::clone(&end));
            tokio::spawn(async move {
                let mut request = Vec::new();
                while connection.read_buf(&mut request).await.unwrap_or(0) > 0 {
                    if !request.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    request.clear();
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n",
                        coded.len()
                    );
                    connection.write_all(&[head.as_bytes(), &coded, b"\r\n"].concat()).await.unwrap();
                    end.notified().await;
                    let last: &[u8] = if trailers { b"0\r\nx-checked: yes\r\n\r\n" } else { b"0\r\n\r\n" };
                    connection.write_all(last).await.unwrap();
                }
            });
        }
    });
    (format!("http://{address}/"), connections)
}

#[tokio::test]
async fn b08_one_connection_for_two_requests() {
    for codec in CODECS {
        for trailers in [false, true] {
            let end = Arc::new(Notify::new());
            let coded = encode(codec.name(), &json(5000));
            let (uri, connections) = server(coded, codec.name(), Arc::clone(&end), trailers).await;
            let client = layer().layer(Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>());
            for _ in 0..2 {
                let request = Request::get(&uri).header("te", "trailers").body(Empty::new()).unwrap();
                let response = client.clone().oneshot(request).await.unwrap();
                assert_eq!(response.status(), StatusCode::OK);
                let mut body = response.into_body();
                // All of the coded form is there, its end included, but not the message's.
                let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
                assert_eq!(data, json(5000), "{codec:?}");
                assert!(!body.is_end_stream());
                end.notify_one();
                let rest = body.collect().await.unwrap();
                assert_eq!(rest.trailers().is_some(), trailers, "{codec:?}");
                assert!(rest.to_bytes().is_empty());
                // The connection's task has to run before it can be idle.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
            }
            assert_eq!(connections.load(Ordering::Relaxed), 1, "{codec:?} {trailers}");
        }
    }
}
