//! Which responses HTTP allows to code at all, whatever they contain.

use super::{fields::Fields, headers::has_digest, list, media, reason::Reason};
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, HeaderMap};
use http::{Method, Request, StatusCode, Version};

/// What must be known of a request once its response comes, when the request itself is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestFacts {
    pub(crate) is_head: bool,
    /// Also true for extended CONNECT (RFC 8441), which has the same method.
    pub(crate) is_connect: bool,
    /// Whether the request says `Cache-Control: no-transform`.
    pub(crate) no_transform: bool,
    pub(crate) version: Version,
}

impl RequestFacts {
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        Self {
            is_head: request.method() == Method::HEAD,
            is_connect: request.method() == Method::CONNECT,
            no_transform: no_transform(request.headers()),
            version: request.version(),
        }
    }

    /// Whether the client knows no chunked coding, so that a body without a known length should stay as it is
    /// (RFC 9112 section 6.1).
    pub(crate) fn needs_length(&self) -> bool {
        self.version < Version::HTTP_11
    }
}

/// Whether this response may be coded, as far as its head tells; the reason if not.
///
/// [`Reason::OptedOut`] comes before all others: on it the caller removes `Content-Encoding`, which was meant
/// for the layer.
pub(crate) fn decide(
    request: RequestFacts,
    status: StatusCode,
    headers: &HeaderMap,
    honour_no_transform: bool,
) -> Result<(), Reason> {
    let there = Fields::of(headers);
    let coded = there.has(Fields::CONTENT_ENCODING);
    if coded && opts_out(headers) {
        return Err(Reason::OptedOut);
    }
    match status {
        StatusCode::SWITCHING_PROTOCOLS => return Err(Reason::Upgrade),
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT => return Err(Reason::Status),
        StatusCode::NOT_MODIFIED => return Err(Reason::NotModified),
        _ if status.is_informational() => return Err(Reason::Status),
        _ if status.is_success() && request.is_connect => return Err(Reason::Connect),
        StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => return Err(Reason::Range),
        _ => {}
    }
    if there.has(Fields::CONTENT_RANGE) {
        return Err(Reason::Range);
    }
    if coded {
        return Err(Reason::AlreadyCoded);
    }
    if media::is_grpc(headers) {
        return Err(Reason::Grpc);
    }
    let said = there.has(Fields::CACHE_CONTROL) && no_transform(headers);
    if honour_no_transform && (request.no_transform || said) {
        return Err(Reason::NoTransform);
    }
    Ok(())
}

/// Whether this request may be coded, as far as its head tells; the reason if not. It is read as a response's
/// head, of which it is the mirror image, and then as what only requests say.
pub(crate) fn decide_request(
    request: RequestFacts,
    headers: &HeaderMap,
    honour_no_transform: bool,
) -> Result<(), Reason> {
    decide(request, StatusCode::OK, headers, honour_no_transform)?;
    // A part of an upload counts the bytes of the whole as they are (draft-ietf-httpbis-resumable-upload).
    if headers.contains_key("upload-offset") {
        return Err(Reason::Range);
    }
    // The sender, and perhaps a signature, vouches for these very bytes.
    if has_digest(headers) {
        return Err(Reason::Digest);
    }
    Ok(())
}

/// Whether the handler opted out through `Content-Encoding`: every coding it lists is `identity`, or it lists
/// none. Such a field never reaches the client (RFC 9110 section 8.4: `identity` should not be in it).
pub(crate) fn opts_out(headers: &HeaderMap) -> bool {
    headers.contains_key(CONTENT_ENCODING)
        && headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|line| list::elements(line.as_bytes()))
            .all(|coding| coding.eq_ignore_ascii_case(b"identity"))
}

/// Whether `Cache-Control` has the directive `no-transform`, as a whole token (RFC 9111 section 5.2.2.6).
/// An argument that it should not have changes nothing (section 5.2: recipients ignore it).
pub(crate) fn no_transform(headers: &HeaderMap) -> bool {
    headers
        .get_all(CACHE_CONTROL)
        .iter()
        .flat_map(|line| list::elements(line.as_bytes()))
        .any(|directive| list::cut(directive, b'=').0.eq_ignore_ascii_case(b"no-transform"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    type Fields = &'static [(&'static str, &'static str)];

    fn headers(fields: Fields) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn get() -> RequestFacts {
        RequestFacts::of(&Request::new(()))
    }

    #[test]
    fn the_status_decides_first() {
        let connect = RequestFacts { is_connect: true, ..get() };
        let cases = [
            (get(), 100, Err(Reason::Status)),
            (get(), 101, Err(Reason::Upgrade)),
            (get(), 103, Err(Reason::Status)),
            (get(), 200, Ok(())),
            (get(), 201, Ok(())),
            (get(), 204, Err(Reason::Status)),
            (get(), 205, Err(Reason::Status)),
            (get(), 206, Err(Reason::Range)),
            (get(), 301, Ok(())),
            (get(), 304, Err(Reason::NotModified)),
            (get(), 400, Ok(())),
            (get(), 404, Ok(())),
            (get(), 416, Err(Reason::Range)),
            (get(), 500, Ok(())),
            (connect, 200, Err(Reason::Connect)),
            (connect, 206, Err(Reason::Connect)),
            (connect, 407, Ok(())),
        ];
        for (request, status, expected) in cases {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(decide(request, status, &HeaderMap::new(), true), expected, "{status}");
        }
    }

    #[test]
    fn then_the_fields() {
        let cases: &[(Fields, Result<(), Reason>)] = &[
            (&[("content-range", "bytes 0-1/5")], Err(Reason::Range)),
            (&[("content-encoding", "br")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "GZIP")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "zstd, gzip")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "aws-chunked")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "identity, gzip")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "identity"), ("content-encoding", "gzip")], Err(Reason::AlreadyCoded)),
            (&[("content-encoding", "identity")], Err(Reason::OptedOut)),
            (&[("content-encoding", "Identity, ")], Err(Reason::OptedOut)),
            (&[("content-encoding", "")], Err(Reason::OptedOut)),
            (&[("content-encoding", ""), ("content-encoding", "identity")], Err(Reason::OptedOut)),
            (&[("content-encoding", "identity"), ("content-range", "bytes 0-1/5")], Err(Reason::OptedOut)),
            (&[("cache-control", "no-transform")], Err(Reason::NoTransform)),
            (&[("cache-control", "private, No-Transform")], Err(Reason::NoTransform)),
            (&[("cache-control", "private"), ("cache-control", "no-transform")], Err(Reason::NoTransform)),
            (&[("cache-control", "no-transform=1")], Err(Reason::NoTransform)),
            (&[("cache-control", "no-cache=\"no-transform\"")], Ok(())),
            (&[("cache-control", "no-cache=\"a, no-transform\"")], Ok(())),
            (&[("cache-control", "no-cache=\"a\\\", no-transform\"")], Ok(())),
            (&[("cache-control", "x-no-transform, no-transformx, foo-no-transform")], Ok(())),
            (&[("accept-ranges", "bytes")], Ok(())),
            (&[("content-type", "application/grpc")], Err(Reason::Grpc)),
            (&[("content-type", "Application/gRPC+proto; a=b")], Err(Reason::Grpc)),
            (&[("content-type", "application/grpc-web+proto")], Ok(())),
            (&[("content-type", "application/grpcx")], Ok(())),
        ];
        for (fields, expected) in cases {
            let headers = headers(fields);
            assert_eq!(decide(get(), StatusCode::OK, &headers, true), *expected, "{fields:?}");
        }
    }

    #[test]
    fn requests_have_reasons_of_their_own() {
        let connect = RequestFacts { is_connect: true, ..get() };
        let cases: &[(RequestFacts, Fields, Result<(), Reason>)] = &[
            (get(), &[("content-type", "text/plain"), ("expect", "100-continue")], Ok(())),
            (connect, &[], Err(Reason::Connect)),
            (get(), &[("content-encoding", "identity")], Err(Reason::OptedOut)),
            (get(), &[("content-encoding", "deflate")], Err(Reason::AlreadyCoded)),
            (get(), &[("content-range", "bytes 0-1/5")], Err(Reason::Range)),
            (get(), &[("upload-offset", "100")], Err(Reason::Range)),
            (get(), &[("content-type", "application/grpc")], Err(Reason::Grpc)),
            (get(), &[("cache-control", "no-transform")], Err(Reason::NoTransform)),
            (get(), &[("content-md5", "abc==")], Err(Reason::Digest)),
            (get(), &[("repr-digest", "sha-256=:a:")], Err(Reason::Digest)),
        ];
        for (facts, fields, expected) in cases {
            assert_eq!(decide_request(*facts, &headers(fields), true), *expected, "{fields:?}");
        }
    }

    #[test]
    fn no_transform_is_honoured_from_both_sides_unless_switched_off() {
        let mut request = Request::new(());
        request.headers_mut().insert(CACHE_CONTROL, "max-age=0, no-transform".parse().unwrap());
        let asked = RequestFacts::of(&request);
        assert!(asked.no_transform);
        let said = headers(&[("cache-control", "no-transform")]);
        assert_eq!(decide(asked, StatusCode::OK, &HeaderMap::new(), true), Err(Reason::NoTransform));
        assert_eq!(decide(asked, StatusCode::OK, &said, false), Ok(()));
    }

    #[test]
    fn only_what_could_have_been_coded_varies() {
        for (status, varies) in [(204, false), (206, false), (304, true), (101, false)] {
            let status = StatusCode::from_u16(status).unwrap();
            let reason = decide(get(), status, &HeaderMap::new(), true).unwrap_err();
            assert_eq!(reason.varies(), varies, "{status}");
        }
    }

    #[test]
    fn the_facts_of_a_request() {
        let mut request = Request::new(());
        *request.method_mut() = Method::HEAD;
        *request.version_mut() = Version::HTTP_10;
        let facts = RequestFacts::of(&request);
        assert!(facts.is_head && facts.needs_length());
        assert!(!facts.is_connect && !facts.no_transform && !get().needs_length());
        *request.method_mut() = Method::CONNECT;
        assert!(RequestFacts::of(&request).is_connect);
    }
}
