//! Which of the fields that matter to a coding a head has.

use http::header::{HeaderMap, HeaderName};

/// The names found in one walk over a head. A look-up by name costs as much as walking ten names, and most heads
/// have none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields(u16);

impl Fields {
    pub(crate) const ACCEPT_RANGES: Self = Self(1);
    pub(crate) const CACHE_CONTROL: Self = Self(1 << 1);
    pub(crate) const CONTENT_ENCODING: Self = Self(1 << 2);
    pub(crate) const CONTENT_RANGE: Self = Self(1 << 3);
    pub(crate) const ETAG: Self = Self(1 << 4);
    pub(crate) const IF_MATCH: Self = Self(1 << 5);
    pub(crate) const IF_NONE_MATCH: Self = Self(1 << 6);
    pub(crate) const IF_RANGE: Self = Self(1 << 7);
    pub(crate) const TRANSFER_ENCODING: Self = Self(1 << 8);
    pub(crate) const VARY: Self = Self(1 << 9);
    /// Those of [`DIGESTS`].
    pub(crate) const DIGEST: Self = Self(1 << 10);

    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(headers.keys().fold(0, |seen, name| seen | Self::bit(name)))
    }

    /// Whether there is one of these.
    pub(crate) fn has(self, fields: Self) -> bool {
        self.0 & fields.0 != 0
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn bit(name: &HeaderName) -> u16 {
        let found = match name.as_str() {
            "accept-ranges" => Self::ACCEPT_RANGES,
            "cache-control" => Self::CACHE_CONTROL,
            "content-encoding" => Self::CONTENT_ENCODING,
            "content-range" => Self::CONTENT_RANGE,
            "etag" => Self::ETAG,
            "if-match" => Self::IF_MATCH,
            "if-none-match" => Self::IF_NONE_MATCH,
            "if-range" => Self::IF_RANGE,
            "transfer-encoding" => Self::TRANSFER_ENCODING,
            "vary" => Self::VARY,
            "content-md5" | "digest" | "content-digest" | "repr-digest" => Self::DIGEST,
            _ => Self(0),
        };
        found.0
    }
}

/// Digests of the message's or the representation's bytes, its coding included: `Content-MD5` (RFC 1864),
/// `Digest` (RFC 3230), `Content-Digest` and `Repr-Digest` (RFC 9530).
pub(crate) static DIGESTS: [HeaderName; 4] = [
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn each_field_is_found_among_others() {
        let fields = [
            ("accept-ranges", Fields::ACCEPT_RANGES),
            ("cache-control", Fields::CACHE_CONTROL),
            ("content-encoding", Fields::CONTENT_ENCODING),
            ("content-range", Fields::CONTENT_RANGE),
            ("etag", Fields::ETAG),
            ("if-match", Fields::IF_MATCH),
            ("if-none-match", Fields::IF_NONE_MATCH),
            ("if-range", Fields::IF_RANGE),
            ("transfer-encoding", Fields::TRANSFER_ENCODING),
            ("vary", Fields::VARY),
            ("content-md5", Fields::DIGEST),
            ("digest", Fields::DIGEST),
            ("content-digest", Fields::DIGEST),
            ("repr-digest", Fields::DIGEST),
        ];
        let mut headers = HeaderMap::new();
        for other in ["content-type", "date", "x-own", "if-modified-since"] {
            headers.insert(other, HeaderValue::from_static("x"));
        }
        assert_eq!(Fields::of(&headers), Fields(0));
        for (name, field) in fields {
            let mut headers = headers.clone();
            headers.append(name, HeaderValue::from_static("x"));
            headers.append(name, HeaderValue::from_static("y"));
            assert_eq!(Fields::of(&headers), field, "{name}");
            assert!(Fields::of(&headers).has(field.or(Fields::VARY)));
        }
    }
}
