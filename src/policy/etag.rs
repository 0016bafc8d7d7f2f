//! Entity tags of coded responses, and what requests say about them.
//!
//! A strong tag promises the same bytes, so the coded representation needs another one than the identity
//! representation (RFC 9110 section 8.8.3.3). With [`EtagPolicy::Suffix`] it gets a mark, and requests are mapped
//! back, so that handlers see the tags that they gave out.

use super::fields::Fields;
use super::list;
use http::header::{ETAG, HeaderMap, HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE};
use std::mem;

/// What becomes of a response's strong `ETag` once it is coded.
///
/// Weak tags stay as they are. Except with [`Keep`](Self::Keep), a malformed tag or a second one is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum EtagPolicy {
    /// `"x"` becomes `"x~gzip"`, and requests with such a tag are mapped back before the handler sees them.
    /// Conditional requests and write preconditions (`If-Match`) go on working with any handler.
    #[default]
    Suffix,
    /// `"x"` becomes `W/"x"`. Revalidation works with handlers that compare weakly, as they should; `If-Match`
    /// needs a strong tag and then always fails (RFC 9110 section 13.1.1).
    Weaken,
    /// The tag is removed: nothing can be revalidated.
    Remove,
    /// The tag stays, for handlers whose tags already depend on `Accept-Encoding`. With others, ranges of
    /// coded and uncoded bytes may be spliced together.
    Keep,
}

impl EtagPolicy {
    /// Rewrites the tag of a response (or of its trailers) that is coded.
    pub(crate) fn rewrite(self, headers: &mut HeaderMap, coding: &str) {
        if self == Self::Keep {
            return;
        }
        let mut tags = headers.get_all(ETAG).iter();
        let Some(tag) = tags.next() else {
            return;
        };
        let rewritten = match (self, tags.next(), Tag::parse(tag.as_bytes())) {
            (Self::Suffix | Self::Weaken, None, Some(Tag::Weak)) => return,
            (Self::Suffix, None, Some(Tag::Strong(opaque))) => {
                value(&[b"\"", opaque, MARK, coding.as_bytes(), b"\""])
            }
            (Self::Weaken, None, Some(Tag::Strong(opaque))) => value(&[b"W/\"", opaque, b"\""]),
            _ => None,
        };
        match rewritten {
            Some(rewritten) => headers.insert(ETAG, rewritten),
            None => headers.remove(ETAG),
        };
    }

    /// Rewrites the tag of a response of which nobody knows whether it would be coded: what stays is true of both
    /// forms.
    pub(crate) fn rewrite_unknown(self, headers: &mut HeaderMap) {
        if self != Self::Suffix {
            self.rewrite(headers, "");
            return;
        }
        let mut tags = headers.get_all(ETAG).iter();
        let tag = tags.next().and_then(|tag| Tag::parse(tag.as_bytes()));
        if !matches!((tag, tags.next()), (Some(Tag::Weak), None)) {
            headers.remove(ETAG);
        }
    }

    /// Maps the tags in a request's conditional fields back to the handler's. `negotiated` is the coding that
    /// this request will get, `known` are the names of all that the layer may ever have applied.
    ///
    /// - `If-None-Match`: only tags of the negotiated coding. Another one's, mapped, would select a variant
    ///   that the client does not take now.
    /// - `If-Match`: any of ours. The precondition is about the resource's state, whatever its coding.
    /// - `Range` with one of ours in `If-Range` or in `If-Match`: it goes, and `If-Range` with it. The client holds
    ///   coded bytes, and a range of the handler's would not continue them; `If-Range` without `Range` would mean
    ///   nothing. A server may always answer with the whole (RFC 9110 section 14.2).
    pub(crate) fn map_request(
        self,
        headers: &mut HeaderMap,
        negotiated: Option<&'static str>,
        known: &[&'static str],
    ) -> MappedTags {
        let mut mapped = MappedTags::default();
        let conditions = Fields::IF_NONE_MATCH.or(Fields::IF_MATCH).or(Fields::IF_RANGE);
        if self != Self::Suffix || !Fields::of(headers).has(conditions) {
            return mapped;
        }
        if let Some(coding) = negotiated.filter(|_| headers.contains_key(IF_NONE_MATCH)) {
            mapped.coding = coding;
            map_lines(headers, IF_NONE_MATCH, &[coding], |line| mapped.lines.push(line));
        }
        let mut holds_coded = false;
        if headers.contains_key(IF_MATCH) {
            map_lines(headers, IF_MATCH, known, |_| holds_coded = true);
        }
        let ours = |tag: &HeaderValue| unmark(tag.as_bytes(), known).is_some();
        if holds_coded || headers.get_all(IF_RANGE).iter().any(ours) {
            headers.remove(IF_RANGE);
            headers.remove(RANGE);
        }
        mapped
    }
}

/// What [`EtagPolicy::map_request`] mapped in `If-None-Match`: the lines as the client sent them.
/// Holds no memory where nothing was mapped.
#[derive(Debug, Clone, Default)]
pub(crate) struct MappedTags {
    coding: &'static str,
    lines: Vec<HeaderValue>,
}

impl MappedTags {
    /// Gives the tag of a 304 its mark again, if the request listed that very tag. The 304 then names the
    /// representation that the client holds (RFC 9110 section 15.4.5).
    pub(crate) fn restore(&self, headers: &mut HeaderMap) {
        if self.lines.is_empty() {
            return;
        }
        let Some(Tag::Strong(opaque)) = headers.get(ETAG).and_then(|tag| Tag::parse(tag.as_bytes())) else {
            return;
        };
        let mut listed = self.lines.iter().flat_map(|line| list::tags(line.as_bytes()));
        if listed.any(|tag| unmark(tag, &[self.coding]) == Some(opaque)) {
            EtagPolicy::Suffix.rewrite(headers, self.coding);
        }
    }
}

/// A well-formed entity tag (RFC 9110 section 8.8.3).
enum Tag<'a> {
    Weak,
    /// With what stands between the quotes.
    Strong(&'a [u8]),
}

impl<'a> Tag<'a> {
    fn parse(tag: &'a [u8]) -> Option<Self> {
        let (weak, quoted) = match tag {
            [b'W', b'/', quoted @ ..] => (true, quoted),
            quoted => (false, quoted),
        };
        let [b'"', opaque @ .., b'"'] = quoted else {
            return None;
        };
        let well_formed = opaque.iter().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..));
        match (well_formed, weak) {
            (false, _) => None,
            (true, true) => Some(Self::Weak),
            (true, false) => Some(Self::Strong(opaque)),
        }
    }
}

/// The opaque part of the handler's tag, if `tag` is that tag with the mark of one of these codings.
fn unmark<'a>(tag: &'a [u8], codings: &[&'static str]) -> Option<&'a [u8]> {
    let Some(Tag::Strong(opaque)) = Tag::parse(tag) else {
        return None;
    };
    codings.iter().find_map(|coding| opaque.strip_suffix(coding.as_bytes())?.strip_suffix(MARK))
}

/// Takes the marks off the tags in every line of the field `name`, and hands on the lines that had any, as they
/// were. All else in a line, such as `*`, weak tags and other people's, stays.
fn map_lines(
    headers: &mut HeaderMap,
    name: http::HeaderName,
    codings: &[&'static str],
    mut original: impl FnMut(HeaderValue),
) {
    let http::header::Entry::Occupied(mut lines) = headers.entry(name) else {
        return;
    };
    for line in lines.iter_mut() {
        if !list::tags(line.as_bytes()).any(|tag| unmark(tag, codings).is_some()) {
            continue;
        }
        let mut mapped = Vec::with_capacity(line.len());
        for tag in list::tags(line.as_bytes()) {
            if !mapped.is_empty() {
                mapped.extend_from_slice(b", ");
            }
            match unmark(tag, codings) {
                Some(opaque) => {
                    mapped.push(b'"');
                    mapped.extend_from_slice(opaque);
                    mapped.push(b'"');
                }
                None => mapped.extend_from_slice(tag),
            }
        }
        // Made of parts of a valid value, so it is one.
        if let Ok(mapped) = HeaderValue::try_from(mapped) {
            original(mem::replace(line, mapped));
        }
    }
}

/// The parts as one field value.
fn value(parts: &[&[u8]]) -> Option<HeaderValue> {
    HeaderValue::try_from(parts.concat()).ok()
}

/// What stands between the handler's tag and the coding's name. No known server uses it, so that a tag with
/// it is taken for ours.
const MARK: &[u8] = b"~";

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    const KNOWN: &[&str] = &["zstd", "br", "gzip"];

    fn headers(fields: &[(HeaderName, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    fn lines(headers: &HeaderMap, name: HeaderName) -> Vec<&str> {
        headers.get_all(name).iter().map(|line| line.to_str().unwrap()).collect()
    }

    #[test]
    fn the_tag_of_a_coded_response() {
        use EtagPolicy::{Keep, Remove, Suffix, Weaken};
        let cases: &[(EtagPolicy, &[&str], &[&str])] = &[
            (Suffix, &[], &[]),
            (Suffix, &["\"x\""], &["\"x~gzip\""]),
            (Suffix, &["\"\""], &["\"~gzip\""]),
            (Suffix, &["\"a,b\\\""], &["\"a,b\\~gzip\""]),
            (Suffix, &["W/\"x\""], &["W/\"x\""]),
            (Suffix, &["x"], &[]),
            (Suffix, &["\"x"], &[]),
            (Suffix, &["\""], &[]),
            (Suffix, &["\"a b\""], &[]),
            (Suffix, &["\"a\"b\""], &[]),
            (Suffix, &["w/\"x\""], &[]),
            (Suffix, &["\"x\"", "\"x\""], &[]),
            (Suffix, &["\"x\", \"y\""], &[]),
            (Weaken, &["\"x\""], &["W/\"x\""]),
            (Weaken, &["W/\"x\""], &["W/\"x\""]),
            (Weaken, &["x"], &[]),
            (Weaken, &["\"x\"", "\"y\""], &[]),
            (Remove, &["\"x\""], &[]),
            (Remove, &["W/\"x\""], &[]),
            (Keep, &["\"x\""], &["\"x\""]),
            (Keep, &["x", "y"], &["x", "y"]),
        ];
        for (policy, before, after) in cases {
            let fields: Vec<_> = before.iter().map(|tag| (ETAG, *tag)).collect();
            let mut headers = headers(&fields);
            policy.rewrite(&mut headers, "gzip");
            assert_eq!(lines(&headers, ETAG), *after, "{policy:?} {before:?}");
        }
    }

    #[test]
    fn bytes_outside_ascii_are_part_of_a_tag() {
        let mut headers = HeaderMap::new();
        headers.insert(ETAG, HeaderValue::from_bytes(b"\"\xe9\"").unwrap());
        EtagPolicy::Suffix.rewrite(&mut headers, "br");
        assert_eq!(headers[ETAG].as_bytes(), b"\"\xe9~br\"");
    }

    #[test]
    fn if_none_match_maps_the_negotiated_coding_alone() {
        let cases: &[(Option<&'static str>, &[&str], &[&str])] = &[
            (Some("gzip"), &["\"x~gzip\""], &["\"x\""]),
            (Some("br"), &["\"x~gzip\""], &["\"x~gzip\""]),
            (None, &["\"x~gzip\""], &["\"x~gzip\""]),
            (Some("gzip"), &["*"], &["*"]),
            (Some("gzip"), &["\"x\""], &["\"x\""]),
            (Some("gzip"), &["W/\"x~gzip\""], &["W/\"x~gzip\""]),
            (Some("gzip"), &["x~gzip"], &["x~gzip"]),
            (
                Some("gzip"),
                &["W/\"w\" ,\"a,b~gzip\",\"y~br\",  \"z\""],
                &["W/\"w\", \"a,b\", \"y~br\", \"z\""],
            ),
            (Some("gzip"), &["\"a\\~gzip\", \"b~gzip\""], &["\"a\\\", \"b\""]),
            (Some("gzip"), &["\"a\"", "\"b~gzip\"", "W/\"c\""], &["\"a\"", "\"b\"", "W/\"c\""]),
            (Some("gzip"), &["\"x~gzip~gzip\""], &["\"x~gzip\""]),
            (Some("gzip"), &["\"~gzip\""], &["\"\""]),
            (Some("gzip"), &["\"x-gzip\", \"xgzip\""], &["\"x-gzip\", \"xgzip\""]),
        ];
        for (negotiated, before, after) in cases {
            let fields: Vec<_> = before.iter().map(|line| (IF_NONE_MATCH, *line)).collect();
            let mut headers = headers(&fields);
            let mapped = EtagPolicy::Suffix.map_request(&mut headers, *negotiated, KNOWN);
            assert_eq!(lines(&headers, IF_NONE_MATCH), *after, "{negotiated:?} {before:?}");
            assert_eq!(mapped.lines.is_empty(), before == after, "{before:?}");
            assert_eq!(mapped.lines.capacity() == 0, before == after, "{before:?}");
        }
    }

    #[test]
    fn if_match_maps_any_of_ours() {
        for (negotiated, before, after) in [
            (Some("br"), "\"x~gzip\"", "\"x\""),
            (None, "\"x~gzip\", \"y~br\", \"z~lz4\"", "\"x\", \"y\", \"z~lz4\""),
            (None, "*", "*"),
            (None, "W/\"x~gzip\"", "W/\"x~gzip\""),
        ] {
            let mut headers = headers(&[(IF_MATCH, before)]);
            let mapped = EtagPolicy::Suffix.map_request(&mut headers, negotiated, KNOWN);
            assert_eq!(lines(&headers, IF_MATCH), [after]);
            assert!(mapped.lines.is_empty());
        }
    }

    #[test]
    fn if_range_with_one_of_ours_goes_and_takes_range_along() {
        for (tag, goes) in [
            ("\"x~gzip\"", true),
            ("\"x~br\"", true),
            ("\"x\"", false),
            ("\"x~lz4\"", false),
            ("W/\"x~gzip\"", false),
            ("Sat, 29 Oct 1994 19:43:31 GMT", false),
        ] {
            let before = headers(&[(IF_RANGE, tag), (RANGE, "bytes=5-")]);
            let mut after = before.clone();
            EtagPolicy::Suffix.map_request(&mut after, Some("zstd"), KNOWN);
            assert_eq!(after, if goes { HeaderMap::new() } else { before }, "{tag}");
        }
    }

    #[test]
    fn range_goes_with_one_of_ours_in_if_match_too() {
        for (listed, mapped, goes) in [
            ("\"x~gzip\"", "\"x\"", true),
            ("\"y\", \"x~br\"", "\"y\", \"x\"", true),
            ("\"x\"", "\"x\"", false),
            ("\"x~lz4\"", "\"x~lz4\"", false),
            ("*", "*", false),
        ] {
            for rest in [&[(RANGE, "bytes=5-")][..], &[(RANGE, "bytes=5-"), (IF_RANGE, "\"x\"")]] {
                let mut after = headers(&[&[(IF_MATCH, listed)], rest].concat());
                EtagPolicy::Suffix.map_request(&mut after, Some("zstd"), KNOWN);
                let rest = if goes { &[][..] } else { rest };
                assert_eq!(after, headers(&[&[(IF_MATCH, mapped)], rest].concat()), "{listed}");
            }
        }
    }

    #[test]
    fn a_304_regains_the_mark_if_the_request_listed_that_very_tag() {
        let cases: &[(&[&str], &[&str], &[&str])] = &[
            // If-None-Match, the 304's ETag, the same after
            (&["\"x~gzip\""], &["\"x\""], &["\"x~gzip\""]),
            (&["\"a~gzip\", \"x~gzip\""], &["\"x\""], &["\"x~gzip\""]),
            (&["\"a\"", "\"x~gzip\""], &["\"x\""], &["\"x~gzip\""]),
            (&["\"a~gzip\", \"x\""], &["\"x\""], &["\"x\""]),
            (&["\"x\""], &["\"x\""], &["\"x\""]),
            (&["*"], &["\"x\""], &["\"x\""]),
            (&["\"x~gzip\""], &["W/\"x\""], &["W/\"x\""]),
            (&["\"x~gzip\""], &["\"y\""], &["\"y\""]),
            (&["\"x~gzip\""], &[], &[]),
            (&["\"x~br\""], &["\"x\""], &["\"x\""]),
        ];
        for (listed, before, after) in cases {
            let listed: Vec<_> = listed.iter().map(|line| (IF_NONE_MATCH, *line)).collect();
            let mapped = EtagPolicy::Suffix.map_request(&mut headers(&listed), Some("gzip"), KNOWN);
            let tags: Vec<_> = before.iter().map(|tag| (ETAG, *tag)).collect();
            let mut response = headers(&tags);
            mapped.restore(&mut response);
            assert_eq!(lines(&response, ETAG), *after, "{listed:?} {before:?}");
        }
    }

    #[test]
    fn the_other_policies_map_nothing() {
        let before = headers(&[
            (IF_NONE_MATCH, "\"x~gzip\""),
            (IF_MATCH, "\"x~gzip\""),
            (IF_RANGE, "\"x~gzip\""),
            (RANGE, "bytes=5-"),
        ]);
        for policy in [EtagPolicy::Weaken, EtagPolicy::Remove, EtagPolicy::Keep] {
            let mut after = before.clone();
            let mapped = policy.map_request(&mut after, Some("gzip"), KNOWN);
            assert_eq!(after, before, "{policy:?}");
            assert!(mapped.lines.is_empty());
        }
    }
}
