//! The writer as an `io::Write`.

use super::wait::{Denied, wait};
use super::{BodyWriter, broken_pipe};
use crate::error::Error;
use std::io::{self, Write};
use std::task::Poll;

impl Write for BodyWriter {
    #[inline]
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        if self.write_within(input) { Ok(input.len()) } else { self.write_blocking(input) }
    }

    #[inline]
    fn write_all(&mut self, input: &[u8]) -> io::Result<()> {
        if self.write_within(input) { Ok(()) } else { self.write_all_blocking(input) }
    }

    /// Makes all that was written decodable by the receiver, as soon as it wants to read. Never waits.
    fn flush(&mut self) -> io::Result<()> {
        self.flush_now()
    }
}

impl BodyWriter {
    /// Takes some of `input`, after waiting for room.
    fn write_some(&mut self, input: &[u8]) -> io::Result<usize> {
        match self.write_on(input, |writer| Poll::Ready(writer.wait_for_room())) {
            Poll::Ready(result) => result,
            // Never: the room was waited for.
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Takes all of `input`, or what it could before an error, which then comes with the next write: there are
    /// serializers that do not look at how much a write took.
    #[inline(never)]
    fn write_blocking(&mut self, input: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < input.len() {
            match self.write_some(&input[taken..]) {
                Ok(more) => taken += more,
                Err(error) if taken == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(taken)
    }

    #[inline(never)]
    fn write_all_blocking(&mut self, mut input: &[u8]) -> io::Result<()> {
        while !input.is_empty() {
            let taken = self.write_some(input)?;
            input = &input[taken..];
        }
        Ok(())
    }

    fn wait_for_room(&mut self) -> io::Result<()> {
        match wait(self.deadline, |cx| self.channel.poll_room(cx)) {
            Ok(room) => room.map_err(broken_pipe),
            Err(Denied::InTask) => Err(io::Error::new(io::ErrorKind::WouldBlock, IN_TASK)),
            Err(Denied::TimedOut) => {
                self.fail(Error::aborted("the reader stalled").into());
                Err(io::Error::new(io::ErrorKind::TimedOut, "the body's reader stalled"))
            }
        }
    }
}

const IN_TASK: &str = "the body's queue is full, and waiting here would block an async task: write in \
    tokio::task::spawn_blocking, or use the writer as an AsyncWrite";
