//! The head and the trailers of a response that is coded. Nothing here is called before that is decided.

use super::{EtagPolicy, list};
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue,
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
    // A range would be of the coded form, which cannot be served in parts (section 14.3).
    headers.remove(ACCEPT_RANGES);
    // Framing is the server's: a field left here would be a lie about the coded body, or forbidden (RFC 9112
    // section 6.1, RFC 9113 section 8.2.2).
    headers.remove(TRANSFER_ENCODING);
    rewrite_coded_trailers(headers, coding, etag);
    match length {
        Some(length) => headers.insert(CONTENT_LENGTH, HeaderValue::from(length)),
        None => headers.remove(CONTENT_LENGTH),
    };
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    add_vary(headers);
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

fn remove_digests(headers: &mut HeaderMap) {
    // One look at the names costs less than four look-ups, and hardly any response has a digest.
    if headers.keys().any(|name| FALSE_DIGESTS.contains(name)) {
        for digest in &FALSE_DIGESTS {
            headers.remove(digest);
        }
    }
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
        headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
}

/// Digests of the message's or the representation's bytes, its coding included: `Content-MD5` (RFC 1864),
/// `Digest` (RFC 3230), `Content-Digest` and `Repr-Digest` (RFC 9530).
static FALSE_DIGESTS: [HeaderName; 4] = [
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let field = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        fields.iter().map(field).collect()
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
