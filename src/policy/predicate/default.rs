use super::{Predicate, SizeAbove};
use crate::policy::media;
use http::Response;
use http_body::Body;

/// What is worth coding unless you say otherwise: at least 1024 bytes, of a type that is not compressed already.
///
/// Left alone are images (but SVG and BMP, which are not compressed), audio, video, WOFF fonts, archives and
/// what is packed as one, and `application/grpc`, which codes its messages itself (gRPC-Web does not).
/// `text/event-stream` is coded, event by event.
///
/// A response with a missing or unreadable `Content-Type` is coded, and so is `application/octet-stream`,
/// whatever its file name says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefaultPredicate {
    size: SizeAbove,
}

impl DefaultPredicate {
    /// The default: 1024 bytes and the types above.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says yes from this many bytes on, for the same types. Zero turns the minimum off.
    #[must_use]
    pub const fn min_size(self, min_size_bytes: u64) -> Self {
        Self { size: SizeAbove::new(min_size_bytes) }
    }
}

impl Predicate for DefaultPredicate {
    fn should_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        self.size.should_compress(response) && self.could_compress(response)
    }

    fn could_compress<B>(&self, response: &Response<B>) -> bool
    where
        B: Body,
    {
        !media::is_compressed_body(response.headers())
    }

    fn min_size(&self) -> u64 {
        self.size.min_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::{CONTENT_TYPE, HeaderValue};

    fn response(content_type: &'static str, size: usize) -> Response<String> {
        let mut response = Response::new("x".repeat(size));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        response
    }

    #[test]
    fn the_size_and_the_type_decide() {
        let cases = [
            // type, size, should, could
            ("text/html; charset=utf-8", 1024, true, true),
            ("text/html", 1023, false, true),
            ("text/event-stream", 5000, true, true),
            ("image/png", 5000, false, false),
            ("application/grpc", 5000, false, false),
            ("application/grpc-web", 5000, true, true),
        ];
        for (content_type, size, should, could) in cases {
            let response = response(content_type, size);
            let predicate = DefaultPredicate::new();
            assert_eq!(predicate.should_compress(&response), should, "{content_type} {size}");
            assert_eq!(predicate.could_compress(&response), could, "{content_type} {size}");
        }
    }

    #[test]
    fn the_minimum_can_be_set() {
        let predicate = DefaultPredicate::new().min_size(10);
        assert_eq!(Predicate::min_size(&predicate), 10);
        assert!(predicate.should_compress(&response("text/plain", 10)));
        assert!(!predicate.should_compress(&response("text/plain", 9)));
        assert!(!predicate.should_compress(&response("video/mp4", 10)));
        assert_eq!(Predicate::min_size(&DefaultPredicate::new()), 1024);
    }

    #[test]
    fn without_a_type_the_answer_is_yes() {
        assert!(DefaultPredicate::new().should_compress(&Response::new("x".repeat(1024))));
    }
}
