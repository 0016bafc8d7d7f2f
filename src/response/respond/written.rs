//! Responses whose bodies are coded as they are written, with no layer around.

use crate::body::WriterBody;
use crate::engine::Compressor;
use crate::policy::predicate::Predicate;
use crate::policy::{Compress, Reason, rewrite_coded};
use crate::response::padding;
use crate::response::plan::{Decision, Plan};
use crate::stats::Recorder;
use http::Response;
use http_body::Body;

/// Whether a body is whole before its head goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::response) enum Length {
    Known,
    Unknown,
}

impl<P: Predicate> Plan<P> {
    /// The name of the coding that the client likes best.
    pub(in crate::response) fn coding(&self) -> Option<&'static str> {
        self.negotiated.best().map(|index| self.settings.offers[index].name)
    }

    /// What codes a body that is about to be written, with who counts that; or why it stays as it is.
    pub(in crate::response) fn coder<B: Body>(
        &self,
        response: &Response<B>,
        length: Length,
    ) -> Result<(Compressor, Option<Recorder>), Reason> {
        let wishes = response.extensions().get::<Compress>().copied().unwrap_or_default();
        match self.decide(response, &wishes) {
            Decision::Code(_) => {}
            Decision::Pass(reason) => return Err(reason),
            Decision::CodeHead(_) | Decision::UnknownHead => return Err(Reason::Empty),
        }
        if length == Length::Unknown && self.facts.needs_length() {
            return Err(Reason::Http10);
        }
        let expected = self.expect(response.headers());
        let (_, mut compressor) = self.admit(None, expected, response.headers(), &wishes)?;
        if compressor.codec().pads() {
            compressor.pad(padding::choose(&self.settings, None));
        }
        compressor.limit_batch(self.settings.batch_limit);
        Ok((compressor, Some(self.recorder().clone())))
    }

    /// Edits the head of a response whose body its writer codes, and has its trailers edited by the same rule.
    pub(in crate::response) fn rewrite_written(
        &self,
        response: &mut Response<WriterBody>,
        coding: &'static str,
    ) {
        response.extensions_mut().remove::<Compress>();
        let length = response.body().size_hint().exact();
        let etag = self.settings.config.etag;
        rewrite_coded(response.headers_mut(), coding, length, etag);
        response.body_mut().set_etag(etag);
        let index = self.settings.offers.iter().position(|offer| offer.name == coding);
        if let Some(codec) = index.map(|index| self.settings.codec(index)) {
            padding::add_field(response.headers_mut(), codec, padding::choose(&self.settings, None));
        }
    }
}
