//! The handler behind the layer: it answers as the item says, and remembers what it saw.

use bytes::Bytes;
use http::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tower_compress::{BoxError, Compress};
use tower_service::Service;

/// What a body does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Data(Bytes),
    /// A data frame without bytes.
    Empty,
    /// Pending, and woken at once.
    Yield,
    /// Pending until the client has decoded so many bytes of the body.
    Until(usize),
    Trailers(Vec<(&'static str, &'static str)>),
    Error,
}

/// What the handler answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) steps: Vec<Step>,
    /// Whether the body says its exact size.
    pub(crate) sized: bool,
    pub(crate) wish: Option<Compress>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The same answer to every request.
    Fixed,
    /// A resource with an entity tag: it knows the conditional fields and `Range`, but nothing of codings.
    Resource,
    /// HEAD is answered with the length and without the body, as file servers do.
    FileServer,
    /// A tunnel that echoes.
    Tunnel,
}

impl Reply {
    /// 200 with this text, whose size is known.
    pub(crate) fn text(body: impl Into<Bytes>) -> Self {
        Self::of([Step::Data(body.into())]).sized()
    }

    /// 200 with a body of unknown length.
    pub(crate) fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            status: StatusCode::OK,
            fields: vec![("content-type", "text/plain".into())],
            steps: steps.into_iter().collect(),
            sized: false,
            wish: None,
            kind: Kind::Fixed,
        }
    }

    /// A body of unknown length in frames of this size.
    pub(crate) fn cut(body: &[u8], size: usize) -> Self {
        Self::of(body.chunks(size).map(|chunk| Step::Data(Bytes::copy_from_slice(chunk))))
    }

    pub(crate) fn empty() -> Self {
        Self::of([]).sized()
    }

    pub(crate) fn sized(self) -> Self {
        Self { sized: true, ..self }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status: StatusCode::from_u16(status).expect("a status"), ..self }
    }

    pub(crate) fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    pub(crate) fn content_type(mut self, value: &str) -> Self {
        self.fields.retain(|(name, _)| *name != "content-type");
        self.field("content-type", value)
    }

    pub(crate) fn no_content_type(mut self) -> Self {
        self.fields.retain(|(name, _)| *name != "content-type");
        self
    }

    /// With the length in the head.
    pub(crate) fn with_length(self) -> Self {
        let length = self.bytes().len();
        self.field("content-length", length.to_string())
    }

    pub(crate) fn wish(self, wish: Compress) -> Self {
        Self { wish: Some(wish), ..self }
    }

    pub(crate) fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// All data, joined.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let data = self.steps.iter().filter_map(|step| match step {
            Step::Data(data) => Some(data.as_ref()),
            _ => None,
        });
        data.collect::<Vec<_>>().concat()
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        let field = |(name, value): &(&'static str, String)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).expect("a value"))
        };
        self.fields.iter().map(field).collect()
    }

    fn body(&self, progress: &Arc<Progress>) -> Scripted {
        Scripted {
            steps: self.steps.iter().cloned().collect(),
            left: self.bytes().len() as u64,
            sized: self.sized,
            progress: Arc::clone(progress),
        }
    }
}

/// How much the client has decoded, and who waits for that.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Whether anybody waits at all.
    pub(crate) awaited: bool,
    decoded: AtomicUsize,
    waiting: Mutex<Option<Waker>>,
    /// Data frames that the layer took from the body.
    pub(crate) pulled: AtomicUsize,
}

impl Progress {
    pub(crate) fn decoded(&self, bytes: usize) {
        self.decoded.store(bytes, Ordering::SeqCst);
        if let Some(waker) = self.waiting.lock().expect("a lock").take() {
            waker.wake();
        }
    }

    fn poll(&self, bytes: usize, cx: &mut Context<'_>) -> Poll<()> {
        *self.waiting.lock().expect("a lock") = Some(cx.waker().clone());
        if self.decoded.load(Ordering::SeqCst) >= bytes { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// What the handler saw of a request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) headers: HeaderMap,
}

/// The handler.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) reply: Arc<Reply>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) seen: Arc<Mutex<Option<Seen>>>,
}

impl App {
    pub(crate) fn new(reply: Reply) -> Self {
        let awaited = reply.steps.iter().any(|step| matches!(step, Step::Until(_)));
        let progress = Progress { awaited, ..Progress::default() };
        Self { reply: Arc::new(reply), progress: Arc::new(progress), seen: Arc::default() }
    }

    fn answer(&self, request: &mut Request<Incoming>) -> Response<Scripted> {
        *self.seen.lock().expect("a lock") = Some(Seen { headers: request.headers().clone() });
        match self.reply.kind {
            Kind::Fixed => {}
            Kind::Resource => {
                if let Some(response) = self.conditional(request) {
                    return response;
                }
            }
            Kind::FileServer if request.method() == Method::HEAD => {
                let empty = Reply { steps: Vec::new(), sized: true, ..(*self.reply).clone() };
                return self.respond(&empty);
            }
            Kind::FileServer => {}
            Kind::Tunnel => echo(hyper::upgrade::on(request)),
        }
        self.respond(&self.reply)
    }

    fn respond(&self, reply: &Reply) -> Response<Scripted> {
        let mut response = Response::new(reply.body(&self.progress));
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers();
        if let Some(wish) = reply.wish {
            response.extensions_mut().insert(wish);
        }
        response
    }

    /// What a handler that compares whole tags does (RFC 9110 section 13.2.2), in its order.
    fn conditional(&self, request: &Request<Incoming>) -> Option<Response<Scripted>> {
        let tag = self.reply.headers().get(ETAG)?.to_str().ok()?.to_owned();
        let listed = |name: HeaderName, weak: bool| {
            let lines = request.headers().get_all(name);
            let mut tags =
                lines.iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
            tags.any(|listed| {
                let listed = listed.trim();
                listed == "*" || listed == tag || weak && listed.strip_prefix("W/") == Some(&tag)
            })
        };
        let asks = |name: &HeaderName| request.headers().contains_key(name);
        let empty = |status: u16| Reply::empty().no_content_type().status(status).field("etag", tag.clone());
        if asks(&IF_MATCH) && !listed(IF_MATCH, false) {
            return Some(self.respond(&empty(412)));
        }
        if asks(&IF_NONE_MATCH) && listed(IF_NONE_MATCH, true) {
            return Some(self.respond(&empty(304)));
        }
        if request.method() == Method::PUT {
            return Some(self.respond(&empty(204)));
        }
        if asks(&RANGE) && (!asks(&IF_RANGE) || listed(IF_RANGE, false)) {
            let (all, text) = (self.reply.bytes(), request.headers()[RANGE].to_str().ok()?);
            let start: usize = text.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()?;
            let part = all.get(start..)?.to_vec();
            let mut reply = Reply::text(part).status(206).field("etag", tag.clone()).with_length();
            reply = reply.field("content-range", format!("bytes {start}-{}/{}", all.len() - 1, all.len()));
            return Some(self.respond(&reply));
        }
        None
    }
}

fn echo(upgrade: hyper::upgrade::OnUpgrade) {
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let (mut read, mut write) = tokio::io::split(hyper_util::rt::TokioIo::new(upgraded));
            let _ = tokio::io::copy(&mut read, &mut write).await;
        }
    });
}

impl Service<Request<Incoming>> for App {
    type Response = Response<Scripted>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        ready(Ok(self.answer(&mut request)))
    }
}

/// The handler's body.
#[derive(Debug)]
pub(crate) struct Scripted {
    steps: VecDeque<Step>,
    left: u64,
    sized: bool,
    progress: Arc<Progress>,
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(step) = self.steps.pop_front() else { return Poll::Ready(None) };
        Poll::Ready(Some(match step {
            Step::Data(data) => {
                self.left -= data.len() as u64;
                self.progress.pulled.fetch_add(1, Ordering::SeqCst);
                Ok(Frame::data(data))
            }
            Step::Empty => Ok(Frame::data(Bytes::new())),
            Step::Yield => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Step::Until(bytes) => {
                if self.progress.poll(bytes, cx).is_pending() {
                    self.steps.push_front(step);
                    return Poll::Pending;
                }
                return self.poll_frame(cx);
            }
            Step::Trailers(fields) => Ok(Frame::trailers(
                fields
                    .iter()
                    .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                    .collect(),
            )),
            Step::Error => Err("the handler failed".into()),
        }))
    }

    /// A body of unknown size does not know its end before it is asked, as streams do not.
    fn is_end_stream(&self) -> bool {
        self.sized && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.sized { SizeHint::with_exact(self.left) } else { SizeHint::default() }
    }
}
