use super::{CodingConfig, Encode, NotAcceptable};
use crate::body::{BodyWriter, BytesWriter, WriterBody, WriterOptions};
use crate::error::BoxError;
use crate::response::{Negotiation, is_within};
use axum_core::body::Body;
use axum_core::extract::FromRequestParts;
use axum_core::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Request, StatusCode};
use std::future::poll_fn;
use std::io;
use std::task::Poll;

/// The extractor for what a request negotiated.
///
/// It negotiates by the settings of a [`CodingConfig`] that the router has as an extension, or else by the
/// defaults. It maps entity tags in the request back to the handler's, so it comes before extractors that read
/// them. It fails, with 406, only where the settings are [strict](crate::CompressionLayer::strict).
///
/// Inside a [`CompressionLayer`](crate::CompressionLayer) it leaves everything to that: what is encoded is
/// large frames, and the writer's flushes are honoured by the layer.
#[derive(Debug)]
pub struct ContentCoding {
    /// `None` inside a layer.
    negotiation: Option<Box<Negotiation>>,
    pub(super) config: CodingConfig,
    head: http::Response<()>,
}

impl<S: Sync> FromRequestParts<S> for ContentCoding {
    type Rejection = NotAcceptable;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, NotAcceptable> {
        let config = parts.extensions.get::<CodingConfig>().cloned().unwrap_or_else(CodingConfig::process);
        let mut negotiation = None;
        if !is_within() {
            let (empty, ()) = Request::new(()).into_parts();
            let mut request = Request::from_parts(std::mem::replace(parts, empty), ());
            let negotiated = config.layer.negotiate(&mut request);
            *parts = request.into_parts().0;
            negotiation = Some(Box::new(negotiated.ok_or_else(|| NotAcceptable(config.layer.clone()))?));
        }
        Ok(Self { negotiation, config, head: http::Response::new(()) })
    }
}

impl ContentCoding {
    /// The coding that the client likes best among those offered. `None` if that is identity, and inside a
    /// layer, which decides later.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        self.negotiation.as_ref().and_then(|negotiation| negotiation.coding())
    }

    /// Sets the response's head: status, fields and extensions, in whatever form axum makes a response of. Its
    /// body is ignored.
    ///
    /// What the head says counts: `no-transform` in its `Cache-Control`, a `Content-Encoding`, an
    /// [`Compress`](crate::Compress) extension; its entity tag is marked where the answer is coded.
    ///
    /// ```
    /// # use axum::http::{StatusCode, header::CACHE_CONTROL};
    /// # use axum::response::Response;
    /// # use tower_compress::axum::{ContentCoding, Json};
    /// # async fn handler(coding: ContentCoding) -> Response {
    /// let head = (StatusCode::CREATED, [(CACHE_CONTROL, "private")]);
    /// coding.with(head).encode(Json(42)).await
    /// # }
    /// ```
    #[must_use]
    pub fn with(self, head: impl IntoResponse) -> Self {
        Self { head: head.into_response().map(drop), ..self }
    }

    /// Encodes an answer. Waits until it is known how its body begins, since an error before that is a 500.
    pub async fn encode(self, answer: impl Encode) -> Response {
        answer.respond(self).await
    }

    /// Sets the type of the content, unless the head has one.
    pub(super) fn typed(mut self, content_type: &'static str) -> Self {
        let value = HeaderValue::from_static(content_type);
        self.head.headers_mut().entry(CONTENT_TYPE).or_insert(value);
        self
    }

    /// A response made in memory.
    pub(super) fn whole(
        &mut self,
        write: impl FnOnce(&mut BytesWriter) -> io::Result<()>,
    ) -> io::Result<Response> {
        let head = std::mem::take(&mut self.head);
        if let Some(negotiation) = &mut self.negotiation {
            return Ok(negotiation.whole(head, write)?.map(Body::new));
        }
        let mut writer = WriterOptions::new().whole();
        write(&mut writer)?;
        let body = writer.finish()?;
        Ok(head.map(|()| Body::new(body)))
    }

    /// A writer, and the response to [`settle`](Self::settle) once its body has begun.
    pub(super) fn begin(&mut self) -> (BodyWriter, http::Response<WriterBody>) {
        let head = std::mem::take(&mut self.head);
        let options = self.config.options.clone();
        match &self.negotiation {
            Some(negotiation) => negotiation.begin(head, options),
            None => {
                let (writer, body) = options.channel();
                let mut response = head.map(|()| body);
                let mark = response.body().mark();
                response.extensions_mut().insert(mark);
                (writer, response)
            }
        }
    }

    /// Completes the response of a writer.
    pub(super) async fn settle(self, mut response: http::Response<WriterBody>) -> Response {
        poll_fn(|cx| response.body().poll_begun(cx)).await;
        if let Some(error) = response.body_mut().take_first_error() {
            return self.fail(&*error).await;
        }
        match self.negotiation {
            Some(mut negotiation) => {
                let mut response = Some(response);
                let settled = poll_fn(|cx| match response.take() {
                    Some(response) => Poll::Ready(negotiation.settle(response, cx)),
                    None => Poll::Pending,
                });
                settled.await.map(Body::new)
            }
            None => response.map(Body::new),
        }
    }

    /// A response with a body that nothing has coded yet.
    pub(super) async fn complete<B>(mut self, body: B) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let head = std::mem::take(&mut self.head);
        self.complete_with(head.map(|()| body)).await
    }

    /// As axum's `Json` answers when it cannot serialize: 500 with the error as text.
    pub(super) async fn fail(self, error: &(dyn std::error::Error + Send + Sync)) -> Response {
        self.refuse(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).await
    }

    /// An error in the place of the answer.
    pub(super) async fn refuse(self, status: StatusCode, reason: String) -> Response {
        self.complete_with((status, reason).into_response()).await
    }

    async fn complete_with<B>(self, response: http::Response<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let Some(mut negotiation) = self.negotiation else { return response.map(Body::new) };
        let mut response = Some(response);
        let completed = poll_fn(|cx| match response.take() {
            Some(response) => Poll::Ready(negotiation.respond(response, cx)),
            None => Poll::Pending,
        });
        completed.await.map(Body::new)
    }
}
