//! Moving over from tower-http is one changed `use` line: the same code, compiled against both.

/// What tower-http's documentation of its compression shows, with nothing but the `use` lines left open.
macro_rules! documented {
    ($name:ident, $($uses:item)+) => {
        mod $name {
            $($uses)+
            use super::{Text, get, handle};
            use http::{Extensions, HeaderMap, Request, Response, StatusCode, Version};
            use http_body_util::{BodyExt, Full};
            use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

            #[tokio::test]
            async fn the_layer_in_a_builder() {
                let mut service = ServiceBuilder::new().layer(CompressionLayer::new()).service_fn(handle);
                let response = service.ready().await.unwrap().call(get("gzip")).await.unwrap();
                assert_eq!(response.headers()["content-encoding"], "gzip");
                assert!(super::length(response.into_body()).await < super::SIZE);
            }

            #[tokio::test]
            async fn codings_are_chosen() {
                let layer = CompressionLayer::new().gzip(true).deflate(true).br(true).zstd(true);
                let only_deflate = layer.clone().no_gzip().no_br().no_zstd();
                let service = ServiceBuilder::new().layer(only_deflate).service(service_fn(handle));
                let response = service.oneshot(get("gzip, deflate, br")).await.unwrap();
                assert_eq!(response.headers()["content-encoding"], "deflate");
                let only_br = layer.gzip(false).deflate(false).zstd(false);
                let service = ServiceBuilder::new().layer(only_br).service_fn(handle);
                let response = service.oneshot(get("gzip, deflate, br")).await.unwrap();
                assert_eq!(response.headers()["content-encoding"], "br");
                let none = CompressionLayer::new().no_gzip().no_br().no_zstd().no_deflate();
                let response = ServiceBuilder::new().layer(none).service_fn(handle).oneshot(get("gzip")).await;
                assert!(!response.unwrap().headers().contains_key("content-encoding"));
            }

            #[tokio::test]
            async fn the_quality_is_set() {
                let levels =
                    [CompressionLevel::Fastest, CompressionLevel::Default, CompressionLevel::Best, CompressionLevel::Precise(4)];
                for level in levels {
                    let layer = CompressionLayer::new().quality(level);
                    let response = ServiceBuilder::new().layer(layer).service_fn(handle).oneshot(get("zstd")).await;
                    assert_eq!(response.unwrap().headers()["content-encoding"], "zstd");
                    let service = Compression::new(service_fn(handle)).quality(level);
                    assert!(service.oneshot(get("gzip")).await.unwrap().headers().contains_key("content-encoding"));
                }
            }

            #[tokio::test]
            async fn the_service_by_itself() {
                let mut service =
                    Compression::new(service_fn(handle)).gzip(true).deflate(false).br(false).zstd(false);
                let _: &_ = service.get_ref();
                let _: &mut _ = service.get_mut();
                let response = service.clone().oneshot(get("gzip, zstd")).await.unwrap();
                assert_eq!(response.headers()["content-encoding"], "gzip");
                let inner = service.no_gzip().no_deflate().no_br().no_zstd().into_inner();
                let response = inner.oneshot(get("gzip")).await.unwrap();
                assert!(!response.headers().contains_key("content-encoding"));
                let layer = Compression::<()>::layer();
                let _: Compression<_, DefaultPredicate> = ServiceBuilder::new().layer(layer).service_fn(handle);
            }

            #[tokio::test]
            async fn predicates_are_combined() {
                let predicate = SizeAbove::new(256)
                    // still don't compress gRPC
                    .and(NotForContentType::GRPC)
                    // still don't compress images
                    .and(NotForContentType::IMAGES)
                    // also don't compress JSON
                    .and(NotForContentType::const_new("application/json"))
                    .and(NotForContentType::new("text/x-log"))
                    .and(NotForContentType::SSE);
                for (content_type, coded) in
                    [("text/plain", true), ("application/json", false), ("image/png", false), ("text/x-log", false)]
                {
                    let layer = CompressionLayer::new().compress_when(predicate.clone());
                    let response = ServiceBuilder::new().layer(layer).service_fn(handle);
                    let response = response.oneshot(super::get_type("gzip", content_type)).await.unwrap();
                    assert_eq!(response.headers().contains_key("content-encoding"), coded, "{content_type}");
                }
                let _ = CompressionLayer::new().compress_when(DefaultPredicate::new().and(SizeAbove::default()));
                let _ = CompressionLayer::new().compress_when(Some(DefaultPredicate::default()));
            }

            fn only_ok(status: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
                status == StatusCode::OK
            }

            /// A predicate of one's own.
            #[derive(Clone)]
            struct Always;

            impl Predicate for Always {
                fn should_compress<B>(&self, _: &http::Response<B>) -> bool
                where
                    B: http_body::Body,
                {
                    true
                }
            }

            #[tokio::test]
            async fn functions_closures_and_types_are_predicates() {
                let service = Compression::new(service_fn(handle)).compress_when(only_ok);
                assert!(service.oneshot(get("gzip")).await.unwrap().headers().contains_key("content-encoding"));
                let never = |_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions| false;
                let service = Compression::new(service_fn(handle)).compress_when(never);
                assert!(!service.oneshot(get("gzip")).await.unwrap().headers().contains_key("content-encoding"));
                let service = Compression::new(service_fn(handle)).compress_when(Always);
                assert!(service.oneshot(get("gzip")).await.unwrap().headers().contains_key("content-encoding"));
            }

            #[tokio::test]
            async fn bodies_give_their_inner_one_back() {
                let service = ServiceBuilder::new().layer(CompressionLayer::new()).service_fn(handle);
                let mut response = service.oneshot(get("identity")).await.unwrap();
                let body: &mut CompressionBody<Text> = response.body_mut();
                let _: &Text = body.get_ref();
                let _: &mut Text = body.get_mut();
                let _: Text = response.into_body().into_inner();
            }

            #[tokio::test]
            async fn requests_are_decoded() {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                std::io::Write::write_all(&mut encoder, b"Hello?").unwrap();
                let request = Request::builder().header("content-encoding", "gzip");
                let request = request.body(Full::from(encoder.finish().unwrap())).unwrap();
                let mut server = ServiceBuilder::new()
                    .layer(RequestDecompressionLayer::new().gzip(true).no_br().pass_through_unaccepted(false))
                    .service(service_fn(handler));
                async fn handler(req: Request<DecompressionBody<Text>>) -> Result<Response<Text>, BoxError> {
                    let data = req.into_body().collect().await?.to_bytes();
                    assert_eq!(&data[..], b"Hello?");
                    Ok(Response::new(Full::from("Hello, World!")))
                }
                server.ready().await.unwrap().call(request).await.unwrap();
            }

            #[tokio::test]
            async fn responses_are_decoded() {
                let service = Compression::new(service_fn(handle));
                let mut client = ServiceBuilder::new().layer(DecompressionLayer::new()).service(service);
                let mut request = get("gzip");
                request.headers_mut().remove("accept-encoding");
                let response = client.ready().await.unwrap().call(request).await.unwrap();
                assert!(!response.headers().contains_key("content-encoding"));
                let bytes = response.into_body().collect().await.unwrap().to_bytes().to_vec();
                assert_eq!(bytes, "x".repeat(super::SIZE).into_bytes());
                let _ = DecompressionLayer::new().gzip(true).deflate(false).br(true).zstd(true).no_zstd();
            }

            /// As people write it in axum.
            #[tokio::test]
            async fn a_router_takes_the_layer() {
                let app = axum::Router::<()>::new()
                    .route("/", axum::routing::get(|| async { "x".repeat(super::SIZE) }))
                    .layer(ServiceBuilder::new().layer(CompressionLayer::new()));
                let request = get("gzip").map(|_| axum::body::Body::empty());
                let response = app.oneshot(request).await.unwrap();
                assert_eq!(response.headers()["content-encoding"], "gzip");
            }
        }
    };
}

documented! {
    theirs,
    use tower_http::compression::predicate::{NotForContentType, SizeAbove};
    use tower_http::compression::{
        Compression, CompressionBody, CompressionLayer, CompressionLevel, DefaultPredicate, Predicate,
    };
    use tower_http::decompression::{DecompressionBody, DecompressionLayer, RequestDecompressionLayer};
    use tower_http::BoxError;
}

documented! {
    ours,
    use tower_compress::predicate::{NotForContentType, SizeAbove};
    use tower_compress::{
        BoxError, Compression, CompressionBody, CompressionLayer, CompressionLevel, DecompressionBody,
        DecompressionLayer, DefaultPredicate, Predicate, RequestDecompressionLayer,
    };
}

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;

type Text = Full<Bytes>;

const SIZE: usize = 5000;

fn get(accept: &str) -> Request<Text> {
    get_type(accept, "text/plain")
}

fn get_type(accept: &str, content_type: &str) -> Request<Text> {
    let request = Request::builder().header("accept-encoding", accept).header("accept", content_type);
    request.body(Full::default()).unwrap()
}

/// Answers with the type that was asked for.
async fn handle(request: Request<Text>) -> Result<Response<Text>, Infallible> {
    let content_type = request.headers()["accept"].clone();
    let mut response = Response::new(Full::from("x".repeat(SIZE)));
    response.headers_mut().insert("content-type", content_type);
    Ok(response)
}

async fn length<B>(body: B) -> usize
where
    B: Body,
    B::Error: std::fmt::Debug,
{
    body.collect().await.unwrap().to_bytes().len()
}
