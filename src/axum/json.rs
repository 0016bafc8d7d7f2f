use super::encode::sealed::Sealed;
use super::{ContentCoding, Encode};
use axum_core::response::Response;
use serde::Serialize;

/// A value as JSON, like axum's `Json`.
///
/// It is serialized straight through the write buffer into the encoder; of a document that is coded, no more
/// than the [`look_ahead`](crate::CompressionLayer::look_ahead) is in memory as such. The length is exact. A
/// serializer's error is a 500.
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct Json<T>(pub T);

impl<T> Sealed for Json<T> {}

impl<T: Serialize + Send> Encode for Json<T> {
    async fn respond(self, coding: ContentCoding) -> Response {
        let mut coding = coding.typed("application/json");
        match coding.whole(|writer| Ok(serde_json::to_writer(writer, &self.0)?)) {
            Ok(response) => response,
            Err(error) => coding.fail(&error).await,
        }
    }
}
