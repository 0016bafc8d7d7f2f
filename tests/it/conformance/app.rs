//! The handler behind the layer: it answers as the item says, and remembers what it saw.

use super::reply::{Kind, Reply};
use super::scripted::{Progress, Scripted};
use http::header::{ETAG, HeaderMap, HeaderName, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};
use http::{Method, Request, Response};
use hyper::body::Incoming;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower_service::Service;

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
        let progress = Progress::of(&reply);
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
        let mut response = Response::new(Scripted::new(reply, &self.progress));
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
