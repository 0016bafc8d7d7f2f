use super::service::Compression;
use super::settings::Settings;
use crate::codec::{Codec, CompressionLevel};
use crate::engine::{EncoderPool, Sizing};
use crate::policy::predicate::{DefaultPredicate, Predicate};
use crate::policy::{EtagPolicy, FlushPolicy};
use crate::stats::Stats;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tower_layer::Layer;

/// Compresses the bodies of responses.
///
/// Offers zstd, gzip and deflate, as far as they are compiled in; everything else must be switched on. The
/// coding is the one that the request's `Accept-Encoding` prefers, in the server's order among equals.
///
/// Services made from one layer, and from its clones, share its settings, its pool and its counters.
///
/// ```
/// use std::convert::Infallible;
/// use tower::{ServiceBuilder, service_fn};
/// use tower_compress::{CompressionLayer, CompressionLevel, EncoderPool};
///
/// let layer = CompressionLayer::new()
///     .br(true)
///     .no_deflate()
///     .prefer(&["br", "zstd"])
///     .level("gzip", CompressionLevel::Precise(4))
///     .min_size(512)
///     .pool(EncoderPool::with_limit(64 << 20));
///
/// let service = ServiceBuilder::new().layer(&layer).service(service_fn(async |_: http::Request<()>| {
///     Ok::<_, Infallible>(http::Response::new("a body".to_owned()))
/// }));
/// assert_eq!(layer.stats().coded, 0);
/// # let _ = service;
/// ```
#[derive(Debug, Clone, Default)]
pub struct CompressionLayer<P = DefaultPredicate> {
    pub(super) settings: Arc<Settings>,
    pub(super) predicate: P,
}

impl CompressionLayer {
    /// The default layer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bytes below which a body passes as it is. The default is 1024, about what saves a network
    /// segment. Sizes are known from `Content-Length`, the body's size hint, or by looking ahead.
    #[must_use]
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.predicate = self.predicate.min_size(bytes);
        self
    }
}

impl<P> CompressionLayer<P> {
    /// Replaces the rule that says which responses are worth coding.
    ///
    /// See [`predicate`](crate::policy::predicate).
    #[must_use]
    pub fn compress_when<C>(self, predicate: C) -> CompressionLayer<C>
    where
        C: Predicate,
    {
        CompressionLayer { settings: self.settings, predicate }
    }

    /// Whether to offer gzip.
    #[cfg(feature = "gzip")]
    #[must_use]
    pub fn gzip(self, enable: bool) -> Self {
        self.offer("gzip", enable)
    }

    /// Whether to offer deflate, in the zlib format.
    #[cfg(feature = "deflate")]
    #[must_use]
    pub fn deflate(self, enable: bool) -> Self {
        self.offer("deflate", enable)
    }

    /// Whether to offer zstd.
    #[cfg(feature = "zstd")]
    #[must_use]
    pub fn zstd(self, enable: bool) -> Self {
        self.offer("zstd", enable)
    }

    /// Whether to offer brotli. It is not offered by default.
    #[cfg(feature = "brotli")]
    #[must_use]
    pub fn br(self, enable: bool) -> Self {
        self.offer("br", enable)
    }

    /// Whether to offer `x-snappy-framed`, snappy's framing format. Never offered by default: the token is not
    /// registered.
    #[cfg(feature = "snappy")]
    #[must_use]
    pub fn snappy_framed(self, enable: bool) -> Self {
        self.offer("x-snappy-framed", enable)
    }

    /// Whether to offer `snappy`, one raw block. Never offered by default: the token is not registered. Only
    /// bodies that end within the look-ahead can get it, since the block begins with its length.
    #[cfg(feature = "snappy")]
    #[must_use]
    pub fn snappy(self, enable: bool) -> Self {
        self.offer("snappy", enable)
    }

    /// Does not offer gzip, whatever the crate was compiled with.
    #[must_use]
    pub fn no_gzip(self) -> Self {
        self.offer("gzip", false)
    }

    /// Does not offer deflate, whatever the crate was compiled with.
    #[must_use]
    pub fn no_deflate(self) -> Self {
        self.offer("deflate", false)
    }

    /// Does not offer zstd, whatever the crate was compiled with.
    #[must_use]
    pub fn no_zstd(self) -> Self {
        self.offer("zstd", false)
    }

    /// Does not offer brotli, whatever the crate was compiled with.
    #[must_use]
    pub fn no_br(self) -> Self {
        self.offer("br", false)
    }

    /// Offers a codec, which may be defined outside this crate. It replaces one of the same name.
    #[must_use]
    pub fn codec(self, codec: &'static dyn Codec) -> Self {
        self.with(|settings| settings.add(codec))
    }

    /// Sets the level of every coding that has none of its own.
    #[must_use]
    pub fn quality(self, level: CompressionLevel) -> Self {
        self.with(|settings| settings.config.quality = level)
    }

    /// Sets the level of one coding, by its token, such as `gzip`.
    #[must_use]
    pub fn level(self, coding: &'static str, level: CompressionLevel) -> Self {
        self.with(|settings| settings.configure(|config| config.set_level(coding, level)))
    }

    /// Puts these codings first, in this order, where the client likes several equally well. The default order
    /// is zstd, br, gzip, deflate, and gzip first for a client that says no more than `*`, and for event streams, which
    /// it costs least in memory, time and bytes.
    #[must_use]
    pub fn prefer(self, codings: &[&str]) -> Self {
        self.with(|settings| settings.configure(|config| config.set_order(codings)))
    }

    /// Sets what becomes of a strong `ETag`. The default is [`EtagPolicy::Suffix`].
    #[must_use]
    pub fn etag(self, policy: EtagPolicy) -> Self {
        self.with(|settings| settings.config.etag = policy)
    }

    /// Sets when streams are flushed. The default is [`FlushPolicy::Pause`].
    #[must_use]
    pub fn flush(self, policy: FlushPolicy) -> Self {
        self.with(|settings| settings.config.flush = policy)
    }

    /// Whether to answer 406 to a request that accepts nothing the layer could send, instead of sending the
    /// body uncoded. The service is not called then. Off by default (RFC 9110 section 12.5.3 allows both).
    #[must_use]
    pub fn strict(self, enable: bool) -> Self {
        self.with(|settings| settings.config.strict = enable)
    }

    /// Whether `Cache-Control: no-transform` on the request or the response prevents coding. On by default.
    #[must_use]
    pub fn honour_no_transform(self, enable: bool) -> Self {
        self.with(|settings| settings.config.honour_no_transform = enable)
    }

    /// Makes coded responses longer by a number of bytes from this range, each as likely as the others. At most
    /// 4096. Off by default.
    ///
    /// It blurs what the length says about the content (the BREACH attack); it does not cure it. Random padding
    /// is averaged out by many requests; [`padding_by_content`](Self::padding_by_content) is not. What is flushed
    /// shows its length batch by batch, and the padding counts for the first alone. Responses that hold a secret
    /// next to a client's input are best not compressed: see [`Compress::off`](crate::Compress::off).
    ///
    /// gzip takes the padding in its header; for other codings it is a response field, `x-padding`.
    #[must_use]
    pub fn padding(self, bytes: RangeInclusive<u16>) -> Self {
        self.with(|settings| settings.config.set_padding(Some(bytes)))
    }

    /// Whether the padding of a response that is coded whole depends on its content, instead of on chance: the same
    /// body always has the same length, so that asking often teaches nothing. Each layer has its own secret.
    /// Streams keep random padding, as does what a writer codes beyond the look-ahead: it goes out before their
    /// content is known. Off by default, and without
    /// effect unless there is [`padding`](Self::padding).
    #[must_use]
    pub fn padding_by_content(self, enable: bool) -> Self {
        self.with(|settings| settings.config.padding_by_content = enable)
    }

    /// Whether responses coded whole say in `Server-Timing` how long the encoder took. Off by default: timing
    /// is a side channel.
    #[must_use]
    pub fn server_timing(self, enable: bool) -> Self {
        self.with(|settings| settings.config.server_timing = enable)
    }

    /// Sets how many bytes of a body that is ready are looked at before the head goes out: at most 1 MiB, by
    /// default 64 KiB. A body that ends within them is coded in one call and keeps an exact length.
    #[must_use]
    pub fn look_ahead(self, bytes: usize) -> Self {
        self.with(|settings| settings.config.set_look_ahead(bytes))
    }

    /// Limits one encoder call of a stream, and so one poll, to `bytes` of input. By default each codec takes
    /// what it encodes in about 200 microseconds at its level.
    #[must_use]
    pub fn batch_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.batch_limit = bytes.max(1))
    }

    /// Encodes a stream's frames of at least `bytes` bytes on tokio's blocking threads. Off by default; frames
    /// smaller than one encoder call stay where they are.
    ///
    /// For bodies in large frames at levels so slow that one poll keeps the others waiting. A hop costs about
    /// 40 microseconds of CPU: from 256 KiB on that is 1 to 4 %. Dropping the body ends the work before
    /// the next encoder call.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn offload(self, bytes: usize) -> Self {
        self.with(|settings| settings.offload = bytes)
    }

    /// Uses this pool instead of the process's.
    #[must_use]
    pub fn pool(self, pool: EncoderPool) -> Self {
        self.with(|settings| settings.pool = pool)
    }

    /// Uses what was learned elsewhere about sizes, and adds to it; or, with [`Sizing::fixed`], learns nothing. By
    /// default a layer and its clones learn together.
    #[must_use]
    pub fn sizing(self, sizing: Sizing) -> Self {
        self.with(|settings| settings.sizing = sizing)
    }

    /// What the services made from this layer and its clones have done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.settings.recorder.snapshot(&self.settings.pool)
    }

    fn offer(self, coding: &'static str, enable: bool) -> Self {
        self.with(|settings| settings.configure(|config| config.enable(coding, enable)))
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }
}

impl<S, P> Layer<S> for CompressionLayer<P>
where
    P: Predicate,
{
    type Service = Compression<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Compression { inner, layer: self.clone() }
    }
}
