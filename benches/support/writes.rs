//! A body as it was written: its bytes, and where each write ended.

use super::orders::{Format, Orders};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The recorded writes of one body.
#[derive(Debug, Clone)]
pub(crate) struct Writes {
    pub(crate) bytes: Bytes,
    ends: Arc<[usize]>,
}

impl Writes {
    /// What the format's serializer writes for these orders.
    pub(crate) fn record(format: Format, orders: &Orders) -> Self {
        let mut recorder = Recorder { bytes: Vec::new(), ends: Vec::new() };
        format.write(orders, &mut recorder).expect("memory takes every write");
        Self { bytes: recorder.bytes.into(), ends: recorder.ends.into() }
    }

    /// The same bytes, in writes of so many each.
    pub(crate) fn cut(&self, length: usize) -> Self {
        let all = self.bytes.len();
        let ends = (1..=all.div_ceil(length)).map(|count| all.min(count * length)).collect();
        Self { bytes: self.bytes.clone(), ends }
    }

    /// How many writes there are.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The writes, one by one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// A body that gives it all in one frame and says its size.
    pub(crate) fn whole(&self) -> Produced {
        Produced::Whole(self.bytes.clone())
    }

    /// A body whose every frame is one write, all of them ready. It says no size.
    pub(crate) fn tiny(&self) -> Produced {
        Produced::Tiny { writes: self.clone(), next: 0, start: 0 }
    }
}

struct Recorder {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Write for Recorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.bytes.extend_from_slice(bytes);
            self.ends.push(self.bytes.len());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recorded body, as its producer may hand it over.
#[derive(Debug)]
pub(crate) enum Produced {
    Whole(Bytes),
    Tiny { writes: Writes, next: usize, start: usize },
}

impl Body for Produced {
    type Data = Bytes;
    type Error = Infallible;

    /// Never inlined: a handler's body is behind a pointer in most frameworks, and what it costs must be the same
    /// whoever reads it.
    #[inline(never)]
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut *self {
            Self::Whole(bytes) => std::mem::take(bytes),
            Self::Tiny { writes, next, start } => {
                let Some(&end) = writes.ends.get(*next) else { return Poll::Ready(None) };
                *next += 1;
                writes.bytes.slice(std::mem::replace(start, end)..end)
            }
        };
        Poll::Ready((!data.is_empty()).then(|| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Tiny { .. } => SizeHint::default(),
        }
    }
}
