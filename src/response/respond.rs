//! From a service's response to the one that goes out: the decision, and the body that follows from it.

use super::layer::CompressionLayer;
use super::settings::Settings;
use crate::body::{Ahead, CompressionBody, End, LookAhead, Stream};
use crate::codec::{Codec, CompressionLevel};
use crate::engine::{Compressor, Expected, Observed, Place};
use crate::error::BoxError;
use crate::policy::predicate::Predicate;
use crate::policy::{
    Compress, EtagPolicy, FlushPolicy, MappedTags, Negotiated, Reason, RequestFacts, add_vary, decide,
    negotiate, rewrite_coded, rewrite_coded_trailers,
};
use bytes::Bytes;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use http::{Request, Response, StatusCode};
use http_body::Body;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Instant;

/// What is known of a request when its response comes.
#[derive(Debug)]
pub(super) struct Plan<P> {
    settings: Arc<Settings>,
    predicate: P,
    facts: RequestFacts,
    negotiated: Negotiated,
    mapped: MappedTags,
    route: Place,
    /// Whether the predicate wants responses to this request coded.
    wanted: bool,
}

/// A coding that was chosen for a response.
struct Choice {
    codec: &'static dyn Codec,
    level: CompressionLevel,
    flush: FlushPolicy,
}

impl<P: Predicate> Plan<P> {
    /// Reads the request, and maps its entity tags back to the handler's. `None` if it must be answered with 406.
    pub(super) fn new<B>(layer: &CompressionLayer<P>, request: &mut Request<B>) -> Option<Self> {
        let settings = &layer.settings;
        let negotiated = negotiate(request.headers(), &settings.offers);
        let wanted = layer.predicate.should_compress_request(request);
        if settings.config.strict && negotiated.nothing_acceptable() {
            settings.recorder.passed(Reason::NotAccepted);
            return None;
        }
        let facts = RequestFacts::of(request);
        let coding = negotiated.best().map(|index| settings.offers[index].name);
        let mapped = settings.config.etag.map_request(request.headers_mut(), coding, &settings.names);
        Some(Self {
            settings: Arc::clone(settings),
            predicate: layer.predicate.clone(),
            facts,
            negotiated,
            mapped,
            route: Place::ANY.narrowed(request.uri().path().as_bytes()),
            wanted,
        })
    }

    /// The response that goes out. Polls the body only if it may be coded.
    pub(super) fn respond<B>(
        &mut self,
        mut response: Response<B>,
        cx: &mut Context<'_>,
    ) -> Response<CompressionBody<B>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let wishes = response.extensions_mut().remove::<Compress>().unwrap_or_default();
        match self.decide(&response, &wishes) {
            Ok(index) => self.look(response, index, &wishes, cx),
            Err(reason) => {
                self.recorder().passed(reason);
                let varies = reason.varies()
                    && (reason != Reason::NotModified || self.predicate.could_compress(&response));
                self.rewrite_passed(response.headers_mut(), reason, varies);
                let silent = self.facts.is_head && reason == Reason::Empty;
                response.map(if silent { CompressionBody::silent } else { CompressionBody::pass })
            }
        }
    }

    /// Whether to code, as far as the head tells, and which offer to take.
    fn decide<B: Body>(&self, response: &Response<B>, wishes: &Compress) -> Result<usize, Reason> {
        let config = &self.settings.config;
        decide(self.facts, response.status(), response.headers(), config.honour_no_transform)?;
        if !wishes.is_on() {
            return Err(Reason::OptedOut);
        }
        if !self.wanted || !self.predicate.could_compress(response) {
            return Err(Reason::Predicate);
        }
        let index = self.choose(wishes, |_| true).ok_or(Reason::NotAccepted)?;
        let empty = response.body().is_end_stream() || response.body().size_hint().exact() == Some(0);
        if empty {
            // The length that HEAD says is that of GET, whose body may be too small to be coded.
            let small = self.facts.is_head && said_length(response.headers()) < self.predicate.min_size();
            return Err(if small { Reason::BelowMinimum } else { Reason::Empty });
        }
        if !self.negotiated.identity_refused() && !self.predicate.should_compress(response) {
            return Err(Reason::BelowMinimum);
        }
        Ok(index)
    }

    /// The offer to take among those that are `usable`: the handler's wish, if the client accepts it.
    fn choose(&self, wishes: &Compress, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let wished = wishes.preferred_coding().and_then(|name| {
            let index = self.settings.offers.iter().position(|offer| offer.is_called(name.as_bytes()))?;
            (self.negotiated.accepts(index) && usable(index)).then_some(index)
        });
        wished.or_else(|| self.negotiated.choose(usable))
    }

    /// Edits the head of a response that passes: nothing but `Vary`, and what was meant for this layer alone.
    fn rewrite_passed(&self, headers: &mut HeaderMap, reason: Reason, varies: bool) {
        match reason {
            Reason::OptedOut => {
                headers.remove(CONTENT_ENCODING);
            }
            Reason::NotModified => self.rewrite_not_modified(headers),
            // What GET would send is not known without its body, so no length is said (RFC 9110 section 9.3.2).
            Reason::Empty if self.facts.is_head => {
                headers.remove(CONTENT_LENGTH);
            }
            _ => {}
        }
        if varies {
            add_vary(headers);
        }
    }

    /// A 304 names the representation that the client holds (RFC 9110 section 15.4.5): the coded one if it
    /// listed that, or, with weak tags, either.
    fn rewrite_not_modified(&self, headers: &mut HeaderMap) {
        if self.settings.config.etag == EtagPolicy::Weaken && self.negotiated.best().is_some() {
            EtagPolicy::Weaken.rewrite(headers, "");
        }
        self.mapped.restore(headers);
    }

    fn look<B>(
        &self,
        response: Response<B>,
        index: usize,
        wishes: &Compress,
        cx: &mut Context<'_>,
    ) -> Response<CompressionBody<B>>
    where
        B: Body,
        B::Error: Into<BoxError>,
    {
        let (mut parts, body) = response.into_parts();
        let size = body.size_hint().exact();
        let kind = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        let place = self.route.narrowed(kind);
        let expected = self.settings.sizing.expect(place);
        let bound = self.look_ahead(&expected, index, wishes);
        let mut body = Box::pin(body);
        // A body that is known to be longer need not be looked at.
        let ahead = if size.is_some_and(|size| size > bound as u64) {
            LookAhead::nothing(bound, expected)
        } else {
            LookAhead::look(body.as_mut(), cx, bound, expected)
        };
        let body = match ahead.whole() {
            Some(length) => {
                let unknown = size.is_none().then_some(length as u64);
                let observed = Observed { gathered: ahead.gathered(), output: 0, length: unknown };
                self.settings.sizing.record(place, observed);
                self.whole(&mut parts.headers, body, ahead, length, self.choice(index, wishes))
            }
            None => self.stream(&mut parts.headers, body, ahead, size, place, wishes),
        };
        Response::from_parts(parts, body)
    }

    /// How far to look. Where recent bodies of unknown size all went on beyond the bound, looking so far finds no
    /// end; it only holds the first byte back, and memory.
    fn look_ahead(&self, expected: &Expected, index: usize, wishes: &Compress) -> usize {
        let bound = self.settings.config.look_ahead();
        if !expected.is_longer_than(bound) {
            return bound;
        }
        let Choice { codec, level, .. } = self.choice(index, wishes);
        let least = usize::try_from(self.predicate.min_size()).unwrap_or(usize::MAX);
        codec.batch(codec.level(level)).max(least).min(bound)
    }

    /// A body that is all there: coded in one call, or passed if that does not pay.
    fn whole<B>(
        &self,
        headers: &mut HeaderMap,
        body: Pin<Box<B>>,
        ahead: LookAhead,
        length: usize,
        choice: Choice,
    ) -> CompressionBody<B> {
        let forced = self.negotiated.identity_refused();
        if length == 0 || !forced && (length as u64) < self.predicate.min_size() {
            let reason = if length == 0 { Reason::Empty } else { Reason::BelowMinimum };
            return self.pass_ahead(headers, body, ahead, reason);
        }
        let mut compressor =
            Compressor::new(&self.settings.pool, choice.codec, choice.level, Some(length as u64));
        let padding = self.pad(headers, &mut compressor);
        compressor.gathered(ahead.frames());
        let start = self.settings.config.server_timing.then(Instant::now);
        let coded = compressor.whole(ahead.as_slice());
        let (coded, tally) = match coded {
            Ok((coded, tally)) if forced || coded.len() < length + padding => (coded, tally),
            // The original is still there, so a failing encoder costs no more than the compression.
            _ => return self.pass_ahead(headers, body, ahead, Reason::NotSmaller),
        };
        self.recorder().whole(tally);
        if let Some(start) = start {
            add_timing(headers, start);
        }
        let end = self.rewrite_end(ahead.into_end().unwrap_or(End::Clean), &choice);
        let known = matches!(end, End::Clean).then_some(coded.len() as u64);
        rewrite_coded(headers, choice.codec.name(), known, self.settings.config.etag);
        CompressionBody::ahead(body, Ahead { first: coded, second: Bytes::new(), end: Some(end) })
    }

    /// A body that goes on: coded from here on, if there is a coding that can.
    fn stream<B>(
        &self,
        headers: &mut HeaderMap,
        body: Pin<Box<B>>,
        ahead: LookAhead,
        size: Option<u64>,
        place: Place,
        wishes: &Compress,
    ) -> CompressionBody<B> {
        if self.facts.needs_length() {
            return self.pass_ahead(headers, body, ahead, Reason::Http10);
        }
        let (choice, mut compressor) = match self.admit(size, place, wishes) {
            Ok(admitted) => admitted,
            Err(reason) => return self.pass_ahead(headers, body, ahead, reason),
        };
        self.pad(headers, &mut compressor);
        compressor.limit_batch(self.settings.batch_limit);
        let etag = self.settings.config.etag;
        rewrite_coded(headers, choice.codec.name(), None, etag);
        let stream = Stream::new(compressor, ahead, choice.flush, etag, self.recorder().clone());
        CompressionBody::stream(body, stream)
    }

    /// The best coding that streams and for which there is memory: beyond the pool's limit only one that parks.
    fn admit(
        &self,
        size: Option<u64>,
        place: Place,
        wishes: &Compress,
    ) -> Result<(Choice, Compressor), Reason> {
        let mut refused = 0_u32;
        loop {
            let usable = |index: usize| refused & (1 << index) == 0 && self.settings.codec(index).streams();
            let Some(index) = self.choose(wishes, usable) else {
                return Err(if refused == 0 { Reason::NotAccepted } else { Reason::Pressure });
            };
            let choice = self.choice(index, wishes);
            let mut compressor = Compressor::new(&self.settings.pool, choice.codec, choice.level, size);
            compressor.learn(&self.settings.sizing, place);
            if compressor.reserve() {
                return Ok((choice, compressor));
            }
            refused |= 1 << index;
        }
    }

    fn choice(&self, index: usize, wishes: &Compress) -> Choice {
        let (codec, level) = self.settings.offered(index);
        Choice {
            codec,
            level: wishes.chosen_level().unwrap_or(level),
            flush: wishes.chosen_flush().unwrap_or(self.settings.config.flush),
        }
    }

    /// Passes a body that was looked at, as if it had not been.
    fn pass_ahead<B>(
        &self,
        headers: &mut HeaderMap,
        body: Pin<Box<B>>,
        ahead: LookAhead,
        reason: Reason,
    ) -> CompressionBody<B> {
        self.recorder().passed(reason);
        self.rewrite_passed(headers, reason, reason.varies());
        let (first, second, end) = ahead.into_parts();
        if matches!(end, Some(End::Clean)) && !headers.contains_key(TRANSFER_ENCODING) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(first.len()));
        }
        CompressionBody::ahead(body, Ahead { first, second, end })
    }

    fn rewrite_end(&self, end: End, choice: &Choice) -> End {
        match end {
            End::Trailers(mut trailers) => {
                rewrite_coded_trailers(&mut trailers, choice.codec.name(), self.settings.config.etag);
                End::Trailers(trailers)
            }
            end => end,
        }
    }

    /// Adds padding, where it was asked for, and returns how much of it will be in the body.
    fn pad(&self, headers: &mut HeaderMap, compressor: &mut Compressor) -> usize {
        let Some(range) = self.settings.config.padding() else { return 0 };
        let bytes = random_in(*range.start(), *range.end());
        if compressor.codec().pads() {
            compressor.pad(bytes);
            return usize::from(bytes);
        }
        if let Ok(filler) = HeaderValue::from_bytes(&vec![b'.'; usize::from(bytes)]) {
            headers.insert(HeaderName::from_static("x-padding"), filler);
        }
        0
    }

    fn recorder(&self) -> &crate::stats::Recorder {
        &self.settings.recorder
    }
}

/// What `Content-Length` says; the largest number if it says nothing.
fn said_length(headers: &HeaderMap) -> u64 {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.parse().ok()).unwrap_or(u64::MAX)
}

/// Appends how long the encoder took, keeping what the handler measured.
fn add_timing(headers: &mut HeaderMap, start: Instant) {
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if let Ok(value) = HeaderValue::try_from(format!("enc;dur={milliseconds:.3}")) {
        headers.append(HeaderName::from_static("server-timing"), value);
    }
}

/// A number that an attacker cannot foresee: the standard library's hasher has a random key.
fn random_in(low: u16, high: u16) -> u16 {
    let random = RandomState::new().build_hasher().finish();
    let span = u64::from(high - low) + 1;
    low + (random % span) as u16
}

/// The strict mode's answer. It depends on `Accept-Encoding` as much as any other.
pub(super) fn not_acceptable<B>() -> Response<CompressionBody<B>> {
    let mut response = Response::new(CompressionBody::absent());
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    add_vary(response.headers_mut());
    response
}
