use crate::error::BoxError;
use http::HeaderMap;

/// How a body ended. Trailers, a plain end and an error are different ends.
#[derive(Debug)]
pub(crate) enum End {
    Clean,
    Trailers(HeaderMap),
    Error(BoxError),
}
