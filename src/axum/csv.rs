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
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Values as rows of CSV (RFC 4180), with the names of their fields as the first row.
///
/// Otherwise as [`JsonLines`](super::JsonLines).
#[must_use]
pub struct Csv<S> {
    stream: S,
}

impl<S> Csv<S> {
    /// A row for each value of a stream. The body ends with the first error.
    pub fn new<T, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Into<BoxError>,
    {
        Self { stream }
    }
}

impl<I> Csv<Iter<I>> {
    /// A row for each value of an iterator.
    pub fn iter(values: impl IntoIterator<IntoIter = I>) -> Self
    where
        I: Iterator + Unpin + Send + 'static,
        I::Item: Serialize,
    {
        Self { stream: Iter(values.into_iter()) }
    }
}

impl<S> Sealed for Csv<S> {}

impl<S, T, E> Encode for Csv<S>
where
    S: Stream<Item = Result<T, E>> + Send + 'static,
    T: Serialize + 'static,
    E: Into<BoxError> + 'static,
{
    async fn respond(self, coding: ContentCoding) -> Response {
        let mut rows = Rows::new(self.stream, Table::new());
        match poll_fn(|cx| rows.poll_begun(cx)).await {
            Ok(()) => coding.typed("text/csv; charset=utf-8").complete(rows).await,
            Err(error) => coding.fail(&*error).await,
        }
    }
}

/// A table being written. The csv crate lets nobody at what it writes into, so both have that.
struct Table {
    rows: csv::Writer<Shared>,
    written: Shared,
}

#[derive(Clone)]
struct Shared(Arc<Mutex<BytesWriter>>);

impl Table {
    fn new() -> Self {
        let written = Shared(Arc::new(Mutex::new(WriterOptions::new().whole())));
        Self { rows: csv::Writer::from_writer(written.clone()), written }
    }
}

impl Shared {
    fn with<R>(&self, take: impl FnOnce(&mut BytesWriter) -> R) -> R {
        take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.with(|written| written.write(input))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: Serialize> Format<T> for Table {
    fn write(&mut self, row: &T) -> Result<(), BoxError> {
        Ok(self.rows.serialize(row)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rows.flush()
    }

    fn written<R>(&mut self, take: impl FnOnce(&mut BytesWriter) -> R) -> R {
        self.written.with(take)
    }
}

impl<S> fmt::Debug for Csv<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csv").finish_non_exhaustive()
    }
}
