//! The crate's one error type.

use std::{error, fmt};

/// A boxed error, as bodies hand it on.
pub type BoxError = Box<dyn error::Error + Send + Sync>;

/// What went wrong inside a codec or its engine.
///
/// Opaque on purpose: ask it with the `is_*` methods. Its text is meant for people and may change.
pub struct Error {
    kind: Kind,
    cause: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An encoder failed: a broken promise about the size, or no memory.
    Encode,
    /// A decoder failed through no fault of its input: no memory.
    Decode,
    /// The input is not what its coding says.
    Malformed,
    /// The input ended before its coding did.
    Truncated,
    /// A limit was exceeded.
    Limit,
    /// The producer stopped before the end.
    Aborted,
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, cause: None }
    }

    pub(crate) fn with_cause(kind: Kind, cause: impl Into<BoxError>) -> Self {
        Self { kind, cause: Some(cause.into()) }
    }

    /// An encoder's failure, for codecs defined outside this crate.
    pub fn encode(cause: impl Into<BoxError>) -> Self {
        Self::with_cause(Kind::Encode, cause)
    }

    /// A decoder's failure that is not its input's fault, for codecs defined outside this crate.
    pub fn decode(cause: impl Into<BoxError>) -> Self {
        Self::with_cause(Kind::Decode, cause)
    }

    /// Input that breaks the rules of its coding, for codecs defined outside this crate.
    pub fn malformed(cause: impl Into<BoxError>) -> Self {
        Self::with_cause(Kind::Malformed, cause)
    }

    /// Input that declares or amounts to more than is allowed, for codecs defined outside this crate.
    /// The cause says which limit it was.
    pub fn limit(cause: impl Into<BoxError>) -> Self {
        Self::with_cause(Kind::Limit, cause)
    }

    #[cfg(feature = "http")]
    pub(crate) fn aborted(cause: impl Into<BoxError>) -> Self {
        Self::with_cause(Kind::Aborted, cause)
    }

    /// Input that ended too early, for codecs defined outside this crate.
    pub fn truncated() -> Self {
        Self::new(Kind::Truncated)
    }

    /// Whether an encoder failed. The message is lost; its context is not used again.
    pub fn is_encode(&self) -> bool {
        self.kind == Kind::Encode
    }

    /// Whether a decoder failed through no fault of its input.
    pub fn is_decode(&self) -> bool {
        self.kind == Kind::Decode
    }

    /// Whether the input is not what its coding says.
    pub fn is_malformed(&self) -> bool {
        self.kind == Kind::Malformed
    }

    /// Whether the input ended before its coding did.
    pub fn is_truncated(&self) -> bool {
        self.kind == Kind::Truncated
    }

    /// Whether the body's writer stopped before the end, without an error of its own.
    pub fn is_aborted(&self) -> bool {
        self.kind == Kind::Aborted
    }

    /// Whether a limit was exceeded.
    pub fn is_limit(&self) -> bool {
        self.kind == Kind::Limit
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind).field("cause", &self.cause).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Encode => "the encoder failed",
            Kind::Decode => "the decoder failed",
            Kind::Malformed => "the body is not what its content coding says",
            Kind::Truncated => "the body ended before its content coding did",
            Kind::Limit => "the body exceeds a limit",
            Kind::Aborted => "the body was aborted by its writer",
        })
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as _)
    }
}
