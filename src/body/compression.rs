use super::{Ahead, End, FlushMark, LookAhead, Stream};
use crate::error::BoxError;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A response body that is compressed as it is read, or passes as it is.
    ///
    /// Dropping it in any state gives its encoder back to the pool. Its error is the inner body's, boxed, or
    /// this crate's [`Error`](crate::Error) if the encoder failed; either is the last item, and no valid end
    /// of the coding comes before it.
    pub struct CompressionBody<B> {
        #[pin]
        inner: Inner<B>,
        work: Work,
        // What is said to follow the frames that are there, where trailers or an error do.
        rest: Option<u64>,
    }
}

pin_project! {
    #[project = InnerProjection]
    enum Inner<B> {
        /// Not polled yet when the head went out.
        Direct { #[pin] body: B },
        /// Polled before the head went out, so it must not move any more.
        Boxed { body: Pin<Box<B>> },
        /// The answer is this crate's own: the service was not called.
        Absent,
    }
}

/// What is done with the inner body's frames.
enum Work {
    Pass,
    Ahead(Ahead),
    Stream(Box<Stream>),
    /// The stream is on another thread.
    #[cfg(feature = "tokio")]
    Away(super::away::Away),
    /// Nothing comes, but that is not said: the answer to a HEAD whose GET would have a body.
    Silent,
    Done,
}

impl<B> CompressionBody<B> {
    /// The inner body as it is.
    pub(crate) fn pass(body: B) -> Self {
        Self::with(Inner::Direct { body }, Work::Pass)
    }

    /// The inner body as it is, looked at if it is small and says so: then what is in memory can be sent again
    /// ([`try_clone`](Self::try_clone)).
    pub(crate) fn pass_in_memory(body: B, bound: usize) -> Self
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            let ahead = Ahead { end: Some(End::Clean), ..Ahead::default() };
            return Self::with(Inner::Direct { body }, Work::Ahead(ahead));
        }
        let Some(size) = body.size_hint().exact().and_then(|size| usize::try_from(size).ok()) else {
            return Self::pass(body);
        };
        if size > bound {
            return Self::pass(body);
        }
        let mut body = Box::pin(body);
        let (first, second, end) = LookAhead::at_hand(body.as_mut(), bound, size).into_parts();
        Self::ahead(body, Ahead { first, second, end })
    }

    /// Frames that are already there, then the inner body unless the end is there too.
    pub(crate) fn ahead(body: Pin<Box<B>>, ahead: Ahead) -> Self {
        Self::with(Inner::Boxed { body }, Work::Ahead(ahead))
    }

    /// A coded stream.
    pub(crate) fn stream(body: Pin<Box<B>>, stream: Stream) -> Self {
        Self::with(Inner::Boxed { body }, Work::Stream(Box::new(stream)))
    }

    /// Flushes a coded stream where its producer marks it.
    pub(crate) fn obey(&mut self, mark: FlushMark) {
        if let Work::Stream(stream) = &mut self.work {
            stream.obey(mark);
        }
    }

    /// An empty body that does not say so, for HEAD.
    pub(crate) fn silent(body: B) -> Self {
        Self::with(Inner::Direct { body }, Work::Silent)
    }

    /// A body of our own, with no inner one: all of it is there.
    pub(crate) fn own(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        let end = trailers.map_or(End::Clean, End::Trailers);
        let ahead = Ahead { first: body, second: Bytes::new(), end: Some(end) };
        Self::with(Inner::Absent, Work::Ahead(ahead))
    }

    fn with(inner: Inner<B>, work: Work) -> Self {
        Self { inner, work, rest: None }
    }

    /// Says an exact size also where trailers follow, and where an error does if `size` is what the inner body said. For
    /// HTTP/1.0, which has no trailers: a request without a length has no body (RFC 9112 section 6.3), and none is sent.
    pub(crate) fn delimited(self, size: Option<u64>) -> Self {
        let Work::Ahead(ahead) = &self.work else { return self };
        let rest = match ahead.end {
            Some(End::Trailers(_)) => Some(0),
            Some(End::Error(_)) => size.and_then(|size| size.checked_sub(ahead.len())),
            Some(End::Clean) | None => None,
        };
        Self { rest, ..self }
    }

    /// A copy of a body that is all in memory, coded or not, for requests that are sent again. `None` for any
    /// other.
    ///
    /// A copy has no inner body: see [`CompressionBody::get_ref`].
    #[must_use]
    pub fn try_clone(&self) -> Option<Self> {
        let Work::Ahead(Ahead { first, second, end: Some(end) }) = &self.work else { return None };
        let end = match end {
            End::Clean => End::Clean,
            End::Trailers(trailers) => End::Trailers(trailers.clone()),
            End::Error(_) => return None,
        };
        let ahead = Ahead { first: first.clone(), second: second.clone(), end: Some(end) };
        Some(Self { inner: Inner::Absent, work: Work::Ahead(ahead), rest: self.rest })
    }

    /// The inner body.
    ///
    /// # Panics
    ///
    /// If there is none: the layer's strict mode answered 406 in the service's place, or this is a copy of a
    /// request's body ([`CompressionBody::try_clone`]).
    pub fn get_ref(&self) -> &B {
        match &self.inner {
            Inner::Direct { body } => body,
            Inner::Boxed { body } => body,
            Inner::Absent => panic!("{ABSENT}"),
        }
    }

    /// The inner body. Frames that were looked at before the head went out are not in it any more.
    ///
    /// # Panics
    ///
    /// As [`CompressionBody::get_ref`] does.
    pub fn get_mut(&mut self) -> &mut B
    where
        B: Unpin,
    {
        match &mut self.inner {
            Inner::Direct { body } => body,
            Inner::Boxed { body } => body,
            Inner::Absent => panic!("{ABSENT}"),
        }
    }

    /// The inner body, pinned. Frames that were looked at are not in it any more.
    ///
    /// # Panics
    ///
    /// As [`CompressionBody::get_ref`] does.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut B> {
        self.project().inner.body().expect(ABSENT)
    }

    /// The inner body. Frames that were looked at, and what the encoder holds, are lost.
    ///
    /// # Panics
    ///
    /// As [`CompressionBody::get_ref`] does.
    pub fn into_inner(self) -> B
    where
        B: Unpin,
    {
        match self.inner {
            Inner::Direct { body } => body,
            Inner::Boxed { body } => *Pin::into_inner(body),
            Inner::Absent => panic!("{ABSENT}"),
        }
    }
}

const ABSENT: &str = "there is no inner body: this one was made by the layer itself";

impl<B: Body> Inner<B> {
    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Direct { body } => body.size_hint(),
            Self::Boxed { body } => body.size_hint(),
            Self::Absent => SizeHint::with_exact(0),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Direct { body } => body.is_end_stream(),
            Self::Boxed { body } => body.is_end_stream(),
            Self::Absent => true,
        }
    }
}

impl<B> Inner<B> {
    fn body(self: Pin<&mut Self>) -> Option<Pin<&mut B>> {
        match self.project() {
            InnerProjection::Direct { body } => Some(body),
            InnerProjection::Boxed { body } => Some(body.as_mut()),
            InnerProjection::Absent => None,
        }
    }
}

impl<B> Body for CompressionBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        if let Work::Ahead(ahead) = this.work {
            if let Some(item) = ahead.next() {
                return Poll::Ready(Some(item));
            }
            *this.work = if ahead.end.is_some() { Work::Done } else { Work::Pass };
        }
        let Some(inner) = this.inner.body() else { return Poll::Ready(None) };
        match this.work {
            #[cfg(feature = "tokio")]
            Work::Stream(_) | Work::Away(_) => poll_stream(this.work, inner, cx),
            #[cfg(not(feature = "tokio"))]
            Work::Stream(stream) => stream.poll_frame(inner, cx),
            Work::Pass => poll_plain(inner, cx),
            Work::Ahead(_) | Work::Silent | Work::Done => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.work {
            Work::Pass => self.inner.is_end_stream(),
            Work::Ahead(ahead) => ahead.is_end(),
            Work::Stream(stream) => stream.is_done(),
            #[cfg(feature = "tokio")]
            Work::Away(_) => false,
            Work::Silent => false,
            Work::Done => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.work {
            Work::Pass => self.inner.size_hint(),
            Work::Ahead(ahead) => ahead.size_hint(self.rest, || self.inner.size_hint()),
            Work::Stream(_) | Work::Silent => SizeHint::default(),
            #[cfg(feature = "tokio")]
            Work::Away(_) => SizeHint::default(),
            Work::Done => SizeHint::with_exact(0),
        }
    }
}

/// Polls a stream, which may go to another thread and come back.
#[cfg(feature = "tokio")]
fn poll_stream<B>(
    work: &mut Work,
    mut inner: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    loop {
        match work {
            // In its place while the inner body is polled: should that panic, nothing has ended.
            Work::Stream(stream) => {
                let polled = stream.poll_frame(inner.as_mut(), cx);
                if polled.is_ready() || !stream.has_large_frame() {
                    return polled;
                }
                send_away(work);
            }
            Work::Away(away) => match ready!(away.poll(cx)) {
                Ok(stream) => *work = Work::Stream(stream),
                Err(lost) => {
                    *work = Work::Done;
                    return Poll::Ready(Some(Err(crate::Error::encode(lost).into())));
                }
            },
            _ => return Poll::Ready(None),
        }
    }
}

/// Sends a stream to another thread. Outside a runtime it stays, and so will its frames.
#[cfg(feature = "tokio")]
fn send_away(work: &mut Work) {
    *work = match std::mem::replace(work, Work::Done) {
        Work::Stream(stream) => match super::away::Away::send(stream) {
            Ok(away) => Work::Away(away),
            Err(mut stream) => {
                stream.stay();
                Work::Stream(stream)
            }
        },
        other => other,
    };
}

/// The inner body's next frame as it is.
pub(super) fn poll_plain<B>(
    inner: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let frame = ready!(inner.poll_frame(cx));
    Poll::Ready(frame.map(|frame| {
        frame.map(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))).map_err(Into::into)
    }))
}

/// An empty body, as services want one that follow redirects.
impl<B> Default for CompressionBody<B> {
    fn default() -> Self {
        Self::own(Bytes::new(), None)
    }
}

impl<B: fmt::Debug> fmt::Debug for CompressionBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match &self.work {
            Work::Pass => "pass",
            Work::Ahead(_) => "ahead",
            Work::Stream(_) => "stream",
            #[cfg(feature = "tokio")]
            Work::Away(_) => "away",
            Work::Silent => "silent",
            Work::Done => "done",
        };
        let inner: &dyn fmt::Debug = match &self.inner {
            Inner::Direct { body } => body,
            Inner::Boxed { body } => body,
            Inner::Absent => &"absent",
        };
        f.debug_struct("CompressionBody").field("inner", inner).field("work", &work).finish()
    }
}
