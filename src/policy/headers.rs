//! The head and the trailers of a message that is coded or decoded. Nothing here is called before that is
//! decided.

use super::fields::{DIGESTS, Fields};
use super::{EtagPolicy, list};
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue,
    TRANSFER_ENCODING, VARY,
};

/// Rewrites the head of a response that is coded with `coding`, whose coded length is `length` if known.
///
/// Sets `Content-Encoding` and `Content-Length` (or removes it), merges `Vary`, removes `Accept-Ranges` and the
/// digests that are no longer true, and rewrites `ETag` as `etag` says. All else stays (RFC 9110 section 7.7).
pub(crate) fn rewrite_coded(
    headers: &mut HeaderMap,
    coding: &'static str,
    length: Option<u64>,
    etag: EtagPolicy,
) {
    let there = Fields::of(headers);
    if there.has(Fields::ACCEPT_RANGES) {
        // A range would be of the coded form, which cannot be served in parts (section 14.3).
        headers.remove(ACCEPT_RANGES);
    }
    if there.has(Fields::ETAG) {
        etag.rewrite(headers, coding);
    }
    rewrite_coded_content(headers, there, coding, length);
    if there.has(Fields::VARY) {
        add_vary(headers);
    } else {
        headers.append(VARY, ACCEPT_ENCODING_VALUE);
    }
}

/// Rewrites the head of a request that is coded: as a response's, but requests have no tags, ranges or `Vary`
/// of their own.
pub(crate) fn rewrite_coded_request(headers: &mut HeaderMap, coding: &'static str, length: Option<u64>) {
    rewrite_coded_content(headers, Fields::of(headers), coding, length);
}

/// What the heads of coded messages have in common, whichever way they go.
fn rewrite_coded_content(headers: &mut HeaderMap, there: Fields, coding: &'static str, length: Option<u64>) {
    // Framing is the connection's: a field left here would be a lie about the coded body, or forbidden (RFC 9112
    // section 6.1, RFC 9113 section 8.2.2).
    if there.has(Fields::TRANSFER_ENCODING) {
        headers.remove(TRANSFER_ENCODING);
    }
    if there.has(Fields::DIGEST) {
        remove_digests(headers);
    }
    match length {
        Some(length) => headers.insert(CONTENT_LENGTH, number(length)),
        None => headers.remove(CONTENT_LENGTH),
    };
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
}

/// Rewrites the head of a response to HEAD when it is not known whether GET's would be coded: says nothing that
/// would be false of either (RFC 9110 section 9.3.2 allows to omit it).
pub(crate) fn rewrite_unknown(headers: &mut HeaderMap, etag: EtagPolicy) {
    headers.remove(ACCEPT_RANGES);
    headers.remove(CONTENT_LENGTH);
    remove_digests(headers);
    etag.rewrite_unknown(headers);
    add_vary(headers);
}

/// Treats what trailers say of the representation as the head's fields are treated: digests and `ETag`.
pub(crate) fn rewrite_coded_trailers(trailers: &mut HeaderMap, coding: &'static str, etag: EtagPolicy) {
    remove_digests(trailers);
    etag.rewrite(trailers, coding);
}

/// Rewrites the head of a message whose body is decoded, but for the codings in `left`.
///
/// What spoke of the coded form goes: its length, its digests, and that ranges of it can be had.
pub(crate) fn rewrite_decoded(headers: &mut HeaderMap, left: Option<HeaderValue>) {
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    remove_digests(headers);
    match left {
        Some(left) => headers.insert(CONTENT_ENCODING, left),
        None => headers.remove(CONTENT_ENCODING),
    };
}

/// Treats the trailers of a message whose body is decoded as its head is treated: digests and `ETag`.
pub(crate) fn rewrite_decoded_trailers(trailers: &mut HeaderMap, etag: EtagPolicy) {
    remove_digests(trailers);
    etag.rewrite(trailers, "");
}

/// Removes digests from a head or trailers, since the bytes that they are of do not go on.
pub(crate) fn remove_digests(headers: &mut HeaderMap) {
    if has_digest(headers) {
        for digest in &DIGESTS {
            headers.remove(digest);
        }
    }
}

/// Whether there is a digest of the message's or the representation's bytes.
pub(crate) fn has_digest(headers: &HeaderMap) -> bool {
    Fields::of(headers).has(Fields::DIGEST)
}

/// Adds `Accept-Encoding` to `Vary`, in a line of its own, unless it is there or `*` is
/// (RFC 9110 section 12.5.5).
pub(crate) fn add_vary(headers: &mut HeaderMap) {
    let there = headers
        .get_all(VARY)
        .iter()
        .flat_map(|line| list::elements(line.as_bytes()))
        .any(|member| member == b"*" || member.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str().as_bytes()));
    if !there {
        headers.append(VARY, ACCEPT_ENCODING_VALUE);
    }
}

const ACCEPT_ENCODING_VALUE: HeaderValue = HeaderValue::from_static("accept-encoding");

/// A number as a field value. One allocation, where `HeaderValue::from` makes two.
pub(crate) fn number(value: u64) -> HeaderValue {
    // As many digits as `u64::MAX` has.
    let mut digits = [b'0'; 20];
    let mut start = digits.len() - 1;
    let mut rest = value;
    loop {
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
        start -= 1;
    }
    HeaderValue::from_bytes(&digits[start..]).expect("digits are visible ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let field = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        fields.iter().map(field).collect()
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for value in [0, 9, 10, 1_000, 99_999, u64::MAX] {
            assert_eq!(number(value), value.to_string().as_str());
        }
    }

    #[test]
    fn the_head_of_a_coded_response() {
        let before = headers(&[
            ("content-type", "text/html"),
            ("content-length", "5000"),
            ("content-length", "5000"),
            ("accept-ranges", "bytes"),
            ("etag", "\"x\""),
            ("content-md5", "abc=="),
            ("digest", "sha-256=a"),
            ("content-digest", "sha-256=:a:"),
            ("repr-digest", "sha-256=:a:"),
            ("unencoded-digest", "sha-256=:a:"),
            ("last-modified", "Sat, 29 Oct 1994 19:43:31 GMT"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("cache-control", "public"),
            ("vary", "origin"),
            ("x-unknown", "1"),
        ]);
        let common = [
            ("content-type", "text/html"),
            ("unencoded-digest", "sha-256=:a:"),
            ("last-modified", "Sat, 29 Oct 1994 19:43:31 GMT"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
            ("cache-control", "public"),
            ("vary", "origin"),
            ("vary", "accept-encoding"),
            ("x-unknown", "1"),
            ("content-encoding", "gzip"),
            ("etag", "\"x~gzip\""),
        ];
        let mut streamed = before.clone();
        rewrite_coded(&mut streamed, "gzip", None, EtagPolicy::Suffix);
        assert_eq!(streamed, headers(&common));

        let mut buffered = before;
        rewrite_coded(&mut buffered, "gzip", Some(1234), EtagPolicy::Suffix);
        let mut expected = headers(&common);
        expected.insert(CONTENT_LENGTH, HeaderValue::from_static("1234"));
        assert_eq!(buffered, expected);
    }

    #[test]
    fn the_head_of_a_coded_request() {
        let mut head = headers(&[
            ("content-length", "5000"),
            ("if-match", "\"x\""),
            ("content-digest", "sha-256=:a:"),
            ("host", "h"),
        ]);
        let coded = [("host", "h"), ("if-match", "\"x\""), ("content-encoding", "gzip")];
        rewrite_coded_request(&mut head, "gzip", None);
        assert_eq!(head, headers(&coded));
        rewrite_coded_request(&mut head, "gzip", Some(7));
        assert_eq!(head, headers(&[&coded[..], &[("content-length", "7")]].concat()));
    }

    #[test]
    fn the_head_of_a_decoded_message() {
        let coded = headers(&[
            ("content-type", "text/html"),
            ("content-encoding", "foo"),
            ("content-encoding", "gzip, br"),
            ("content-length", "5000"),
            ("accept-ranges", "bytes"),
            ("etag", "\"x\""),
            ("repr-digest", "sha-256=:a:"),
            ("unencoded-digest", "sha-256=:a:"),
            ("vary", "accept-encoding"),
        ]);
        let common = [
            ("content-type", "text/html"),
            ("etag", "\"x\""),
            ("unencoded-digest", "sha-256=:a:"),
            ("vary", "accept-encoding"),
        ];
        let mut decoded = coded.clone();
        rewrite_decoded(&mut decoded, None);
        assert_eq!(decoded, headers(&common));
        let mut in_part = coded;
        rewrite_decoded(&mut in_part, Some(HeaderValue::from_static("foo, gzip")));
        assert_eq!(in_part, headers(&[&common[..], &[("content-encoding", "foo, gzip")]].concat()));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        for (policy, tag, after) in [
            (EtagPolicy::Suffix, "\"x\"", None),
            (EtagPolicy::Suffix, "W/\"x\"", Some("W/\"x\"")),
            (EtagPolicy::Suffix, "x", None),
            (EtagPolicy::Weaken, "\"x\"", Some("W/\"x\"")),
            (EtagPolicy::Remove, "\"x\"", None),
            (EtagPolicy::Keep, "\"x\"", Some("\"x\"")),
        ] {
            let mut head = headers(&[
                ("content-length", "5000"),
                ("accept-ranges", "bytes"),
                ("repr-digest", "sha-256=:a:"),
                ("etag", tag),
                ("x-unknown", "1"),
            ]);
            rewrite_unknown(&mut head, policy);
            let mut expected = headers(&[("x-unknown", "1"), ("vary", "accept-encoding")]);
            if let Some(tag) = after {
                expected.insert("etag", HeaderValue::from_static(tag));
            }
            assert_eq!(head, expected, "{policy:?} {tag}");
        }
    }

    #[test]
    fn vary_is_merged_by_token() {
        let cases: &[(&[&'static str], bool)] = &[
            (&[], true),
            (&[""], true),
            (&["Origin"], true),
            (&["Cookie, Authorization"], true),
            (&["X-Accept-Encoding-Hint"], true),
            (&["accept-encoding"], false),
            (&["ACCEPT-ENCODING , Origin"], false),
            (&["Origin", "Accept-Encoding"], false),
            (&["*"], false),
            (&["Origin, *"], false),
        ];
        for (lines, added) in cases {
            let fields: Vec<_> = lines.iter().map(|line| ("vary", *line)).collect();
            let mut after = headers(&fields);
            add_vary(&mut after);
            let mut expected = headers(&fields);
            if *added {
                expected.append(VARY, HeaderValue::from_static("accept-encoding"));
            }
            assert_eq!(after, expected, "{lines:?}");
        }
    }

    #[test]
    fn trailers_of_what_is_decoded_are_treated_as_the_head_is() {
        for (policy, tag) in [(EtagPolicy::Keep, "\"x\""), (EtagPolicy::Weaken, "W/\"x\"")] {
            let mut trailers = headers(&[("grpc-status", "0"), ("etag", "\"x\""), ("digest", "sha-256=a")]);
            rewrite_decoded_trailers(&mut trailers, policy);
            assert_eq!(trailers, headers(&[("grpc-status", "0"), ("etag", tag)]), "{policy:?}");
        }
    }

    #[test]
    fn trailers_are_treated_as_the_head_is() {
        let mut trailers = headers(&[
            ("grpc-status", "0"),
            ("etag", "\"x\""),
            ("repr-digest", "sha-256=:a:"),
            ("content-md5", "a=="),
        ]);
        rewrite_coded_trailers(&mut trailers, "br", EtagPolicy::Weaken);
        assert_eq!(trailers, headers(&[("grpc-status", "0"), ("etag", "W/\"x\"")]));
    }
}
