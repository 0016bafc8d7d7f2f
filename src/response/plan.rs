//! What is known of a request when its response comes, and what is decided then.

use super::layer::CompressionLayer;
use super::settings::Settings;
use crate::body::CompressionBody;
use crate::codec::{Codec, CompressionLevel};
use crate::engine::{Expected, Place};
use crate::policy::predicate::Predicate;
use crate::policy::{
    Compress, FlushPolicy, MappedTags, Negotiated, Reason, RequestFacts, add_vary, decide, is_event_stream,
    negotiate,
};
use crate::stats::Recorder;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body::Body;
use std::sync::Arc;

/// A request, as far as its response depends on it.
#[derive(Debug)]
pub(super) struct Plan<P> {
    pub(super) settings: Arc<Settings>,
    pub(super) predicate: P,
    pub(super) facts: RequestFacts,
    pub(super) negotiated: Negotiated,
    pub(super) mapped: MappedTags,
    /// Whether the predicate wants responses to this request coded.
    pub(super) wanted: bool,
    /// What responses to requests like this one have in common.
    route: Place,
}

/// A coding that was chosen for a response.
pub(super) struct Choice {
    pub(super) codec: &'static dyn Codec,
    pub(super) level: CompressionLevel,
    pub(super) flush: FlushPolicy,
}

/// What is done with a response, as far as its head tells.
pub(super) enum Decision {
    /// It is coded, with this offer unless the body says otherwise.
    Code(usize),
    /// It answers HEAD without a body, and says what GET would: coded with this offer.
    CodeHead(usize),
    /// It answers HEAD without a body and without a length: what GET would say is not known.
    UnknownHead,
    Pass(Reason),
}

/// Tells layers further out that the handler opted out: its word holds for all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled;

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
        let may = wanted && !(settings.config.honour_no_transform && facts.no_transform);
        let coding = negotiated.best().filter(|_| may).map(|index| settings.offers[index].name);
        let mapped = settings.config.etag.map_request(request.headers_mut(), coding, &settings.names);
        Some(Self {
            settings: Arc::clone(settings),
            predicate: layer.predicate.clone(),
            facts,
            negotiated,
            mapped,
            wanted,
            route: Place::of_route(request.uri().path().as_bytes()),
        })
    }

    /// Whether to code, as far as the head tells, and which offer to take.
    pub(super) fn decide<B: Body>(&self, response: &Response<B>, wishes: &Compress) -> Decision {
        match self.code(response, wishes) {
            Ok(decision) => decision,
            Err(reason) => Decision::Pass(reason),
        }
    }

    fn code<B: Body>(&self, response: &Response<B>, wishes: &Compress) -> Result<Decision, Reason> {
        let config = &self.settings.config;
        decide(self.facts, response.status(), response.headers(), config.honour_no_transform)?;
        if !wishes.is_on() || response.extensions().get::<Settled>().is_some() {
            return Err(Reason::OptedOut);
        }
        // Asked once where the answer is yes, as it mostly is: a yes with the size is a yes without it.
        let large = self.predicate.should_compress(response);
        if !self.wanted || !large && !self.predicate.could_compress(response) {
            return Err(Reason::Predicate);
        }
        let index = self.choose(response.headers(), wishes, |_| true).ok_or(Reason::NotAccepted)?;
        if response.body().is_end_stream() || response.body().size_hint().exact() == Some(0) {
            return if self.facts.is_head { self.code_head(response, wishes) } else { Err(Reason::Empty) };
        }
        if !self.negotiated.identity_refused() && !large {
            return Err(Reason::BelowMinimum);
        }
        Ok(Decision::Code(index))
    }

    /// What GET would do, by the length that its body would have.
    fn code_head<B: Body>(&self, response: &Response<B>, wishes: &Compress) -> Result<Decision, Reason> {
        let Some(length) = content_length(response.headers()) else { return Ok(Decision::UnknownHead) };
        if length == 0 {
            return Err(Reason::Empty);
        }
        if !self.negotiated.identity_refused() && !self.predicate.should_compress(response) {
            return Err(Reason::BelowMinimum);
        }
        let whole = length <= self.settings.config.look_ahead() as u64;
        if !whole && self.facts.needs_length() {
            return Err(Reason::Http10);
        }
        let usable = |index| whole || self.settings.codec(index).streams();
        self.choose(response.headers(), wishes, usable).map(Decision::CodeHead).ok_or(Reason::NotAccepted)
    }

    /// The offer to take among those that are `usable`: the handler's wish, if the client accepts it.
    pub(super) fn choose(
        &self,
        headers: &HeaderMap,
        wishes: &Compress,
        usable: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let wished = wishes.preferred_coding().and_then(|name| {
            let index = self.settings.offers.iter().position(|offer| offer.is_called(name.as_bytes()))?;
            (self.negotiated.accepts(index) && usable(index)).then_some(index)
        });
        wished.or_else(|| self.negotiated_for(headers).choose(usable))
    }

    /// What was negotiated, with the coding first among equals that suits a response with this head.
    fn negotiated_for(&self, headers: &HeaderMap) -> Negotiated {
        let mut negotiated = self.negotiated;
        if let Some(offer) = self.settings.first_for_events.filter(|_| is_event_stream(headers)) {
            negotiated.put_first(offer);
        }
        negotiated
    }

    pub(super) fn choice(&self, index: usize, wishes: &Compress) -> Choice {
        let (codec, level) = self.settings.offered(index);
        Choice {
            codec,
            level: wishes.chosen_level().unwrap_or(level),
            flush: wishes.chosen_flush().unwrap_or(self.settings.config.flush),
        }
    }

    /// What a body with this head is likely to need.
    pub(super) fn expect(&self, headers: &HeaderMap) -> Expected {
        self.settings.expect(self.route, headers)
    }

    /// How far to look ahead. Where recent bodies of unknown size all went on beyond the bound, there is no end to be
    /// found within it: looking so far would only hold back the first byte, and memory. Not so where nothing but a
    /// whole body can be coded: there the end decides more than how long the first byte waits.
    pub(super) fn bound(&self, size: Option<u64>, expected: &Expected, choice: &Choice) -> usize {
        let bound = self.settings.config.look_ahead();
        let whole_only = self.facts.needs_length() || !choice.codec.streams();
        if size.is_some() || whole_only || !expected.is_longer_than(bound) {
            return bound;
        }
        let least = usize::try_from(self.predicate.min_size()).unwrap_or(usize::MAX);
        choice.codec.batch(choice.codec.level(choice.level)).max(least).min(bound)
    }

    pub(super) fn recorder(&self) -> &Recorder {
        &self.settings.recorder
    }
}

/// What `Content-Length` says.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The strict mode's answer: what there would have been to choose from (RFC 9110 section 15.5.7). It depends on
/// `Accept-Encoding` as much as any other.
pub(super) fn not_acceptable<B>(settings: &Settings, is_head: bool) -> Response<CompressionBody<B>> {
    let text = format!("available content codings: {}, identity\n", settings.names.join(", "));
    let length = HeaderValue::from(text.len());
    let text = if is_head { Bytes::new() } else { Bytes::from(text) };
    let mut response = Response::new(CompressionBody::own(text, None));
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    add_vary(response.headers_mut());
    response
}
