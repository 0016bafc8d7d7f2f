use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};

/// What a decoded response's head said before, as an extension of the response.
///
/// For progress bars: the bytes on the wire are those of the coded form, whose length is here, and
/// [`DecompressionBody::received`](crate::body::DecompressionBody::received) tells how far they have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedFrom {
    encoding: String,
    length: Option<u64>,
}

impl DecodedFrom {
    pub(super) fn of(headers: &HeaderMap, exact: Option<u64>) -> Self {
        let lines = headers.get_all(CONTENT_ENCODING).iter();
        let encoding: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
        let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Self { encoding: encoding.join(", "), length: length.or(exact) }
    }

    /// The codings, as `Content-Encoding` listed them.
    #[must_use]
    pub fn content_encoding(&self) -> &str {
        &self.encoding
    }

    /// The length of the coded form in bytes, if it was known.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.length
    }
}
