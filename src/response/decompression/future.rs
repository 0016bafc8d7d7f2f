use super::DecodedFrom;
use super::layer::DecompressionLayer;
use crate::body::{DecompressionBody, Verdict};
use crate::policy::{RequestFacts, may_decode, rewrite_decoded};
use http::header::CONTENT_ENCODING;
use http::{Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The response of [`Decompression`](super::Decompression).
    pub struct DecompressionFuture<F> {
        #[pin]
        inner: F,
        plan: Plan,
    }
}

/// What is known of a request when its response comes.
pub(super) struct Plan {
    layer: DecompressionLayer,
    facts: RequestFacts,
    /// Whether the answer is for us to decode.
    wanted: bool,
}

impl<F> DecompressionFuture<F> {
    pub(super) fn new(inner: F, plan: Plan) -> Self {
        Self { inner, plan }
    }
}

impl Plan {
    /// `asked`: whether the caller negotiated itself.
    pub(super) fn new<B>(layer: &DecompressionLayer, request: &Request<B>, asked: bool) -> Self {
        Self { layer: layer.clone(), facts: RequestFacts::of(request), wanted: layer.always || !asked }
    }

    fn respond<B: Body>(&self, response: Response<B>) -> Response<DecompressionBody<B>> {
        let coded = response.headers().contains_key(CONTENT_ENCODING);
        if !coded || !self.wanted || !may_decode(self.facts, &response) {
            return response.map(DecompressionBody::pass);
        }
        let (mut parts, body) = response.into_parts();
        let decoding = &self.layer.decoding;
        let body = match decoding.decompressor(&parts.headers) {
            Ok((decompressor, left)) if !decompressor.is_identity() => {
                parts.extensions.insert(DecodedFrom::of(&parts.headers, body.size_hint().exact()));
                rewrite_decoded(&mut parts.headers, left);
                self.layer.etag.rewrite(&mut parts.headers, "");
                DecompressionBody::decode(body, decompressor, Verdict::default()).etag(self.layer.etag)
            }
            _ => DecompressionBody::pass(body),
        };
        Response::from_parts(parts, body)
    }
}

impl<F, B, E> Future for DecompressionFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<DecompressionBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.inner.poll(cx).map_ok(|response| this.plan.respond(response))
    }
}

impl<F> fmt::Debug for DecompressionFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecompressionFuture").finish_non_exhaustive()
    }
}
