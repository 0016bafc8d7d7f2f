use super::layer::CompressionLayer;
use super::plan::{Plan, not_acceptable};
use super::respond::Length;
use crate::body::{BodyWriter, BytesWriter, CompressionBody, WriterBody, WriterOptions};
use crate::error::BoxError;
use crate::policy::predicate::{DefaultPredicate, Predicate};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// What one request negotiated, for an answer that no layer codes but its writer.
///
/// Made by [`CompressionLayer::negotiate`]. The answers have the same heads as behind that layer, and the same
/// rules decide whether they are coded: `Vary` is set, `no-transform` is obeyed, entity tags are marked.
///
/// ```
/// use std::io::Write;
/// use tower_compress::{CompressionLayer, WriterOptions};
///
/// # fn handle(mut request: http::Request<()>) {
/// let layer = CompressionLayer::new();
/// if let Some(negotiation) = layer.negotiate(&mut request) {
///     let head = http::Response::builder().header("content-type", "text/csv").body(()).unwrap();
///     let (mut writer, response) = negotiation.writer(head, &WriterOptions::new());
///     std::thread::spawn(move || {
///         for number in 0..1000 {
///             writeln!(writer, "{number},{}", number * number)?;
///         }
///         writer.finish()
///     });
///     # let _ = response;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Negotiation<P = DefaultPredicate> {
    plan: Plan<P>,
}

impl<P: Predicate> CompressionLayer<P> {
    /// Reads a request as a service of this layer would, for an answer that its writer codes: by the settings
    /// of this layer, with encoders from its pool, and counted in its [`stats`](Self::stats).
    ///
    /// Entity tags in the request are mapped back to the handler's, so this comes before anything that looks
    /// at them. `None` if the layer is [strict](Self::strict) and the answer is
    /// [`not_acceptable`](Self::not_acceptable).
    pub fn negotiate<B>(&self, request: &mut Request<B>) -> Option<Negotiation<P>> {
        Plan::new(self, request).map(|plan| Negotiation { plan })
    }

    /// The answer in place of one that cannot be [negotiated](Self::negotiate): 406.
    pub fn not_acceptable<B>(&self) -> Response<CompressionBody<B>> {
        not_acceptable(&self.settings, false)
    }
}

impl<P: Predicate> Negotiation<P> {
    /// The coding that the client likes best, which an answer gets unless something speaks against it.
    #[must_use]
    pub fn coding(&self) -> Option<&'static str> {
        self.plan.coding()
    }

    /// A writer and the response with its body. The response can go out at once.
    #[must_use]
    pub fn writer(&self, head: Response<()>, options: &WriterOptions) -> (BodyWriter, Response<WriterBody>) {
        let head = head.map(|()| Unwritten);
        match self.plan.coder(&head, Length::Unknown) {
            Ok(coder) => {
                let coding = coder.0.codec().name();
                let (writer, body) = options.channel_with(Some(coder));
                let mut response = head.map(|_| body);
                self.plan.rewrite_written(&mut response, coding);
                (writer, response)
            }
            Err(reason) => {
                let (writer, body) = options.channel_with(None);
                (writer, self.plan.pass(head, reason).map(|_| body))
            }
        }
    }

    /// A response with the body that `write` writes, in memory, with an exact length. One of up to the
    /// [`look_ahead`](CompressionLayer::look_ahead) is gathered first and treated as the layer treats it: not coded if
    /// it is small or does not get smaller, and padded by its content. A longer one is coded as it is written.
    ///
    /// # Errors
    ///
    /// What `write` returns, or the encoder's error.
    pub fn whole<E: From<io::Error>>(
        &mut self,
        head: Response<()>,
        write: impl FnOnce(&mut BytesWriter) -> Result<(), E>,
    ) -> Result<Response<CompressionBody<WriterBody>>, E> {
        let head = head.map(|()| Unwritten);
        let coder = self.plan.coder(&head, Length::Known).ok().map(|(mut compressor, recorder)| {
            compressor.look_ahead(self.plan.settings.config.look_ahead());
            (compressor, recorder)
        });
        let mut writer = WriterOptions::new().lazy().whole_with(coder);
        write(&mut writer)?;
        let body = writer.finish()?;
        // All of the body is there, so nothing is ever pending.
        Ok(self.settle(head.map(|_| body), &mut Context::from_waker(Waker::noop())))
    }

    /// A writer and the response with its body, whose head waits for [`settle`](Self::settle).
    #[cfg(feature = "axum")]
    pub(crate) fn begin(
        &self,
        head: Response<()>,
        options: WriterOptions,
    ) -> (BodyWriter, Response<WriterBody>) {
        let head = head.map(|()| Unwritten);
        let coder = self.plan.coder(&head, Length::Unknown);
        let (writer, body) = options.lazy().channel_with(coder.ok());
        (writer, head.map(|_| body))
    }

    /// Completes a response whose body has begun. One that its writer left as it is is for the layer's rules.
    pub(crate) fn settle(
        &mut self,
        mut response: Response<WriterBody>,
        cx: &mut Context<'_>,
    ) -> Response<CompressionBody<WriterBody>> {
        match response.body().coding() {
            Some(coding) => {
                self.plan.rewrite_written(&mut response, coding);
                response.map(CompressionBody::pass)
            }
            None => {
                let mark = response.body().mark();
                response.extensions_mut().insert(mark);
                self.plan.respond(response, cx)
            }
        }
    }

    /// Completes a response that nothing has coded yet, as the layer does.
    #[cfg(feature = "axum")]
    pub(crate) fn respond<B>(
        &mut self,
        response: Response<B>,
        cx: &mut Context<'_>,
    ) -> Response<CompressionBody<B>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        self.plan.respond(response, cx)
    }
}

/// A body that is yet to be written: not empty, and of any length.
struct Unwritten;

impl Body for Unwritten {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Poll::Ready(None)
    }
}
