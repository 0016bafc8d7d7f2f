//! A body whose frames a test sends while it is read.

use bytes::Bytes;
use http_body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What is sent arrives as data; dropping the sender ends the body.
pub(crate) fn channel() -> (UnboundedSender<Bytes>, Channel) {
    let (sender, receiver) = unbounded_channel();
    (sender, Channel(receiver))
}

/// A tokio resource: it says pending when the cooperative budget is spent, ready or not.
#[derive(Debug)]
pub(crate) struct Channel(UnboundedReceiver<Bytes>);

impl Body for Channel {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        self.0.poll_recv(cx).map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}
