use super::encode::sealed::Sealed;
use super::rows::{Format, Iter, Rows};
use super::{ContentCoding, Encode};
use crate::body::{BytesWriter, WriterOptions};
use crate::error::BoxError;
use axum_core::response::Response;
use futures_core::Stream;
use serde::Serialize;
use std::fmt;
use std::future::poll_fn;
use std::io::Write;

/// Values as lines of JSON (NDJSON), like axum-extra's `JsonLines`.
///
/// Rows are serialized as the client reads, as many as are ready at a time, and leave when the stream pauses.
/// The head waits for the first of them: an error before that is a 500, after that the body aborts. An iterator
/// is polled on the runtime's threads; one that blocks belongs into a
/// [`BlockingWriter`](super::BlockingWriter).
#[must_use]
pub struct JsonLines<S> {
    stream: S,
}

impl<S> JsonLines<S> {
    /// A line for each value of a stream. The body ends with the first error.
    pub fn new<T, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Into<BoxError>,
    {
        Self { stream }
    }
}

impl<I> JsonLines<Iter<I>> {
    /// A line for each value of an iterator.
    pub fn iter(values: impl IntoIterator<IntoIter = I>) -> Self
    where
        I: Iterator + Unpin + Send + 'static,
        I::Item: Serialize,
    {
        Self { stream: Iter(values.into_iter()) }
    }
}

impl<S> Sealed for JsonLines<S> {}

impl<S, T, E> Encode for JsonLines<S>
where
    S: Stream<Item = Result<T, E>> + Send + 'static,
    T: Serialize + 'static,
    E: Into<BoxError> + 'static,
{
    async fn respond(self, coding: ContentCoding) -> Response {
        let mut rows = Rows::new(self.stream, Lines(WriterOptions::new().whole()));
        match poll_fn(|cx| rows.poll_begun(cx)).await {
            Ok(()) => coding.typed("application/x-ndjson").complete(rows).await,
            Err(error) => coding.fail(&*error).await,
        }
    }
}

/// One line for each row.
struct Lines(BytesWriter);

impl<T: Serialize> Format<T> for Lines {
    fn write(&mut self, row: &T) -> Result<(), BoxError> {
        serde_json::to_writer(&mut self.0, row)?;
        Ok(self.0.write_all(b"\n")?)
    }

    fn written<R>(&mut self, take: impl FnOnce(&mut BytesWriter) -> R) -> R {
        take(&mut self.0)
    }
}

impl<S> fmt::Debug for JsonLines<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").finish_non_exhaustive()
    }
}
