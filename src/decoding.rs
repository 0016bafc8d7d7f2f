//! What the decoding layers of both directions share: the codings that they undo, within which limits.

use crate::codec::Codec;
use crate::codings::Codings;
use crate::engine::{DecoderPool, Decompressor, Limits};
use crate::error::Error;
use crate::policy::{self, Config, listed_codings};
use http::header::{HeaderMap, HeaderValue};

/// What a layer and all its services share.
#[derive(Debug, Clone)]
pub(crate) struct Decoding {
    /// Which codings, in which order; nothing else of it matters here.
    config: Config,
    codings: Codings,
    /// The value of `Accept-Encoding` that names them.
    pub(crate) accept: HeaderValue,
    pub(crate) limits: Limits,
    pub(crate) pool: DecoderPool,
}

impl Decoding {
    pub(crate) fn new(limits: Limits) -> Self {
        let mut decoding = Self {
            config: Config::default(),
            codings: Codings::default(),
            accept: policy::accept(&[]),
            limits,
            pool: DecoderPool::default(),
        };
        decoding.configure(|_| ());
        decoding
    }

    pub(crate) fn enable(&mut self, coding: &'static str, enable: bool) {
        self.configure(|config| config.enable(coding, enable));
    }

    pub(crate) fn add(&mut self, codec: &'static dyn Codec) {
        self.codings.add(codec);
        self.enable(codec.name(), true);
    }

    /// What undoes the codings of a message with this head: the one applied last first, up to one that is not
    /// known. With it comes what is left then.
    ///
    /// # Errors
    ///
    /// If there are more codings than the limits allow.
    pub(crate) fn decompressor(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Decompressor, Option<HeaderValue>), Error> {
        let undo = |codecs: &mut dyn Iterator<Item = &'static dyn Codec>| {
            Decompressor::new(codecs, self.limits, &self.pool)
        };
        let mut listed = listed_codings(headers);
        // Nearly all messages have one coding.
        if let (Some(codec), None) = (listed.next().and_then(|name| self.find(name)), listed.next()) {
            return Ok((undo(&mut [codec].into_iter())?, None));
        }
        let mut left: Vec<_> = listed_codings(headers).collect();
        let mut codecs = Vec::new();
        while let Some(codec) = left.last().and_then(|name| self.find(name)) {
            codecs.push(codec);
            left.pop();
        }
        let decompressor = undo(&mut codecs.into_iter().rev())?;
        // Made of parts of valid values, so it is one.
        let left = if left.is_empty() { None } else { HeaderValue::try_from(left.join(&b", "[..])).ok() };
        Ok((decompressor, left))
    }

    fn find(&self, token: &[u8]) -> Option<&'static dyn Codec> {
        let is = |name: &&str| name.as_bytes().eq_ignore_ascii_case(token);
        let mut enabled = self.codings.enabled().iter().copied();
        enabled.find(|codec| is(&codec.name()) || codec.aliases().iter().any(is))
    }

    fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        change(&mut self.config);
        self.codings.enable(self.config.enabled());
        self.accept = policy::accept(&self.codings.names());
    }
}

/// The methods that switch codings on and off, for a type with a method `offer`. `$does` is what happens to the
/// codings that are on.
macro_rules! coding_methods {
    ($does:literal) => {
        #[doc = concat!("Whether to ", $does, " gzip. On by default.")]
        #[cfg(feature = "gzip")]
        #[must_use]
        pub fn gzip(self, enable: bool) -> Self {
            self.offer("gzip", enable)
        }

        #[doc = concat!("Whether to ", $does, " deflate. On by default.")]
        #[cfg(feature = "deflate")]
        #[must_use]
        pub fn deflate(self, enable: bool) -> Self {
            self.offer("deflate", enable)
        }

        #[doc = concat!("Whether to ", $does, " zstd. On by default.")]
        #[cfg(feature = "zstd")]
        #[must_use]
        pub fn zstd(self, enable: bool) -> Self {
            self.offer("zstd", enable)
        }

        #[doc = concat!("Whether to ", $does, " brotli. Off by default.")]
        #[cfg(feature = "brotli")]
        #[must_use]
        pub fn br(self, enable: bool) -> Self {
            self.offer("br", enable)
        }

        #[doc = concat!("Whether to ", $does, " `x-snappy-framed`, snappy's framing format. Off by default: the")]
        /// token is not registered.
        #[cfg(feature = "snappy")]
        #[must_use]
        pub fn snappy_framed(self, enable: bool) -> Self {
            self.offer("x-snappy-framed", enable)
        }

        #[doc = concat!("Whether to ", $does, " `snappy`, one raw block. Off by default: the token is not")]
        /// registered, and some use it for the framing format.
        #[cfg(feature = "snappy")]
        #[must_use]
        pub fn snappy(self, enable: bool) -> Self {
            self.offer("snappy", enable)
        }

        #[doc = concat!("Does not ", $does, " gzip, whatever the crate was compiled with.")]
        #[must_use]
        pub fn no_gzip(self) -> Self {
            self.offer("gzip", false)
        }

        #[doc = concat!("Does not ", $does, " deflate, whatever the crate was compiled with.")]
        #[must_use]
        pub fn no_deflate(self) -> Self {
            self.offer("deflate", false)
        }

        #[doc = concat!("Does not ", $does, " zstd, whatever the crate was compiled with.")]
        #[must_use]
        pub fn no_zstd(self) -> Self {
            self.offer("zstd", false)
        }

        #[doc = concat!("Does not ", $does, " brotli, whatever the crate was compiled with.")]
        #[must_use]
        pub fn no_br(self) -> Self {
            self.offer("br", false)
        }
    };
}

pub(crate) use coding_methods;
