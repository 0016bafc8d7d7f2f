use crate::response::CompressionLayer;
use axum_core::body::Body;
use axum_core::response::{IntoResponse, Response};

/// Why a [`ContentCoding`](super::ContentCoding) could not be extracted: a strict layer can send nothing that the
/// client accepts. Answered with 406.
#[derive(Debug)]
pub struct NotAcceptable(pub(super) CompressionLayer);

impl IntoResponse for NotAcceptable {
    fn into_response(self) -> Response {
        self.0.not_acceptable::<Body>().map(Body::new)
    }
}
