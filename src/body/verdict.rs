//! What a server should answer to a request whose body could not be decoded.

use crate::error::{BoxError, Error};
use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::{Full, Limited};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::task::{Context, Poll, Waker};

/// Where a request's body tells the layer that gave it out what was wrong with it; for a response's body,
/// nowhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    /// The status; zero as long as there is nothing wrong.
    status: Option<Arc<AtomicU16>>,
}

impl Verdict {
    /// For a request's body.
    pub(crate) fn for_request() -> Self {
        Self { status: Some(Arc::default()) }
    }

    /// Takes note of the error, and makes it the body's.
    ///
    /// A request over a limit fails with `http_body_util::LengthLimitError`, which servers know: axum answers 413
    /// to it.
    pub(crate) fn pass(&self, error: Error) -> BoxError {
        let Some(status) = &self.status else { return error.into() };
        let (code, error) = if error.is_limit() {
            (StatusCode::PAYLOAD_TOO_LARGE, length_limit_error().unwrap_or_else(|| error.into()))
        } else if error.is_decode() {
            // The server's own failure: nothing to tell the client.
            return error.into();
        } else {
            (StatusCode::BAD_REQUEST, error.into())
        };
        status.store(code.as_u16(), Ordering::Relaxed);
        error
    }

    /// What to answer, if the body could not be decoded.
    pub(crate) fn status(&self) -> Option<StatusCode> {
        let status = self.status.as_ref()?.load(Ordering::Relaxed);
        StatusCode::from_u16(status).ok()
    }
}

/// The error of `http_body_util::Limited`. It cannot be made but by a body that is too long.
fn length_limit_error() -> Option<BoxError> {
    let body = pin!(Limited::new(Full::new(Bytes::from_static(b"too long")), 0));
    match body.poll_frame(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Err(error))) => Some(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::LengthLimitError;

    #[test]
    fn a_request_tells_what_was_wrong() {
        let cases = [
            (Error::limit("x"), Some(413)),
            (Error::malformed("x"), Some(400)),
            (Error::truncated(), Some(400)),
            (Error::decode("x"), None),
        ];
        for (error, status) in cases {
            let verdict = Verdict::for_request();
            assert_eq!(verdict.status(), None);
            let limit = error.is_limit();
            let error = verdict.clone().pass(error);
            assert_eq!(error.is::<LengthLimitError>(), limit);
            assert_eq!(error.is::<Error>(), !limit);
            assert_eq!(verdict.status().map(|status| status.as_u16()), status);
        }
    }

    #[test]
    fn a_response_has_the_error_alone() {
        let verdict = Verdict::default();
        let error = verdict.pass(Error::limit("x"));
        assert!(error.downcast_ref::<Error>().unwrap().is_limit());
        assert_eq!(verdict.status(), None);
    }
}
