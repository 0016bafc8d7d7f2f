use super::origins::Origins;
use super::service::RequestCompression;
use crate::codec::{Codec, CompressionLevel};
use crate::decoding::coding_methods;
use crate::engine::EncoderPool;
use crate::policy::predicate::{DefaultPredicate, Predicate};
use crate::policy::{Config, FlushPolicy};
use crate::response::Settings;
use crate::stats::Stats;
use std::sync::Arc;
use std::time::Duration;
use tower_layer::Layer;

/// Compresses the bodies of requests, for clients.
///
/// An origin of which nothing is known gets gzip, or what [`coding`](Self::coding) says. What an origin accepts is
/// learned from the `Accept-Encoding` of its responses (RFC 7694), and remembered for an hour. A request that is
/// answered with 415 and that field is repeated once, in a coding that the origin accepts or in none, if its
/// body is all in memory: above 256 KiB, where it was sent as a stream, in none. A 415 without the field has another
/// reason and passes.
///
/// Layers inside of this one that send a request again (retries, redirects) send the body as it is coded; a redirect
/// to another origin is best followed outside, or by the client inside `ReqwestService`, lest
/// the other origin's `Accept-Encoding` be taken for the first one's.
///
/// These requests pass as they are: those with an empty body or one below [`min_size`](Self::min_size), those
/// coded already, parts of uploads (`Content-Range`, `Upload-Offset`), CONNECT, `Cache-Control: no-transform`,
/// those with a digest of their bytes, and those that the predicate refuses. `Content-Encoding: identity` says
/// so for one request, and is not sent.
///
/// A body that is all there within the [`look_ahead`](Self::look_ahead) is coded in one call and gets an exact
/// length; see [`CompressionBody::try_clone`](crate::body::CompressionBody::try_clone) for sending it again. Any
/// other is coded while it is sent, and has no length. Before trailers HTTP/1.1 gets no length either, or it would leave
/// them out; HTTP/1.0 gets one always where there is one, and no coding where there is none.
///
/// Retries belong outside, around this layer: each attempt then profits from what the last one taught. Signing
/// belongs inside, so that the signature is of the bytes that are sent.
///
/// ```
/// use tower_compress::{CompressionLevel, RequestCompressionLayer};
/// use tower_layer::Layer;
///
/// let layer = RequestCompressionLayer::new().coding("zstd").quality(CompressionLevel::Fastest);
/// # let _ = layer.layer(());
/// ```
#[derive(Debug, Clone)]
pub struct RequestCompressionLayer<P = DefaultPredicate> {
    pub(super) settings: Arc<Settings>,
    pub(super) origins: Arc<Origins>,
    pub(super) wait: usize,
    pub(super) force: bool,
    pub(super) predicate: P,
}

/// How long it is remembered what an origin accepts: long enough to spare nearly all repeated requests, short
/// enough to notice the same day that a server was replaced.
const KEEP: Duration = Duration::from_secs(60 * 60);

impl RequestCompressionLayer {
    /// The default layer.
    #[must_use]
    pub fn new() -> Self {
        let mut settings = Settings::default();
        settings.configure(|config| *config = Config::for_requests());
        Self {
            settings: Arc::new(settings),
            origins: Arc::new(Origins::new(KEEP)),
            wait: 0,
            force: false,
            predicate: DefaultPredicate::default(),
        }
    }

    /// Sets the bytes below which a body passes as it is. The default is 1024, about what saves a network
    /// segment.
    #[must_use]
    pub fn min_size(mut self, bytes: u64) -> Self {
        self.predicate = self.predicate.min_size(bytes);
        self
    }
}

impl<P> RequestCompressionLayer<P> {
    /// Replaces the rule that says which requests are worth coding.
    ///
    /// It is asked about the request, and then as if head and body of the request were those of a response with
    /// the status 200: see [`predicate`](crate::policy::predicate).
    #[must_use]
    pub fn compress_when<C>(self, predicate: C) -> RequestCompressionLayer<C>
    where
        C: Predicate,
    {
        RequestCompressionLayer {
            settings: self.settings,
            origins: self.origins,
            wait: self.wait,
            force: self.force,
            predicate,
        }
    }

    coding_methods!("send");

    /// Sends this coding wherever nothing speaks against it: to origins of which nothing is known, and to those
    /// that like no other better. The others that are on are sent where an origin does not accept it.
    #[must_use]
    pub fn coding(self, coding: &'static str) -> Self {
        self.with(|settings| {
            settings.configure(|config| {
                config.enable(coding, true);
                config.set_order(&[coding]);
            });
        })
    }

    /// Sends a codec that may be defined outside this crate. It replaces one of the same name.
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

    /// Sets when streams are flushed. The default is [`FlushPolicy::Pause`].
    #[must_use]
    pub fn flush(self, policy: FlushPolicy) -> Self {
        self.with(|settings| settings.config.flush = policy)
    }

    /// Whether `Cache-Control: no-transform` on the request prevents coding. On by default.
    #[must_use]
    pub fn honour_no_transform(self, enable: bool) -> Self {
        self.with(|settings| settings.config.honour_no_transform = enable)
    }

    /// Sets how many bytes of a body that is ready are looked at before the request is sent: at most 1 MiB, by
    /// default 256 KiB.
    #[must_use]
    pub fn look_ahead(self, bytes: usize) -> Self {
        self.with(|settings| settings.config.set_look_ahead(bytes))
    }

    /// Waits for bodies that are not ready, up to so many bytes of each in memory, so that they get an exact
    /// `Content-Length`. Zero, the default, means not to wait.
    ///
    /// For servers that answer 411 to requests without a length (RFC 9112 section 6.3). A longer body is sent
    /// without one nevertheless.
    #[must_use]
    pub fn wait_for(mut self, bytes: usize) -> Self {
        self.wait = bytes;
        self
    }

    /// Whether to code a body however small it is, even if that makes it longer. Off by default. For protocols
    /// that prescribe a coding, such as Prometheus's remote write.
    #[must_use]
    pub fn force(mut self, enable: bool) -> Self {
        self.force = enable;
        self
    }

    /// Limits one encoder call of a stream, and so one poll, to `bytes` of input. By default each codec takes
    /// what it encodes in about 200 microseconds at its level.
    #[must_use]
    pub fn batch_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.batch_limit = bytes.max(1))
    }

    /// Sets how long it is remembered what an origin accepts. With zero nothing is learned, and no request is
    /// repeated.
    #[must_use]
    pub fn remember_for(mut self, time: Duration) -> Self {
        self.origins = Arc::new(Origins::new(time));
        self
    }

    /// Uses this pool instead of the process's.
    #[must_use]
    pub fn pool(self, pool: EncoderPool) -> Self {
        self.with(|settings| settings.pool = pool)
    }

    /// What the services made from this layer and its clones have done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.settings.recorder.snapshot(&self.settings.pool)
    }

    fn offer(self, coding: &'static str, enable: bool) -> Self {
        self.with(|settings| settings.configure(|config| config.enable(coding, enable)))
    }

    /// What was learned is in terms of the codings that were on, so it is forgotten.
    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        let keep = self.origins.keep();
        self.remember_for(keep)
    }
}

impl Default for RequestCompressionLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S, P> Layer<S> for RequestCompressionLayer<P>
where
    P: Predicate,
{
    type Service = RequestCompression<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        RequestCompression { inner, layer: self.clone() }
    }
}
