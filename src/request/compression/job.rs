//! One request on its way out: the decision, and the body that follows from it.

use super::layer::RequestCompressionLayer;
use super::origins::{Origin, Origins};
use crate::body::{Ahead, CompressionBody, End, LookAhead, Stream};
use crate::codec::CompressionLevel;
use crate::engine::{Compressor, Expected, Place};
use crate::error::BoxError;
use crate::policy::predicate::Predicate;
use crate::policy::{
    EtagPolicy, Negotiated, Reason, RequestFacts, decide_request, negotiate, remove_digests,
    rewrite_coded_request,
};
use crate::response::Settings;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

/// What outlives the request: whom it went to, and what may have to be sent again.
#[derive(Debug)]
pub(super) struct Sent {
    settings: Arc<Settings>,
    origins: Arc<Origins>,
    origin: Option<Origin>,
    /// Whether to code also what does not get smaller.
    force: bool,
    /// Whether a length must be said, since the request goes to HTTP/1.0.
    needs_length: bool,
    again: Option<Again>,
}

/// A request that can be sent again.
#[derive(Debug)]
struct Again {
    parts: Parts,
    body: Bytes,
    trailers: Option<HeaderMap>,
    /// The coding that it was sent with.
    offer: usize,
    /// Whether it was too long to be coded in one call. Then it is repeated uncoded.
    long: bool,
}

/// A request, or one whose body is still being looked at.
pub(super) enum Job<B> {
    Ready(Box<(Request<CompressionBody<B>>, Sent)>),
    Look(Box<Look<B>>),
}

pub(super) struct Look<B> {
    parts: Parts,
    body: Pin<Box<B>>,
    ahead: LookAhead,
    /// Whether to wait for a body that is not ready.
    wait: bool,
    /// What bodies like this one are likely to need.
    expected: Expected,
    size: Option<u64>,
    min_size: u64,
    accepts: Option<Negotiated>,
    sent: Sent,
}

impl<B> Job<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    pub(super) fn new<P: Predicate>(layer: &RequestCompressionLayer<P>, request: Request<B>) -> Self {
        let (settings, origins) = (&layer.settings, &layer.origins);
        let origin = if origins.learns() { Origin::of(&request) } else { None };
        let accepts = origin.as_ref().and_then(|origin| origins.get(origin, Instant::now()));
        let (settings, origins) = (Arc::clone(settings), Arc::clone(origins));
        let facts = RequestFacts::of(&request);
        let needs_length = facts.needs_length();
        let sent = Sent { settings, origins, origin, force: layer.force, needs_length, again: None };
        let (mut request, decision) = decide(layer, request, facts);
        let decision = decision.and_then(|()| sent.choose(accepts, |_| true).ok_or(Reason::NotAccepted));
        match decision {
            Err(reason) => {
                sent.settings.recorder.passed(reason);
                if reason == Reason::OptedOut {
                    request.headers_mut().remove(CONTENT_ENCODING);
                }
                let bound = sent.settings.config.look_ahead();
                let size = request.body().size_hint().exact();
                let request =
                    request.map(|body| sent.delimit(CompressionBody::pass_in_memory(body, bound), size));
                Self::Ready(Box::new((request, sent)))
            }
            Ok(offer) => {
                let (parts, body) = request.into_parts();
                let size = body.size_hint().exact();
                let streams = sent.settings.codec(offer).streams();
                let route = Place::of_route(parts.uri.path().as_bytes());
                let expected = sent.settings.expect(route, &parts.headers);
                let bound = bound(sent.settings.config.look_ahead().max(layer.wait), size, streams);
                Self::Look(Box::new(Look {
                    parts,
                    body: Box::pin(body),
                    ahead: LookAhead::expecting(bound, &expected, size),
                    expected,
                    wait: layer.wait > 0,
                    size,
                    min_size: if layer.force { 0 } else { layer.predicate.min_size() },
                    accepts,
                    sent,
                }))
            }
        }
    }
}

impl<B> Job<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    /// The request that goes out, once it is known what to send.
    pub(super) fn poll(
        job: &mut Option<Self>,
        cx: &mut Context<'_>,
    ) -> Poll<(Request<CompressionBody<B>>, Sent)> {
        if let Some(Self::Look(look)) = job {
            ready!(look.poll(cx));
        }
        Poll::Ready(match job.take().expect(POLLED) {
            Self::Ready(ready) => *ready,
            Self::Look(look) => look.send(),
        })
    }
}

/// Whether to code the request, as far as the head and the body's size tell.
fn decide<P: Predicate, B: Body>(
    layer: &RequestCompressionLayer<P>,
    request: Request<B>,
    facts: RequestFacts,
) -> (Request<B>, Result<(), Reason>) {
    let honour = layer.settings.config.honour_no_transform;
    let empty = request.body().is_end_stream() || request.body().size_hint().exact() == Some(0);
    let decision = match decide_request(facts, request.headers(), honour) {
        Ok(()) if empty => Err(Reason::Empty),
        Ok(()) if !layer.predicate.should_compress_request(&request) => Err(Reason::Predicate),
        decision => decision,
    };
    if decision.is_err() {
        return (request, decision);
    }
    // Predicates know responses. This one has the request's head and body, and gives them back.
    let (parts, body) = request.into_parts();
    let mut response = Response::new(body);
    *response.version_mut() = parts.version;
    *response.headers_mut() = parts.headers;
    *response.extensions_mut() = parts.extensions;
    let decision = if !layer.predicate.could_compress(&response) {
        Err(Reason::Predicate)
    } else if !layer.force && !layer.predicate.should_compress(&response) {
        Err(Reason::BelowMinimum)
    } else {
        Ok(())
    };
    let (mirrored, body) = response.into_parts();
    let mut request = Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = parts.uri;
    *request.version_mut() = mirrored.version;
    *request.headers_mut() = mirrored.headers;
    *request.extensions_mut() = mirrored.extensions;
    (request, decision)
}

/// How much of a body to look at. Of what is known to be longer that is the first frame, which is all of it if it is
/// in memory, unless it must be had whole.
fn bound(look_ahead: usize, size: Option<u64>, streams: bool) -> usize {
    match size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)) {
        Some(size) if size > look_ahead && streams => 1,
        Some(size) if size > look_ahead => size.min(MAX_WHOLE),
        _ => look_ahead,
    }
}

/// What a future's user may not do.
pub(super) const POLLED: &str = "not polled after it was ready";

/// The longest body that is gathered for a coding that cannot stream: Prometheus's remote write, which is what
/// such codings are for, stays far below it.
const MAX_WHOLE: usize = 64 * 1024 * 1024;

impl<B> Look<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    /// Looks at the body until it is known what to send.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.wait {
            return self.ahead.poll(self.body.as_mut(), cx);
        }
        self.ahead.look_on(self.body.as_mut(), cx);
        Poll::Ready(())
    }

    /// The request that goes out.
    fn send(self) -> (Request<CompressionBody<B>>, Sent) {
        match self.ahead.whole() {
            Some(length) => self.whole(length),
            None => self.stream(),
        }
    }

    /// A body that is all there: coded in one call, or passed if that does not pay.
    fn whole(mut self, length: usize) -> (Request<CompressionBody<B>>, Sent) {
        self.sent.settings.sizing.record(self.expected.place(), self.ahead.observed());
        if (length as u64) < self.min_size.max(1) {
            return self.pass(if length == 0 { Reason::Empty } else { Reason::BelowMinimum });
        }
        let Some(offer) = self.sent.choose(self.accepts, |_| true) else {
            return self.pass(Reason::NotAccepted);
        };
        let Some(coded) = self.sent.code(offer, self.ahead.as_slice(), self.ahead.frames()) else {
            return self.pass(Reason::NotSmaller);
        };
        let (first, second, end) = self.ahead.into_parts();
        debug_assert!(second.is_empty());
        let trailers = match end {
            Some(End::Trailers(trailers)) => Some(trailers),
            _ => None,
        };
        let parts = self.sent.origins.learns().then(|| self.parts.clone());
        let body = self.sent.dress(&mut self.parts.headers, offer, coded, trailers.clone());
        self.sent.again = parts.map(|parts| Again { parts, body: first, trailers, offer, long: false });
        (Request::from_parts(self.parts, body), self.sent)
    }

    /// A body that goes on: coded from here on, if there is a coding that can.
    fn stream(mut self) -> (Request<CompressionBody<B>>, Sent) {
        if self.sent.needs_length {
            return self.pass(Reason::Http10);
        }
        let settings = &self.sent.settings;
        let level = |offer| self.sent.level(offer);
        let choose = |usable: &dyn Fn(usize) -> bool| self.sent.choose(self.accepts, usable);
        let (offer, compressor) = match settings.admit(self.size, self.expected, level, choose) {
            Ok(admitted) => admitted,
            Err(reason) => return self.pass(reason),
        };
        if let Some(body) = self.ahead.only().filter(|_| self.ahead.is_one_piece()) {
            let (parts, body) = (self.parts.clone(), body.clone());
            self.sent.again = self.sent.origins.learns().then_some(Again {
                parts,
                body,
                trailers: None,
                offer,
                long: true,
            });
        }
        rewrite_coded_request(&mut self.parts.headers, settings.codec(offer).name(), None);
        let (flush, recorder) = (settings.config.flush, settings.recorder.clone());
        let stream = Stream::new(compressor, self.ahead, flush, EtagPolicy::Keep, recorder);
        (Request::from_parts(self.parts, CompressionBody::stream(self.body, stream)), self.sent)
    }

    /// Sends a body that was looked at as if it had not been. That its length is known now, its size hint says.
    fn pass(self, reason: Reason) -> (Request<CompressionBody<B>>, Sent) {
        self.sent.settings.recorder.passed(reason);
        let (first, second, end) = self.ahead.into_parts();
        let body = CompressionBody::ahead(self.body, Ahead { first, second, end });
        let body = self.sent.delimit(body, self.size);
        (Request::from_parts(self.parts, body), self.sent)
    }
}

/// Whether a redirect was followed to another origin: what this one says is not about the one that was asked.
fn is_from_elsewhere<R>(response: &Response<R>) -> bool {
    #[cfg(feature = "client")]
    return response.extensions().get::<crate::client::FromElsewhere>().is_some();
    #[cfg(not(feature = "client"))]
    {
        let _ = response;
        false
    }
}

impl Sent {
    /// Learns from a response, and makes the request to be sent again, if that is called for.
    pub(super) fn answered<B, R>(&mut self, response: &Response<R>) -> Option<Request<CompressionBody<B>>> {
        let again = self.again.take();
        let headers = response.headers();
        if !headers.contains_key(ACCEPT_ENCODING) {
            return None;
        }
        let accepts = negotiate(headers, &self.settings.offers);
        if let Some(origin) = self.origin.as_ref().filter(|_| !is_from_elsewhere(response)) {
            self.origins.learn(origin, accepts, Instant::now());
        }
        // Where the origin does accept the coding, it refuses something else (RFC 9110 section 15.5.16).
        let refused = response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let Again { mut parts, body, trailers, offer, long } =
            again.filter(|again| refused && !accepts.accepts(again.offer))?;
        let other = self.choose(Some(accepts), |other| other != offer).filter(|_| !long);
        let coded = other.and_then(|other| Some((other, self.code(other, &body, 0)?)));
        let body = match coded {
            Some((other, coded)) => self.dress(&mut parts.headers, other, coded, trailers),
            None => self.delimit(CompressionBody::own(body, trailers), None),
        };
        Some(Request::from_parts(parts, body))
    }

    /// The best offer among those that are `usable`: the origin's, or ours if it is not known.
    fn choose(&self, accepts: Option<Negotiated>, usable: impl Fn(usize) -> bool) -> Option<usize> {
        match accepts {
            Some(accepts) => accepts.choose(usable),
            None => (0..self.settings.offers.len()).find(|offer| usable(*offer)),
        }
    }

    fn level(&self, offer: usize) -> CompressionLevel {
        self.settings.offered(offer).1
    }

    /// The message coded in one call, if that makes it smaller or is prescribed. A failing encoder costs no more than that.
    fn code(&self, offer: usize, message: &[u8], frames: u64) -> Option<Bytes> {
        let (codec, level) = self.settings.offered(offer);
        let mut compressor = Compressor::new(&self.settings.pool, codec, level, Some(message.len() as u64));
        compressor.gathered(frames);
        let (coded, tally) = compressor.whole(message).ok()?;
        if coded.len() >= message.len() && !self.force {
            return None;
        }
        self.settings.recorder.whole(tally);
        Some(coded)
    }

    /// The body and the head of a request that was coded whole.
    fn dress<B>(
        &self,
        headers: &mut HeaderMap,
        offer: usize,
        coded: Bytes,
        mut trailers: Option<HeaderMap>,
    ) -> CompressionBody<B> {
        // A length would keep HTTP/1.1 from sending trailers. HTTP/1.0 has none, and no other way to say the end.
        let length = (trailers.is_none() || self.needs_length).then_some(coded.len() as u64);
        rewrite_coded_request(headers, self.settings.codec(offer).name(), length);
        trailers.iter_mut().for_each(remove_digests);
        self.delimit(CompressionBody::own(coded, trailers), None)
    }

    /// Has the body say its size if it must. `size` is what the inner body said.
    fn delimit<B>(&self, body: CompressionBody<B>, size: Option<u64>) -> CompressionBody<B> {
        if self.needs_length { body.delimited(size) } else { body }
    }
}
