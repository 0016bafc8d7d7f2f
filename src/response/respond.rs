//! From a service's response to the one that goes out: its head, and the body that follows.

mod written;

pub(super) use written::Length;

use super::padding;
use super::plan::{Choice, Decision, Plan, Settled, content_length};
use crate::body::{Ahead, CompressionBody, End, FlushMark, LookAhead, Stream};
use crate::engine::{Compressor, Expected};
use crate::error::BoxError;
use crate::policy::predicate::Predicate;
use crate::policy::{
    Compress, EtagPolicy, Reason, add_vary, no_transform, rewrite_coded, rewrite_coded_trailers,
    rewrite_unknown,
};
use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http_body::Body;
use std::pin::Pin;
use std::task::Context;
use std::time::Instant;

impl<P: Predicate> Plan<P> {
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
        let mark = response.extensions_mut().remove::<FlushMark>();
        match self.decide(&response, &wishes) {
            Decision::Code(index) => {
                let mut response = self.look(response, index, &wishes, cx);
                if let Some(mark) = mark {
                    response.body_mut().obey(mark);
                }
                response
            }
            Decision::CodeHead(index) => {
                self.recorder().passed(Reason::Empty);
                let coding = self.settings.offers[index].name;
                rewrite_coded(response.headers_mut(), coding, None, self.settings.config.etag);
                response.map(CompressionBody::silent)
            }
            Decision::UnknownHead => {
                self.recorder().passed(Reason::Empty);
                rewrite_unknown(response.headers_mut(), self.settings.config.etag);
                response.map(CompressionBody::silent)
            }
            Decision::Pass(reason) => self.pass(response, reason),
        }
    }

    /// Edits the head of a response that passes: nothing but `Vary`, and what was meant for this layer alone.
    pub(super) fn pass<B: Body>(
        &self,
        mut response: Response<B>,
        reason: Reason,
    ) -> Response<CompressionBody<B>> {
        self.recorder().passed(reason);
        let varies = self.varies(&response, reason);
        if reason == Reason::OptedOut {
            response.headers_mut().remove(CONTENT_ENCODING);
            response.extensions_mut().insert(Settled);
        }
        if reason == Reason::NotModified {
            self.rewrite_not_modified(response.headers_mut(), varies);
        }
        if varies {
            add_vary(response.headers_mut());
        }
        response.map(CompressionBody::pass)
    }

    /// Whether another request, with another `Accept-Encoding`, might have got this response coded.
    fn varies<B: Body>(&self, response: &Response<B>, reason: Reason) -> bool {
        let by_request = match reason {
            Reason::NotModified => true,
            Reason::Predicate => !self.wanted,
            Reason::NoTransform => !no_transform(response.headers()),
            _ => return reason.varies(),
        };
        by_request && self.predicate.could_compress(response)
    }

    /// A 304 names the representation that a 200 would have sent (RFC 9110 section 15.4.5), or with marked tags
    /// the one that the client listed. `varies`: the 200 might have been coded.
    fn rewrite_not_modified(&self, headers: &mut HeaderMap, varies: bool) {
        match self.settings.config.etag {
            EtagPolicy::Suffix => self.mapped.restore(headers),
            etag if varies && self.negotiated.best().is_some() => etag.rewrite(headers, ""),
            _ => {}
        }
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
        // What the head says is not pledged to an encoder, since the body need not keep to it.
        let known = size.or_else(|| content_length(&parts.headers));
        let expected = self.expect(&parts.headers);
        let choice = self.choice(index, wishes);
        let bound = self.bound(known, &expected, &choice);
        let mut body = Box::pin(body);
        // A body that is known to be longer need not be looked at.
        let mut ahead = LookAhead::expecting(bound, &expected, known);
        if known.is_none_or(|size| size <= bound as u64) {
            ahead.look_on(body.as_mut(), cx);
        }
        let body = match ahead.whole() {
            Some(length) => {
                self.settings.sizing.record(expected.place(), ahead.observed());
                let likely = expected.length();
                self.whole(&mut parts.headers, body, ahead, (length, likely), choice)
            }
            None => self.stream(&mut parts.headers, body, ahead, size, expected, wishes),
        };
        Response::from_parts(parts, body)
    }

    /// A body that is all there: coded in one call, or passed if that does not pay.
    fn whole<B>(
        &self,
        headers: &mut HeaderMap,
        body: Pin<Box<B>>,
        ahead: LookAhead,
        (length, likely): (usize, Option<u64>),
        choice: Choice,
    ) -> CompressionBody<B> {
        let forced = self.negotiated.identity_refused();
        if length == 0 || !forced && (length as u64) < self.predicate.min_size() {
            let reason = if length == 0 { Reason::Empty } else { Reason::BelowMinimum };
            return self.pass_ahead(headers, body, ahead, reason);
        }
        let mut compressor =
            Compressor::new(&self.settings.pool, choice.codec, choice.level, Some(length as u64));
        if let Some(likely) = likely {
            compressor.share(likely);
        }
        let padding = padding::choose(&self.settings, Some(ahead.as_slice()));
        let padded = compressor.pad(padding);
        compressor.gathered(ahead.frames());
        let start = self.settings.config.server_timing.then(Instant::now);
        let coded = compressor.whole(ahead.as_slice());
        let (coded, tally) = match coded {
            Ok((coded, tally)) if forced || coded.len() < length + padded => (coded, tally),
            // The original is still there, so a failing encoder costs no more than the compression.
            _ => return self.pass_ahead(headers, body, ahead, Reason::NotSmaller),
        };
        self.recorder().whole(tally);
        if let Some(start) = start {
            add_timing(headers, start);
        }
        let end = self.rewrite_end(ahead.into_end().unwrap_or(End::Clean), &choice);
        // A length would keep HTTP/1.1 from sending trailers. HTTP/1.0 has none, and no other way to say the end.
        let said = matches!(end, End::Clean) || self.facts.needs_length();
        let length = said.then_some(coded.len() as u64);
        rewrite_coded(headers, choice.codec.name(), length, self.settings.config.etag);
        padding::add_field(headers, choice.codec, padding);
        CompressionBody::ahead(body, Ahead { first: coded, second: Bytes::new(), end: Some(end) })
    }

    /// A body that goes on: coded from here on, if there is a coding that can.
    fn stream<B>(
        &self,
        headers: &mut HeaderMap,
        body: Pin<Box<B>>,
        ahead: LookAhead,
        size: Option<u64>,
        expected: Expected,
        wishes: &Compress,
    ) -> CompressionBody<B> {
        if self.facts.needs_length() {
            return self.pass_ahead(headers, body, ahead, Reason::Http10);
        }
        let (choice, mut compressor) = match self.admit(size, expected, headers, wishes) {
            Ok(admitted) => admitted,
            Err(reason) => return self.pass_ahead(headers, body, ahead, reason),
        };
        let padding = padding::choose(&self.settings, None);
        compressor.pad(padding);
        let etag = self.settings.config.etag;
        rewrite_coded(headers, choice.codec.name(), None, etag);
        padding::add_field(headers, choice.codec, padding);
        let stream = Stream::new(compressor, ahead, choice.flush, etag, self.recorder().clone());
        #[cfg(feature = "tokio")]
        let stream = stream.offloading(self.settings.offload);
        CompressionBody::stream(body, stream)
    }

    /// The best coding that streams and for which there is memory: beyond the pool's limit only one that parks.
    fn admit(
        &self,
        size: Option<u64>,
        expected: Expected,
        headers: &HeaderMap,
        wishes: &Compress,
    ) -> Result<(Choice, Compressor), Reason> {
        let level = |index| self.choice(index, wishes).level;
        let choose = |usable: &dyn Fn(usize) -> bool| self.choose(headers, wishes, usable);
        let (index, compressor) = self.settings.admit(size, expected, level, choose)?;
        Ok((self.choice(index, wishes), compressor))
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
        if reason.varies() {
            add_vary(headers);
        }
        let (first, second, end) = ahead.into_parts();
        // What HEAD answers says what GET would, and that is not what its own body has.
        if matches!(end, Some(End::Clean)) && !headers.contains_key(TRANSFER_ENCODING) && !self.facts.is_head
        {
            // A body may say that the frame beyond the bound was its last one.
            headers.insert(CONTENT_LENGTH, HeaderValue::from(first.len() + second.len()));
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
}

/// Appends how long the encoder took, keeping what the handler measured.
fn add_timing(headers: &mut HeaderMap, start: Instant) {
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if let Ok(value) = HeaderValue::try_from(format!("enc;dur={milliseconds:.3}")) {
        headers.append(HeaderName::from_static("server-timing"), value);
    }
}
