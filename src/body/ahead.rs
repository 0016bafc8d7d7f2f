//! What of a body is there already.

use super::End;
use crate::error::BoxError;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// Frames that go out before the inner body is polled again, and the end if that is known.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    pub(crate) first: Bytes,
    pub(crate) second: Bytes,
    pub(crate) end: Option<End>,
}

impl Ahead {
    pub(super) fn next(&mut self) -> Option<Result<Frame<Bytes>, BoxError>> {
        for data in [&mut self.first, &mut self.second] {
            if !data.is_empty() {
                return Some(Ok(Frame::data(std::mem::take(data))));
            }
        }
        let end = self.end.as_mut()?;
        match std::mem::replace(end, End::Clean) {
            End::Clean => None,
            End::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            End::Error(error) => Some(Err(error)),
        }
    }

    pub(super) fn is_end(&self) -> bool {
        self.first.is_empty() && self.second.is_empty() && matches!(self.end, Some(End::Clean))
    }

    pub(super) fn len(&self) -> u64 {
        (self.first.len() + self.second.len()) as u64
    }

    /// What is here, and what the inner body says of the `rest` if that goes on. Trailers have no exact length before
    /// them: with one HTTP/1.1 would leave them out. `said` is for those who need one all the same.
    pub(super) fn size_hint(&self, said: Option<u64>, rest: impl FnOnce() -> SizeHint) -> SizeHint {
        let ready = self.len();
        let rest = match self.end {
            Some(End::Clean) => SizeHint::with_exact(0),
            Some(_) => said.map_or_else(SizeHint::default, SizeHint::with_exact),
            None => rest(),
        };
        let mut hint = SizeHint::default();
        if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(ready)) {
            hint.set_upper(upper);
        }
        hint.set_lower(ready.saturating_add(rest.lower()));
        hint
    }
}
