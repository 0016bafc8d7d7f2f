use super::service::Decompression;
use crate::codec::Codec;
use crate::decoding::{Decoding, coding_methods};
use crate::engine::{DecoderPool, Limits};
use crate::policy::EtagPolicy;
use std::sync::Arc;
use tower_layer::Layer;

/// Decodes the bodies of responses, for clients.
///
/// It asks for zstd, gzip and deflate, as far as they are compiled in, and for what is switched on besides,
/// unless the request has an `Accept-Encoding` already, or asks for a range: those would be of the coded form
/// (RFC 9110 section 14.2). It decodes what it can: stacked codings from the last applied to the first, up to
/// one that is not switched on, which stays in `Content-Encoding`. Where it decodes, `Content-Encoding`,
/// `Content-Length`, `Accept-Ranges` and digests go, and a [`DecodedFrom`](super::DecodedFrom) in the
/// response's extensions keeps what they said. All else passes as it is: what has no content (HEAD, 204, 205,
/// 304), parts (206), unknown codings, and more codings than [`Limits`] allow.
///
/// The body's errors are those of [`DecompressionBody`](crate::body::DecompressionBody).
///
/// ```
/// use tower_compress::{DecompressionLayer, Limits};
/// use tower_layer::Layer;
///
/// let layer = DecompressionLayer::new().limits(Limits::responses().max_decoded(64 << 20));
/// # let _ = layer.layer(());
/// ```
#[derive(Debug, Clone)]
pub struct DecompressionLayer {
    pub(super) decoding: Arc<Decoding>,
    pub(super) etag: EtagPolicy,
    pub(super) always: bool,
}

impl DecompressionLayer {
    /// The default layer.
    #[must_use]
    pub fn new() -> Self {
        let decoding = Arc::new(Decoding::new(Limits::responses()));
        Self { decoding, etag: EtagPolicy::Keep, always: false }
    }

    coding_methods!("ask for and decode");

    /// Asks for and decodes a coding that may be defined outside this crate. It replaces one of the same name.
    #[must_use]
    pub fn codec(self, codec: &'static dyn Codec) -> Self {
        self.with(|decoding| decoding.add(codec))
    }

    /// Sets the limits. The default is [`Limits::responses`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|decoding| decoding.limits = limits)
    }

    /// Uses this pool instead of the process's.
    #[must_use]
    pub fn pool(self, pool: DecoderPool) -> Self {
        self.with(|decoding| decoding.pool = pool)
    }

    /// Whether to decode also where the caller has set `Accept-Encoding`. Off by default: who negotiates
    /// gets what was negotiated.
    #[must_use]
    pub fn always_decode(mut self, enable: bool) -> Self {
        self.always = enable;
        self
    }

    /// Sets what becomes of the `ETag` of a decoded response, in its head or its trailers. The default is [`EtagPolicy::Keep`]: the tag goes
    /// back to the origin that gave it out, which knows it as the coded form's.
    ///
    /// A proxy that passes decoded bodies on should choose [`EtagPolicy::Weaken`]: two sequences of bytes may
    /// not have the same strong tag (RFC 9110 section 8.8.1). [`EtagPolicy::Suffix`] is as `Keep`, since there
    /// is nothing to mark.
    #[must_use]
    pub fn etag(mut self, policy: EtagPolicy) -> Self {
        self.etag = if policy == EtagPolicy::Suffix { EtagPolicy::Keep } else { policy };
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

impl Default for DecompressionLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for DecompressionLayer {
    type Service = Decompression<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Decompression { inner, layer: self.clone() }
    }
}
