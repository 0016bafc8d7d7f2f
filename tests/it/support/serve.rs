//! One response through a layer, without a connection.

use super::decode::decode;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Request, Response, Version};
use http_body::Body;
use http_body_util::BodyExt;
use std::convert::Infallible;
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::predicate::Predicate;
use tower_compress::{BoxError, CompressionBody, CompressionLayer};

/// What came out of a body, frame by frame.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<BoxError>,
}

impl Received {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.frames.concat()
    }

    pub(crate) fn decoded(&self, coding: &str) -> Vec<u8> {
        assert!(self.error.is_none(), "{:?}", self.error);
        decode(coding, &self.bytes()).unwrap()
    }
}

/// Reads a body to its end.
pub(crate) async fn receive<B>(body: B) -> Received
where
    B: Body<Data = Bytes, Error = BoxError>,
{
    let mut body = std::pin::pin!(body);
    let mut received = Received::default();
    while let Some(frame) = body.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => received.frames.push(data),
            Ok(Err(other)) => received.trailers = other.into_trailers().ok(),
            Err(error) => {
                received.error = Some(error);
                break;
            }
        }
    }
    received
}

/// The layer's answer to a GET with this `Accept-Encoding`, when the service answers with `response`.
pub(crate) async fn answer<P, B>(
    layer: &CompressionLayer<P>,
    accept: &str,
    response: Response<B>,
) -> Response<CompressionBody<B>>
where
    P: Predicate,
    B: Body,
    B::Error: Into<BoxError>,
{
    answer_to(layer, Version::HTTP_11, accept, response).await
}

/// The same for a client of this version.
pub(crate) async fn answer_to<P, B>(
    layer: &CompressionLayer<P>,
    version: Version,
    accept: &str,
    response: Response<B>,
) -> Response<CompressionBody<B>>
where
    P: Predicate,
    B: Body,
    B::Error: Into<BoxError>,
{
    let request = Request::get("/").version(version).header(ACCEPT_ENCODING, accept).body(()).unwrap();
    let mut response = Some(response);
    let service = ServiceBuilder::new().layer(layer).service(tower::service_fn(move |_: Request<()>| {
        let response = response.take().unwrap();
        async move { Ok::<_, Infallible>(response) }
    }));
    service.oneshot(request).await.unwrap()
}

/// A 200 with this body, as text.
pub(crate) fn text<B>(body: B) -> Response<B> {
    Response::builder().header(CONTENT_TYPE, "text/plain").body(body).unwrap()
}

/// The coding that a response says it has.
pub(crate) fn coding<B>(response: &Response<B>) -> &str {
    response.headers().get(CONTENT_ENCODING).map_or("identity", |value| value.to_str().unwrap())
}
