use super::service::RequestDecompression;
use crate::codec::Codec;
use crate::decoding::{Decoding, coding_methods};
use crate::engine::{DecoderPool, Limits};
use std::sync::Arc;
use tower_layer::Layer;

/// Decodes the bodies of requests, for servers.
///
/// It accepts zstd, gzip and deflate, as far as they are compiled in, and what is switched on besides, stacked
/// within the [`Limits`]. Where it decodes, the service sees neither `Content-Encoding` nor what was true of the
/// coded form only: its `Content-Length` and digests. A request for which it cannot is answered in the
/// service's place:
///
/// - 415 with `Accept-Encoding` for a coding that it does not accept, or for too many, before anything of the
///   body is read (RFC 9110 section 15.5.16), unless that passes
///   ([`pass_through_unaccepted`](Self::pass_through_unaccepted));
/// - 413 for a body that exceeds a limit, 400 for one that is malformed or ends too early, if the service fails
///   or answers with a server error (5xx) because of it.
///
/// A service that reads the body gets these as the body's errors: see
/// [`DecompressionBody`](crate::body::DecompressionBody). axum's extractors make the same 413 and 400 of them.
///
/// A body without a content coding passes as it is, and no limit applies to it; neither does one to a part
/// (`Content-Range`) of a coded form, which cannot be decoded and passes as well.
///
/// ```
/// use tower_compress::{Limits, RequestDecompressionLayer};
/// use tower_layer::Layer;
///
/// let layer = RequestDecompressionLayer::new().limits(Limits::requests().max_decoded(2 << 20));
/// # let _ = layer.layer(());
/// ```
#[derive(Debug, Clone)]
pub struct RequestDecompressionLayer {
    pub(super) decoding: Arc<Decoding>,
    pub(super) pass_through: bool,
}

impl RequestDecompressionLayer {
    /// The default layer.
    #[must_use]
    pub fn new() -> Self {
        Self { decoding: Arc::new(Decoding::new(Limits::requests())), pass_through: false }
    }

    coding_methods!("accept");

    /// Accepts a coding that may be defined outside this crate. It replaces one of the same name.
    #[must_use]
    pub fn codec(self, codec: &'static dyn Codec) -> Self {
        self.with(|decoding| decoding.add(codec))
    }

    /// Sets the limits. The default is [`Limits::requests`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|decoding| decoding.limits = limits)
    }

    /// Uses this pool instead of the process's.
    #[must_use]
    pub fn pool(self, pool: DecoderPool) -> Self {
        self.with(|decoding| decoding.pool = pool)
    }

    /// Whether requests with other codings reach the service, as they are, instead of being answered with 415.
    /// Off by default: a service that does not look would take coded bytes for plain ones.
    #[must_use]
    pub fn pass_through_unaccepted(mut self, enable: bool) -> Self {
        self.pass_through = enable;
        self
    }

    pub(super) fn offer(self, coding: &'static str, enable: bool) -> Self {
        self.with(|decoding| decoding.enable(coding, enable))
    }

    fn with(mut self, change: impl FnOnce(&mut Decoding)) -> Self {
        change(Arc::make_mut(&mut self.decoding));
        self
    }
}

impl Default for RequestDecompressionLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for RequestDecompressionLayer {
    type Service = RequestDecompression<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RequestDecompression { inner, layer: self.clone() }
    }
}
