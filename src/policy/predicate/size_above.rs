use super::Predicate;
use http::{Response, header::CONTENT_LENGTH};
use http_body::Body;

/// Says no to bodies that are known to be smaller than a minimum.
///
/// The size is the body's exact size hint or else its `Content-Length`. Where neither tells, the answer is yes,
/// and the layer applies the minimum ([`Predicate::min_size`]) to a body that ends while it looks ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeAbove(u64);

impl SizeAbove {
    /// 1024 bytes: below, coding hardly ever saves even one network segment.
    pub const DEFAULT_MIN_SIZE: u64 = 1024;

    /// Says yes to bodies of `min_size_bytes` or more.
    #[must_use]
    pub const fn new(min_size_bytes: u64) -> Self {
        Self(min_size_bytes)
    }
}

impl Default for SizeAbove {
    fn default() -> Self {
        Self(Self::DEFAULT_MIN_SIZE)
    }
}

impl Predicate for SizeAbove {
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        known_size(response).is_none_or(|size| size >= self.0)
    }

    fn could_compress<B>(&self, _response: &Response<B>) -> bool
    where
        B: Body,
    {
        true
    }

    fn min_size(&self) -> u64 {
        self.0
    }
}

/// The size of the representation, where the response tells it.
fn known_size<B: Body>(response: &Response<B>) -> Option<u64> {
    match response.body().size_hint().exact() {
        // An empty body beside a Content-Length answers HEAD: the length is the one that GET would send.
        None | Some(0) => content_length(response).or(response.body().size_hint().exact()),
        exact => exact,
    }
}

fn content_length<B>(response: &Response<B>) -> Option<u64> {
    response.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http_body::{Frame, SizeHint};
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    struct Hinted(Option<u64>);

    impl Body for Hinted {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(None)
        }

        fn size_hint(&self) -> SizeHint {
            self.0.map_or_else(SizeHint::default, SizeHint::with_exact)
        }
    }

    #[test]
    fn the_size_is_the_hint_or_the_field() {
        let cases = [
            // exact hint, Content-Length, answer
            (None, None, true),
            (Some(1023), None, false),
            (Some(1024), None, true),
            (Some(1025), None, true),
            (None, Some("1023"), false),
            (None, Some("1024"), true),
            (None, Some("many"), true),
            (None, Some("99999999999999999999"), true),
            (Some(10), Some("5000"), false),
            (Some(5000), Some("10"), true),
            (Some(0), None, false),
            (Some(0), Some("0"), false),
            (Some(0), Some("5000"), true),
        ];
        for (hint, length, expected) in cases {
            let mut response = Response::new(Hinted(hint));
            if let Some(length) = length {
                response.headers_mut().insert(CONTENT_LENGTH, length.parse().unwrap());
            }
            let predicate = SizeAbove::default();
            assert_eq!(predicate.should_compress(&response), expected, "{hint:?} {length:?}");
            assert!(predicate.could_compress(&response));
        }
        assert_eq!(SizeAbove::default().min_size(), 1024);
    }
}
