//! C: methods, statuses and upgrades.

use crate::conformance::all_hold;
use crate::conformance::case::get;
use crate::conformance::check::{
    coded, decodes, field, head_as_the_handlers, identity, no_body, no_field, status, that,
};
use crate::conformance::exchange::Protocol;
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::json;
use axum::Router;
use axum::body::Body;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::WebSocket;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_compress::{CompressionLayer, EncoderPool};

fn layer() -> CompressionLayer {
    CompressionLayer::new().min_size(0).pool(EncoderPool::new())
}

/// An axum server, for HTTP/1.1 and HTTP/2, until the test ends.
async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(app.clone());
            tokio::spawn(async move {
                let mut server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                server.http2().enable_connect_protocol();
                let _ = server.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

#[test]
fn c01_statuses_without_content_gain_no_bytes() {
    for coding in ["gzip", "zstd"] {
        let case = |reply: Reply| {
            let case = get(coding).min_size(0).reply(reply.no_content_type().field("x-a", "b"));
            case.expect([
                no_body(),
                no_field("content-encoding"),
                no_field("transfer-encoding"),
                field("x-a", &["b"]),
            ])
        };
        all_hold([
            case(Reply::empty().status(204)).expect([no_field("content-length")]),
            case(Reply::of([]).status(204)).expect([no_field("content-length")]),
            case(Reply::empty().status(304).field("etag", "\"x\"")).expect([field("etag", &["\"x\""])]),
            case(Reply::empty().status(205)),
            // A handler that gives 204 a body, which hyper leaves out.
            case(Reply::text("wrong").status(204))
                .over(&[Protocol::H11])
                .expect([no_field("content-length")]),
        ]);
    }
}

#[test]
fn c02_an_empty_body_is_not_announced_as_coded() {
    let codings = ["gzip", "zstd", "br", "x-snappy-framed"];
    let case = |coding, reply: Reply| {
        let offered = &["zstd", "br", "gzip", "x-snappy-framed"];
        get(coding).offering(offered).min_size(0).reply(reply).expect([decodes()])
    };
    for coding in codings {
        // HTTP/2 says it with the head.
        let empty = || {
            [
                identity(),
                that("no length but 0", |answer| {
                    answer.members("content-length").concat().trim_matches('0').is_empty()
                }),
            ]
        };
        all_hold([
            case(coding, Reply::empty()).expect(empty()),
            case(coding, Reply::text("")).expect(empty()),
            case(coding, Reply::empty().status(404)).expect(empty()),
            case(coding, Reply::of([Step::Empty, Step::Empty])).expect(empty()),
            // Not known to be empty when the head goes out: whatever it says, the body agrees.
            case(coding, Reply::of([Step::Yield])),
            case(coding, Reply::of([Step::Yield, Step::Yield, Step::Yield, Step::Yield, Step::Empty])),
            case(coding, Reply::of([Step::Trailers(vec![("x-a", "b")])])),
            case(coding, Reply::of([Step::Yield, Step::Trailers(vec![("x-a", "b")])])),
        ]);
    }
}

async fn heads(address: SocketAddr, path: &str, accept: &str) -> (HeaderMap, HeaderMap) {
    let client = reqwest::Client::new();
    let ask = |method: Method| {
        let request =
            client.request(method, format!("http://{address}{path}")).header("accept-encoding", accept);
        async move {
            let response = request.send().await.unwrap();
            let headers = response.headers().clone();
            let length = response.bytes().await.unwrap().len();
            (headers, length)
        }
    };
    let (get, length) = ask(Method::GET).await;
    let (head, none) = ask(Method::HEAD).await;
    assert_eq!(none, 0);
    if let Some(said) = head.get("content-length") {
        assert_eq!(said.to_str().unwrap(), length.to_string(), "{path} {accept}");
    }
    (get, head)
}

/// axum runs the GET handler for HEAD and then drops the body; a file server answers HEAD with a length alone.
#[tokio::test]
async fn c03_head_says_nothing_that_get_would_not() {
    let file = |method: Method| async move {
        let body = if method == Method::HEAD { Body::empty() } else { Body::from(json(5000)) };
        ([("content-length", "5000"), ("etag", "\"x\"")], body)
    };
    let app = Router::new()
        .route("/text", axum::routing::get(|| async { ([("etag", "\"x\"")], json(5000)) }))
        .route("/short", axum::routing::get(|| async { "short" }))
        .route("/empty", axum::routing::get(|| async { "" }))
        .route(
            "/stream",
            axum::routing::get(|| async { Body::new(crate::support::Script::cut(&json(200_000), 999)) }),
        )
        .route("/file", axum::routing::any(file))
        .layer(layer().min_size(1024));
    let address = serve(app).await;
    for path in ["/text", "/short", "/empty", "/stream", "/file"] {
        for accept in ["gzip", "zstd, gzip", "identity"] {
            let (get, head) = heads(address, path, accept).await;
            for name in ["content-encoding", "vary", "etag", "content-type"] {
                assert_eq!(get.get(name), head.get(name), "{path} {accept} {name}");
            }
        }
    }
}

/// A frame from a client, which must be masked (RFC 6455 section 5.3).
fn client_frame(text: &str) -> Vec<u8> {
    let mask = [1, 2, 3, 4];
    let masked = text.bytes().enumerate().map(|(at, byte)| byte ^ mask[at % 4]);
    let head = [0x81, 0x80 | u8::try_from(text.len()).unwrap()];
    head.into_iter().chain(mask).chain(masked).collect()
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn c04_a_websocket_opens_through_the_layer() {
    let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) };
    let refuse = || async { (StatusCode::BAD_REQUEST, json(2000)).into_response() };
    let app = Router::new()
        .route("/socket", axum::routing::any(upgrade))
        .route("/refused", axum::routing::any(refuse))
        .layer(layer());
    let address = serve(app).await;
    let request = |path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        )
    };

    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request("/socket").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    for field in
        ["upgrade: websocket", "connection: upgrade", "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="]
    {
        assert!(head.contains(field), "{head}");
    }
    assert!(!head.contains("content-encoding") && !head.contains("vary"), "{head}");
    for text in ["one", "two", "three"] {
        stream.write_all(&client_frame(text)).await.unwrap();
        let mut frame = vec![0; 2 + text.len()];
        stream.read_exact(&mut frame).await.unwrap();
        assert_eq!(&frame[2..], text.as_bytes());
    }

    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request("/refused").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    assert!(head.starts_with("http/1.1 400 ") && head.contains("content-encoding: zstd"), "{head}");
}

/// A head, in lower case.
async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap().to_ascii_lowercase()
}

/// Extended CONNECT (RFC 8441): a tunnel in a stream of HTTP/2, opened with 200.
#[tokio::test]
async fn c04_extended_connect_is_a_tunnel() {
    let upgrade = |upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(echo) };
    let app = Router::new().route("/socket", axum::routing::any(upgrade)).layer(layer());
    let stream = TcpStream::connect(serve(app).await).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    // Any answer proves that the server's settings have come, and with them that it allows this.
    let probe = Request::get("http://localhost/").body(Empty::<Bytes>::new()).unwrap();
    sender.send_request(probe).await.unwrap();
    let request = Request::builder()
        .method(Method::CONNECT)
        .uri("http://localhost/socket")
        .extension(hyper::ext::Protocol::from_static("websocket"))
        .header("sec-websocket-version", "13")
        .header("accept-encoding", "gzip, zstd")
        .body(Empty::<Bytes>::new())
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key("content-encoding") && !response.headers().contains_key("vary"));
    let mut tunnel = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
    for text in ["one", "two", "three"] {
        tunnel.write_all(&client_frame(text)).await.unwrap();
        let mut frame = vec![0; 2 + text.len()];
        tunnel.read_exact(&mut frame).await.unwrap();
        assert_eq!(&frame[2..], text.as_bytes());
    }
}

#[test]
fn c05_http_1_0_gets_a_body_that_it_can_delimit() {
    let case = |reply: Reply| {
        get("gzip").over(&[Protocol::H10]).reply(reply).expect([no_field("transfer-encoding"), decodes()])
    };
    let keep_alive = |reply: Reply| case(reply).request_field("connection", "keep-alive");
    all_hold([
        case(Reply::text(json(10_000)).with_length()).expect([coded("gzip")]),
        keep_alive(Reply::text(json(10_000)).with_length()).expect([coded("gzip")]),
        keep_alive(Reply::text(json(200_000)).with_length()).expect([identity(), head_as_the_handlers()]),
        keep_alive(Reply::cut(&json(200_000), 1000)),
        keep_alive(Reply::of([Step::Data(json(300).into()), Step::Yield, Step::Data(json(5000).into())])),
        keep_alive(Reply::text("short")).expect([status(200)]),
    ]);
}
