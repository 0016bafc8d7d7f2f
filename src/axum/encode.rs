use super::ContentCoding;
use axum_core::response::Response;
use std::future::Future;

/// An answer that [`ContentCoding::encode`] can encode: [`Json`](super::Json), [`JsonLines`](super::JsonLines),
/// [`Csv`](super::Csv), [`BlockingWriter`](super::BlockingWriter).
pub trait Encode: sealed::Sealed {
    /// The response, once it is known how its body begins.
    #[doc(hidden)]
    fn respond(self, coding: ContentCoding) -> impl Future<Output = Response> + Send;
}

pub(super) mod sealed {
    /// What an answer needs of a coding may change.
    pub trait Sealed {}
}
