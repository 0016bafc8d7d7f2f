//! Bodies made of rows: a stream of values, each serialized when the reader wants more.

use crate::body::BytesWriter;
use crate::error::BoxError;
use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame};
use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How rows are written.
pub(super) trait Format<T>: Send + Unpin {
    /// Writes a row.
    fn write(&mut self, row: &T) -> Result<(), BoxError>;

    /// Moves what the format itself holds back to where it can be taken.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// What the rows are written into.
    fn written<R>(&mut self, take: impl FnOnce(&mut BytesWriter) -> R) -> R;
}

/// A body of rows, in frames that are as large as the rows that are ready allow.
pub(super) struct Rows<S, T, F> {
    stream: Pin<Box<S>>,
    format: F,
    /// The first frame, if it was asked for before the body was.
    first: Option<Bytes>,
    done: bool,
    rows: PhantomData<fn(T)>,
}

impl<S, T, E, F> Rows<S, T, F>
where
    S: Stream<Item = Result<T, E>>,
    E: Into<BoxError>,
    F: Format<T>,
{
    pub(super) fn new(stream: S, format: F) -> Self {
        Self { stream: Box::pin(stream), format, first: None, done: false, rows: PhantomData }
    }

    /// Ready once the first frame is there. An error before that has nothing to abort.
    pub(super) fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.first = ready!(self.poll_data(cx)).transpose()?;
        Poll::Ready(Ok(()))
    }

    /// Serializes what is ready, up to a frame. What an error comes right behind of is not given any more.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        loop {
            if let Some(frame) = self.format.written(BytesWriter::take_frame) {
                return Poll::Ready(Some(Ok(frame)));
            }
            if self.done {
                return Poll::Ready(None);
            }
            let step = match self.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(row)) => row.map_err(Into::into).and_then(|row| self.format.write(&row)),
                Poll::Ready(None) => {
                    self.done = true;
                    self.flush()
                }
                Poll::Pending => match self.flush() {
                    Ok(()) if self.format.written(|written| written.is_empty()) => return Poll::Pending,
                    flushed => flushed,
                },
            };
            if let Err(error) = step {
                self.done = true;
                self.format.written(|written| while written.take_frame().is_some() {});
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    fn flush(&mut self) -> Result<(), BoxError> {
        self.format.flush()?;
        self.format.written(BytesWriter::cut_frame);
        Ok(())
    }
}

impl<S, T, E, F> Body for Rows<S, T, F>
where
    S: Stream<Item = Result<T, E>>,
    E: Into<BoxError>,
    F: Format<T>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        self.poll_data(cx).map(|data| data.map(|data| data.map(Frame::data)))
    }
}

/// An iterator as a stream that is always ready.
#[derive(Debug, Clone)]
pub struct Iter<I>(pub(super) I);

impl<I: Iterator + Unpin> Stream for Iter<I> {
    type Item = Result<I::Item, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
