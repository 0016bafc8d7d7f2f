//! Splitting field values into their elements (RFC 9110 section 5.6.1), without copying.

/// The elements of a comma-separated field value, trimmed, empty ones left out.
///
/// A comma inside a quoted string separates nothing; in it a backslash quotes the next byte
/// (RFC 9110 section 5.6.4).
pub(crate) fn elements(value: &[u8]) -> Elements<'_, b',', true> {
    Elements { rest: value }
}

/// The elements of a list of entity tags, in which a backslash is a byte as any other (section 8.8.3).
pub(crate) fn tags(value: &[u8]) -> Elements<'_, b',', false> {
    Elements { rest: value }
}

/// The parameters of one element: what its semicolons separate.
pub(crate) fn parameters(value: &[u8]) -> Elements<'_, b';', true> {
    Elements { rest: value }
}

/// What comes before the first `at`, without the white space around it, and what comes after, if `at` occurs.
pub(crate) fn cut(value: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match value.iter().position(|&byte| byte == at) {
        Some(end) => (trim(&value[..end]), Some(&value[end + 1..])),
        None => (trim(value), None),
    }
}

/// `value` without the optional white space around it: spaces and tabs (RFC 9110 section 5.6.3).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    trim_end(value)
}

fn trim_end(mut value: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The iterator over a list's elements. `ESCAPES`: whether a backslash means something in quotes.
#[derive(Debug, Clone)]
pub(crate) struct Elements<'a, const SEPARATOR: u8, const ESCAPES: bool> {
    rest: &'a [u8],
}

impl<'a, const SEPARATOR: u8, const ESCAPES: bool> Elements<'a, SEPARATOR, ESCAPES> {
    /// What has not been looked at.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where the element at the front ends.
    fn end(&self) -> usize {
        // Hardly any element has a quote, and without one this is all there is to do.
        match self.rest.iter().position(|&byte| byte == SEPARATOR || byte == b'"') {
            Some(at) if self.rest[at] == b'"' => self.end_after_quote(at),
            Some(at) => at,
            None => self.rest.len(),
        }
    }

    /// Where the element at the front ends, whose first quote is at `at`.
    #[cold]
    fn end_after_quote(&self, at: usize) -> usize {
        let mut quoted = false;
        let mut bytes = self.rest.iter().enumerate().skip(at);
        while let Some((at, &byte)) = bytes.next() {
            if byte == b'"' {
                quoted = !quoted;
            } else if quoted {
                if byte == b'\\' && ESCAPES {
                    bytes.next();
                }
            } else if byte == SEPARATOR {
                return at;
            }
        }
        self.rest.len()
    }
}

impl<'a, const SEPARATOR: u8, const ESCAPES: bool> Iterator for Elements<'a, SEPARATOR, ESCAPES> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let between = |byte: &u8| matches!(byte, b' ' | b'\t') || *byte == SEPARATOR;
        let Some(start) = self.rest.iter().position(|byte| !between(byte)) else {
            self.rest = &[];
            return None;
        };
        self.rest = &self.rest[start..];
        let (element, rest) = self.rest.split_at(self.end());
        // The separator is left for the next call, which takes it for an empty element.
        self.rest = rest;
        Some(trim_end(element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_trimmed_and_never_empty() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \t", &[]),
            (",, ,", &[]),
            ("a", &["a"]),
            (" a\t,b ,, c;q=1 ,", &["a", "b", "c;q=1"]),
            (r#"a="x,y", b"#, &[r#"a="x,y""#, "b"]),
            (r#"a="x\",y", b"#, &[r#"a="x\",y""#, "b"]),
            (r#"a="x, b"#, &[r#"a="x, b"#]),
            (r#"a="x\"#, &[r#"a="x\"#]),
        ];
        for (value, expected) in cases {
            let found: Vec<_> = elements(value.as_bytes()).collect();
            let expected: Vec<_> = expected.iter().map(|element| element.as_bytes()).collect();
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn a_backslash_ends_a_tag_as_any_other_byte() {
        let found: Vec<_> = tags(br#""a\", "b,c""#).collect();
        assert_eq!(found, [&br#""a\""#[..], br#""b,c""#]);
    }

    #[test]
    fn cut_trims_what_comes_before() {
        assert_eq!(cut(b" a =b", b'='), (&b"a"[..], Some(&b"b"[..])));
        assert_eq!(cut(b" a ", b'='), (&b"a"[..], None));
        assert_eq!(cut(b"", b'='), (&b""[..], None));
    }
}
