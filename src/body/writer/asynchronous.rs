//! The writer as tokio's `AsyncWrite`.

use super::{BodyWriter, Place, broken_pipe};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::task::coop;

impl AsyncWrite for BodyWriter {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, input: &[u8]) -> Poll<io::Result<usize>> {
        let writer = self.get_mut();
        if writer.write_within(input) {
            return Poll::Ready(Ok(input.len()));
        }
        // A batch is work: a writer that is always ready must let others run.
        let work = ready!(coop::poll_proceed(cx));
        let written = writer.write_on(input, |writer| writer.channel.poll_room(cx).map_err(broken_pipe));
        if written.is_ready() {
            work.made_progress();
        }
        written
    }

    /// Makes all that was written decodable by the receiver, as soon as it wants to read. Never pending.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().flush_now())
    }

    /// Finishes the body. Never pending.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let writer = self.get_mut();
        if writer.place == Place::Gone {
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(writer.end().map(drop))
    }
}
