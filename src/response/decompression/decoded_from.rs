use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue};

/// What a decoded response's head said before, as an extension of the response.
///
/// For progress bars: the bytes on the wire are those of the coded form, whose length is here, and
/// [`DecompressionBody::received`](crate::body::DecompressionBody::received) tells how far they have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedFrom {
    encoding: HeaderValue,
    length: Option<u64>,
}

impl DecodedFrom {
    pub(super) fn of(headers: &HeaderMap, exact: Option<u64>) -> Self {
        let mut lines = headers.get_all(CONTENT_ENCODING).iter();
        let first = lines.next().cloned().unwrap_or(HeaderValue::from_static("identity"));
        let encoding = lines.fold(first, |before, line| {
            let joined = [before.as_bytes(), line.as_bytes()].join(&b", "[..]);
            // Made of valid values, so it is one.
            HeaderValue::try_from(joined).unwrap_or(before)
        });
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Self { encoding, length: length.or(exact) }
    }

    /// The codings, as `Content-Encoding` listed them.
    #[must_use]
    pub fn content_encoding(&self) -> &HeaderValue {
        &self.encoding
    }

    /// The length of the coded form in bytes, if it was known.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.length
    }
}
