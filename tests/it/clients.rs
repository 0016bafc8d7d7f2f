//! hyper's and reqwest's clients with our layers, against a server with our layers, over connections.

use crate::support::corpus::json;
use axum::Router;
use axum::extract::Request as AxumRequest;
use axum::response::{IntoResponse, Redirect};
use axum::routing::{any, post};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::{Layer, ServiceBuilder, ServiceExt};
use tower_compress::client::ReqwestService;
use tower_compress::response::DecodedFrom;
use tower_compress::{
    CompressionBody, CompressionLayer, DecompressionLayer, RequestCompressionLayer, RequestDecompressionLayer,
};

/// What the server saw before it decoded: the coding, the length that was said, and whether it was chunked.
async fn look(request: AxumRequest, next: axum::middleware::Next) -> axum::response::Response {
    let headers = request.headers();
    let text = |name| headers.get(name).map_or("none", |value: &http::HeaderValue| value.to_str().unwrap());
    let seen = [text(CONTENT_ENCODING), text(CONTENT_LENGTH), text(TRANSFER_ENCODING)].join(" ");
    let mut response = next.run(request).await;
    response.headers_mut().insert("x-seen", seen.parse().unwrap());
    response
}

/// A server that sends back what it is sent.
async fn server(decoding: RequestDecompressionLayer) -> String {
    let layers = ServiceBuilder::new()
        .layer(axum::middleware::from_fn(look))
        .layer(CompressionLayer::new().br(true))
        .layer(decoding);
    let router = Router::new()
        .route("/echo", post(async |body: Bytes| body))
        .route("/moved", any(async || Redirect::temporary("/echo")))
        .route("/away", any(async |to: axum::extract::RawQuery| Redirect::temporary(&to.0.unwrap())))
        .route("/length", post(needs_length))
        .layer(layers);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    origin
}

/// A service that insists on a length, as gateways do: what it sees is decoded, so it looks at what was said.
async fn needs_length(request: AxumRequest) -> axum::response::Response {
    let chunked = request.headers().contains_key(TRANSFER_ENCODING);
    if chunked { StatusCode::LENGTH_REQUIRED.into_response() } else { StatusCode::OK.into_response() }
}

fn seen<B>(response: &Response<B>) -> Vec<String> {
    let seen = response.headers()["x-seen"].to_str().unwrap();
    seen.split(' ').map(str::to_owned).collect()
}

#[tokio::test]
async fn hypers_client_in_both_directions() {
    let origin = server(RequestDecompressionLayer::new().br(true)).await;
    let hyper = Client::builder(TokioExecutor::new()).build_http::<CompressionBody<Full<Bytes>>>();
    for coding in ["gzip", "deflate", "zstd", "br"] {
        let client = ServiceBuilder::new()
            .layer(RequestCompressionLayer::new().coding(coding))
            .layer(DecompressionLayer::new().br(true))
            .service(hyper.clone());
        let request =
            Request::post(format!("{origin}/echo")).body(Full::<Bytes>::from(json(100_000))).unwrap();
        let response = client.oneshot(request).await.unwrap();
        let seen = seen(&response);
        assert!(
            seen[0] == coding && seen[1].parse::<usize>().unwrap() < 50_000 && seen[2] == "none",
            "{seen:?}"
        );
        let from = response.extensions().get::<DecodedFrom>().unwrap().clone();
        assert_eq!(from.content_encoding(), "zstd");
        assert!(response.into_body().collect().await.unwrap().to_bytes() == json(100_000));
    }
}

#[tokio::test]
async fn a_server_that_accepts_less_is_learned_about() {
    let origin = server(RequestDecompressionLayer::new().no_zstd().no_deflate()).await;
    let hyper = Client::builder(TokioExecutor::new()).build_http::<CompressionBody<Full<Bytes>>>();
    let layer = RequestCompressionLayer::new().coding("zstd");
    for _ in 0..3 {
        let request = Request::post(format!("{origin}/echo")).body(Full::<Bytes>::from(json(5000))).unwrap();
        let response = layer.layer(hyper.clone()).oneshot(request).await.unwrap();
        assert_eq!((response.status(), &*seen(&response)[0]), (StatusCode::OK, "gzip"));
        assert!(response.into_body().collect().await.unwrap().to_bytes() == json(5000));
    }
    // zstd was sent once, then gzip three times.
    assert_eq!(layer.stats().coded, 4);
}

/// reqwest's client with our layers around it, and none of its own decoding.
fn reqwest_client() -> reqwest::Client {
    reqwest::Client::builder().no_gzip().no_deflate().no_zstd().no_brotli().build().unwrap()
}

#[tokio::test]
async fn reqwests_client_in_both_directions() {
    let origin = server(RequestDecompressionLayer::new()).await;
    let client = ServiceBuilder::new()
        .layer(RequestCompressionLayer::new())
        .layer(DecompressionLayer::new())
        .service(ReqwestService::new(reqwest_client()));
    let request = Request::post(format!("{origin}/echo")).body(Full::<Bytes>::from(json(100_000))).unwrap();
    let response = client.clone().oneshot(request).await.unwrap();
    let said = seen(&response);
    assert!(said[0] == "gzip" && said[1].parse::<usize>().unwrap() < 50_000 && said[2] == "none", "{said:?}");
    assert!(response.extensions().get::<DecodedFrom>().is_some());
    assert!(response.into_body().collect().await.unwrap().to_bytes() == json(100_000));

    // A request made with reqwest itself, and an answer of its own kind.
    let request = reqwest_client().post(format!("{origin}/echo")).body(json(5000)).build().unwrap();
    let request = Request::<reqwest::Body>::try_from(request).unwrap();
    let response = client.oneshot(request).await.unwrap();
    assert_eq!(seen(&response)[0], "gzip");
    let response = reqwest::Response::from(response.map(reqwest::Body::wrap));
    assert!(response.bytes().await.unwrap() == json(5000));
}

#[tokio::test]
async fn a_request_of_http_1_0_keeps_its_body_beside_trailers() {
    // Of one without a length, hyper sends none of it.
    let origin = server(RequestDecompressionLayer::new()).await;
    let layer = RequestCompressionLayer::new();
    for length in [500, 5000, 300_000] {
        let request = || {
            let trailers = async { Some(Ok(HeaderMap::new())) };
            let body = BodyExt::boxed(Full::<Bytes>::from(json(length)).with_trailers(trailers));
            Request::post(format!("{origin}/echo")).version(Version::HTTP_10).body(body).unwrap()
        };
        let hyper = Client::builder(TokioExecutor::new()).build_http();
        let response = layer.layer(hyper).oneshot(request()).await.unwrap();
        assert!(response.into_body().collect().await.unwrap().to_bytes() == json(length), "{length}");
        let reqwest = ReqwestService::new(reqwest_client());
        for response in
            [layer.layer(reqwest.clone()).oneshot(request()).await, reqwest.clone().oneshot(request()).await]
        {
            let body = response.unwrap().into_body();
            assert!(body.collect().await.unwrap().to_bytes() == json(length), "{length}");
        }
    }
}

#[tokio::test]
async fn c098_a_redirect_carries_the_coded_body_along() {
    let origin = server(RequestDecompressionLayer::new()).await;
    let client = RequestCompressionLayer::new().layer(ReqwestService::new(reqwest_client()));
    for (length, coding) in [(5000, "gzip"), (500, "none")] {
        let request =
            Request::post(format!("{origin}/moved")).body(Full::<Bytes>::from(json(length))).unwrap();
        let response = client.clone().oneshot(request).await.unwrap();
        // A 307, which reqwest follows if it still has the body.
        assert_eq!((response.status(), &*seen(&response)[0]), (StatusCode::OK, coding));
        assert!(response.into_body().collect().await.unwrap().to_bytes() == json(length));
    }
}

#[tokio::test]
async fn c098_what_another_origin_says_after_a_redirect_is_not_learned_of_the_first() {
    let origin = server(RequestDecompressionLayer::new()).await;
    let other = server(RequestDecompressionLayer::new().no_gzip()).await;
    let layer = RequestCompressionLayer::new();
    let client = layer.layer(ReqwestService::new(reqwest_client()));
    let to = async |target: String| {
        let request = Request::post(target).body(Full::<Bytes>::from(json(5000))).unwrap();
        let response = client.clone().oneshot(request).await.unwrap();
        let coding = seen(&response)[0].clone();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.into_body().collect().await.unwrap().to_bytes() == json(5000));
        coding
    };
    // The other one answers 415, and with what it accepts the request is made again: it is redirected once more.
    assert_eq!(to(format!("{origin}/away?{other}/echo")).await, "zstd");
    assert_eq!(layer.stats().coded, 2);
    assert_eq!(to(format!("{origin}/echo")).await, "gzip");
    // What is asked for directly is learned.
    assert_eq!(to(format!("{other}/echo")).await, "zstd");
    assert_eq!(layer.stats().coded, 5);
    assert_eq!(to(format!("{other}/echo")).await, "zstd");
    assert_eq!(layer.stats().coded, 6);
}

#[tokio::test]
async fn c098_a_large_picture_in_memory_keeps_its_length_and_follows_a_redirect() {
    let origin = server(RequestDecompressionLayer::new()).await;
    let client = RequestCompressionLayer::new().layer(ReqwestService::new(reqwest_client()));
    for path in ["length", "moved"] {
        let picture = Full::<Bytes>::from(json(1_500_000));
        let request = Request::post(format!("{origin}/{path}")).header("content-type", "image/png");
        let response = client.clone().oneshot(request.body(picture).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn j02_a_server_that_insists_on_a_length() {
    let origin = server(RequestDecompressionLayer::new()).await;
    let client = |layer: RequestCompressionLayer| layer.layer(ReqwestService::new(reqwest_client()));
    let in_memory =
        || Request::post(format!("{origin}/length")).body(Full::<Bytes>::from(json(5000))).unwrap();
    let stream = || {
        let frames =
            tokio_stream::iter((0..10).map(|_| Ok::<_, std::io::Error>(Frame::data(Bytes::from(json(500))))));
        // Pending before each frame, so that looking at what is ready finds nothing.
        let frames = tokio_stream::StreamExt::then(frames, async |frame| {
            tokio::task::yield_now().await;
            frame
        });
        Request::post(format!("{origin}/length")).body(StreamBody::new(Box::pin(frames))).unwrap()
    };
    let status = async |status: Result<Response<reqwest::Body>, _>| {
        status.map_err(|_: tower_compress::BoxError| ()).unwrap().status()
    };
    let layer = RequestCompressionLayer::new();
    assert_eq!(status(client(layer.clone()).oneshot(in_memory()).await).await, StatusCode::OK);
    assert_eq!(status(client(layer.clone()).oneshot(stream()).await).await, StatusCode::LENGTH_REQUIRED);
    assert_eq!(status(client(layer.wait_for(1 << 20)).oneshot(stream()).await).await, StatusCode::OK);
}
