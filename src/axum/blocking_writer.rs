use super::encode::sealed::Sealed;
use super::{ContentCoding, Encode};
use crate::body::BodyWriter;
use crate::error::BoxError;
use axum_core::response::Response;
use http::StatusCode;
use std::fmt;

/// A body that a closure writes, on a thread of tokio's blocking pool.
///
/// For any serializer that wants an [`io::Write`](std::io::Write), and for producers that block. The body is
/// finished when the closure returns. Its error is a 500 as long as nothing has left the writer, that is, until a
/// buffer was full or a flush met a reader; after that, and if it panics, the body aborts. If the client goes away,
/// writes fail.
///
/// How many closures run at the same time is capped, and how long one waits for its reader:
/// see [`CodingConfig`](super::CodingConfig).
///
/// ```
/// use axum::http::header::CONTENT_TYPE;
/// use axum::response::Response;
/// use std::io::Write;
/// use tower_compress::axum::{BlockingWriter, ContentCoding};
///
/// async fn report(coding: ContentCoding) -> Response {
///     let write = BlockingWriter::new(|writer| {
///         for line in 0..1_000_000 {
///             writeln!(writer, "line {line}")?;
///         }
///         Ok::<_, std::io::Error>(())
///     });
///     coding.with([(CONTENT_TYPE, "text/plain")]).encode(write).await
/// }
/// # let _ = report;
/// ```
#[must_use]
pub struct BlockingWriter<F> {
    write: F,
}

impl<F, E> BlockingWriter<F>
where
    F: FnOnce(&mut BodyWriter) -> Result<(), E> + Send + 'static,
    E: Into<BoxError>,
{
    /// A body that `write` writes.
    pub fn new(write: F) -> Self {
        Self { write }
    }
}

impl<F> Sealed for BlockingWriter<F> {}

impl<F, E> Encode for BlockingWriter<F>
where
    F: FnOnce(&mut BodyWriter) -> Result<(), E> + Send + 'static,
    E: Into<BoxError>,
{
    async fn respond(self, coding: ContentCoding) -> Response {
        let mut coding = coding.typed("application/octet-stream");
        let Some(turn) = coding.config.turn().await else {
            return coding
                .refuse(StatusCode::SERVICE_UNAVAILABLE, "too many bodies are being written".into())
                .await;
        };
        let (mut writer, response) = coding.begin();
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            if writer.is_closed() {
                return;
            }
            match (self.write)(&mut writer) {
                // The body may be gone by now, which is no error of the closure's.
                Ok(()) => drop(writer.finish()),
                Err(error) => writer.abort(error),
            }
        });
        coding.settle(response).await
    }
}

impl<F> fmt::Debug for BlockingWriter<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingWriter").finish_non_exhaustive()
    }
}
