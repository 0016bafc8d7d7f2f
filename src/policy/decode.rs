//! Which messages may be decoded, and what their codings are.

use super::{eligible::RequestFacts, list};
use http::header::{CONTENT_ENCODING, CONTENT_RANGE, HeaderMap, HeaderValue};
use http::{Response, StatusCode};

/// Whether the response's content is all there is of a coded form, so that it can be decoded.
///
/// A part of a coded form cannot (RFC 9110 section 14.4), and what has no content says in its head what another
/// response would have (sections 9.3.2 and 15.4.5). Any other status may: errors are coded as pages are.
pub(crate) fn may_decode<B>(request: RequestFacts, response: &Response<B>) -> bool {
    let status = response.status();
    let tunnel = request.is_connect && status.is_success();
    let bare = matches!(
        status,
        StatusCode::NO_CONTENT
            | StatusCode::RESET_CONTENT
            | StatusCode::NOT_MODIFIED
            | StatusCode::PARTIAL_CONTENT
    );
    !(request.is_head
        || tunnel
        || bare
        || status.is_informational()
        || response.headers().contains_key(CONTENT_RANGE))
}

/// The codings that the head lists, in the order in which they were applied, without `identity`, which is none
/// (RFC 9110 section 8.4).
pub(crate) fn listed_codings(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(CONTENT_ENCODING).into_iter();
    let codings = lines.flat_map(|line| list::elements(line.as_bytes()));
    codings.filter(|coding| !coding.eq_ignore_ascii_case(b"identity"))
}

/// The value of `Accept-Encoding` that asks for these codings: all alike, `identity` if there are none.
pub(crate) fn accept(names: &[&'static str]) -> HeaderValue {
    HeaderValue::try_from(names.join(", "))
        .ok()
        .filter(|_| !names.is_empty())
        .unwrap_or(HeaderValue::from_static("identity"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Method, Request};

    #[test]
    fn what_is_not_a_whole_coded_form_is_left_alone() {
        let of = |method| RequestFacts::of(&Request::builder().method(method).body(()).unwrap());
        let cases = [
            (Method::GET, 200, true),
            (Method::GET, 404, true),
            (Method::GET, 301, true),
            (Method::POST, 500, true),
            (Method::GET, 101, false),
            (Method::GET, 204, false),
            (Method::GET, 205, false),
            (Method::GET, 206, false),
            (Method::GET, 304, false),
            (Method::HEAD, 200, false),
            (Method::CONNECT, 200, false),
            (Method::CONNECT, 407, true),
        ];
        for (method, status, expected) in cases {
            let response = Response::builder().status(status).body(()).unwrap();
            assert_eq!(may_decode(of(method.clone()), &response), expected, "{method} {status}");
        }
        let part = Response::builder().header(CONTENT_RANGE, "bytes 0-1/5").body(()).unwrap();
        assert!(!may_decode(of(Method::GET), &part));
    }

    #[test]
    fn codings_over_many_lines() {
        let cases: &[(&[&str], &[&str])] = &[
            (&[], &[]),
            (&[""], &[]),
            (&["identity"], &[]),
            (&[" gzip ,, zstd\t"], &["gzip", "zstd"]),
            (&["Identity, gzip"], &["gzip"]),
            (&["gzip", "foo, BR"], &["gzip", "foo", "BR"]),
        ];
        for (lines, expected) in cases {
            let mut headers = HeaderMap::new();
            for line in *lines {
                headers.append(CONTENT_ENCODING, line.parse().unwrap());
            }
            let found: Vec<_> =
                listed_codings(&headers).map(|coding| std::str::from_utf8(coding).unwrap()).collect();
            assert_eq!(found, *expected, "{lines:?}");
        }
    }

    #[test]
    fn what_is_asked_for() {
        assert_eq!(accept(&["zstd", "gzip"]), "zstd, gzip");
        assert_eq!(accept(&[]), "identity");
    }
}
