//! The serializer's end: something to write into, whose other half is a body.

#[cfg(feature = "tokio")]
mod asynchronous;
mod blocking;
mod body;
mod bytes_writer;
mod channel;
mod options;
mod sink;
mod wait;

pub use body::WriterBody;
pub use bytes_writer::BytesWriter;
pub(crate) use channel::FlushMark;
pub use options::WriterOptions;

use self::channel::{Channel, Closed, Coded, Flushed};
use self::sink::Sink;
use super::End;
use crate::engine::Tally;
use crate::error::{BoxError, Error, Kind};
use bytes::Bytes;
use http::HeaderMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

/// Writes a body: an [`io::Write`], and with the `tokio` feature an `AsyncWrite`, whose other half is a
/// [`WriterBody`].
///
/// Made for serializers: a tiny write is a comparison and a copy. Under a
/// [`CompressionLayer`](crate::CompressionLayer) it gathers frames of 64 KiB, which the layer takes without
/// another copy; alone it encodes on the thread that writes ([`WriterOptions::coding`]).
///
/// The frames go through a queue bounded in bytes. When that is full, a blocking write blocks and an async
/// one is pending until the reader has taken half of it. A blocking write that would have to wait inside an
/// async task fails with [`io::ErrorKind::WouldBlock`] instead, since the reader may be that very task; this
/// needs the `tokio` feature and its runtime, and not `unconstrained` tasks. Only writes wait: flushing and
/// finishing never do.
///
/// A flush makes all that was written decodable by the receiver, whatever is written later. If the reader is
/// waiting, that happens at once, else when it comes: however many flushes there were until then, they are
/// one. Only an abort that comes before the reader takes it back.
///
/// A body ends by [`finish`](Self::finish). Dropping the writer before that aborts the body with an error
/// ([`Error::is_aborted`]), so that the reader never takes what is truncated for the whole. If the body is
/// dropped, writes fail with [`io::ErrorKind::BrokenPipe`] from the next full buffer or flush on.
///
/// ```
/// use std::io::Write;
/// use tower_compress::BodyWriter;
///
/// let (mut writer, body) = BodyWriter::new();
/// std::thread::spawn(move || {
///     for number in 0..1000 {
///         writeln!(writer, "{number}")?;
///     }
///     writer.finish()
/// });
/// let response = http::Response::new(body);
/// # let _ = response;
/// ```
pub struct BodyWriter {
    sink: Sink,
    place: Place,
    /// Whether a frame was pushed since the last flush: a layer may hold it back until it hears of one.
    pushed: bool,
    channel: Arc<Channel>,
    /// How long a blocking write waits.
    deadline: Option<Duration>,
    trailers: Option<HeaderMap>,
}

/// Where a writer's sink is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    /// The reader has it, and flushes it when it comes. What is written meanwhile is gathered in another.
    Lent,
    /// The body has ended.
    Gone,
}

impl BodyWriter {
    /// A writer and its body, with the default [`WriterOptions`]: not coded, for use under a layer.
    #[must_use]
    pub fn new() -> (Self, WriterBody) {
        WriterOptions::new().channel()
    }

    fn with(sink: Sink, options: &WriterOptions, channel: Arc<Channel>) -> Self {
        Self { sink, place: Place::Here, pushed: false, channel, deadline: options.deadline, trailers: None }
    }

    /// Sets trailers, which follow the data when the body is finished.
    ///
    /// A body with trailers has no exact length: HTTP/1.1 would leave them out. Where the body is coded, they are
    /// treated as its head is: digests go, and an entity tag is marked as the layer that negotiated marks it.
    pub fn set_trailers(&mut self, trailers: HeaderMap) {
        self.trailers = Some(trailers);
    }

    /// Ends the body and says what it has cost. Never waits: what is left goes beyond the queue's capacity.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::BrokenPipe`] if the body is gone; another if the encoder failed.
    pub fn finish(mut self) -> io::Result<Tally> {
        self.end()
    }

    /// Ends the body with an error, which is its last item: what the reader has got stays recognizable as
    /// truncated.
    pub fn abort(mut self, error: impl Into<BoxError>) {
        self.fail(error.into());
    }

    /// Whether the body is gone, so that there is no point in writing on.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    fn end(&mut self) -> io::Result<Tally> {
        self.recall()?;
        let (last, coded) = self.sink.finish().map_err(|error| self.encoder_failed(error))?;
        let end = self.trailers.take().map_or(End::Clean, End::Trailers);
        let tally = self.let_go();
        self.channel.end(last, end, coded).map_err(broken_pipe)?;
        Ok(tally)
    }

    fn fail(&mut self, error: BoxError) {
        // Home, so that its context goes back; where that fails, there is nobody left to be told.
        if self.take_back().is_ok() {
            self.let_go();
            let _ = self.channel.end(Bytes::new(), End::Error(error), Coded::AsSaid);
        }
    }

    /// Drops the sink and says what it has cost.
    fn let_go(&mut self) -> Tally {
        self.place = Place::Gone;
        std::mem::replace(&mut self.sink, Sink::absent()).tally()
    }

    /// Takes `input` if that is a mere copy.
    #[inline]
    fn write_within(&mut self, input: &[u8]) -> bool {
        self.sink.write_within(input)
    }

    /// Takes some of `input`, once there is `room` in the queue if a frame may come out.
    fn write_on(
        &mut self,
        input: &[u8],
        mut room: impl FnMut(&mut Self) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<usize>> {
        if self.place == Place::Lent && self.channel.owes_flush() {
            if self.sink.gather(input) {
                return Poll::Ready(Ok(input.len()));
            }
            // Until there is room the sink stays where the reader finds it.
            ready!(room(self))?;
        }
        let owes_flush = self.recall()?;
        if !owes_flush && self.sink.is_due(input.len()) {
            ready!(room(self))?;
        }
        let taken = self.with_sink(|sink, frame| sink.write(input, frame))?;
        if owes_flush {
            self.ask_for_flush()?;
        }
        Poll::Ready(Ok(taken))
    }

    fn flush_now(&mut self) -> io::Result<()> {
        if self.place == Place::Gone || !self.sink.holds_back() && !self.pushed {
            return Ok(());
        }
        self.recall()?;
        self.ask_for_flush()
    }

    /// Flushes for a reader that waits, or else has the reader flush when it comes.
    fn ask_for_flush(&mut self) -> io::Result<()> {
        self.pushed = false;
        let behind = Sink::behind(&self.sink);
        match self.channel.flush(std::mem::replace(&mut self.sink, behind)) {
            Flushed::Lent => {
                self.place = Place::Lent;
                Ok(())
            }
            Flushed::Closed(sink) => {
                self.sink = sink;
                Err(broken_pipe(Closed))
            }
            Flushed::Wanted(sink) => {
                self.sink = sink;
                let frame = self.sink.flush().map_err(|error| self.encoder_failed(error))?;
                self.channel.push(frame, true).map_err(broken_pipe)
            }
        }
    }

    /// Has the sink here, with all that was written. Whether the reader had it for a flush that it has not done.
    fn recall(&mut self) -> io::Result<bool> {
        let Some(behind) = self.take_back()? else { return Ok(false) };
        let owes_flush = self.sink.holds_back();
        self.with_sink(|sink, frame| sink.join(&behind, frame))?;
        Ok(owes_flush)
    }

    /// Takes the sink back from the reader if that has it, and returns what was gathered behind it meanwhile.
    fn take_back(&mut self) -> io::Result<Option<Sink>> {
        match self.place {
            Place::Here => Ok(None),
            Place::Lent => {
                let sink = self.channel.take_back().map_err(broken_pipe)?;
                self.place = Place::Here;
                Ok(Some(std::mem::replace(&mut self.sink, sink)))
            }
            Place::Gone => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the body has ended")),
        }
    }

    /// Lets the sink work, and queues the frames that come out.
    fn with_sink<T>(
        &mut self,
        work: impl FnOnce(&mut Sink, &mut dyn FnMut(Bytes)) -> Result<T, Error>,
    ) -> io::Result<T> {
        let mut pushed = Ok(());
        let done = work(&mut self.sink, &mut |frame| {
            self.pushed = true;
            pushed = self.channel.push(frame, false);
        });
        let done = done.map_err(|error| self.encoder_failed(error))?;
        pushed.map(|()| done).map_err(broken_pipe)
    }

    /// The body gets the encoder's error, the writer one that says as much.
    fn encoder_failed(&mut self, error: Error) -> io::Error {
        self.fail(error.into());
        io::Error::other(Error::new(Kind::Encode))
    }
}

fn broken_pipe(_: Closed) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads the body any more")
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        self.fail(Error::aborted("the writer was dropped before the end").into());
    }
}

impl fmt::Debug for BodyWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyWriter")
            .field("sink", &self.sink)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
