//! What is asked of an answer, each with words for it.

use super::exchange::Answer;
use super::layers::LEAKED;
use crate::support::decode::decode;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, DATE, HeaderMap, TRANSFER_ENCODING, VARY};
use std::fmt;

/// One thing that must be so.
pub(crate) struct Check {
    text: String,
    test: Box<Test>,
}

type Test = dyn Fn(&Answer) -> Result<(), String>;

impl Check {
    pub(super) fn test(&self, answer: &Answer) -> Result<(), String> {
        (self.test)(answer)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn check(text: impl Into<String>, test: impl Fn(&Answer) -> Result<(), String> + 'static) -> Check {
    Check { text: text.into(), test: Box::new(test) }
}

/// Anything, in your own words.
pub(crate) fn that(text: &'static str, test: impl Fn(&Answer) -> bool + 'static) -> Check {
    check(text, move |answer| ensure(test(answer), || format!("got {:?}", answer.headers)))
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// This coding, once, and a complete body that decodes to the handler's.
pub(crate) fn coded(coding: &'static str) -> Check {
    check(coding, move |answer| {
        let lines = answer.lines(CONTENT_ENCODING.as_str());
        ensure(lines == [coding], || format!("Content-Encoding is {lines:?}"))?;
        decodes_to_original(answer)
    })
}

/// No coding, and the handler's bytes.
pub(crate) fn identity() -> Check {
    check("no coding", |answer| {
        let lines = answer.lines(CONTENT_ENCODING.as_str());
        ensure(lines.is_empty(), || format!("Content-Encoding is {lines:?}"))?;
        decodes_to_original(answer)
    })
}

/// Whatever coding, it agrees with the bytes.
pub(crate) fn decodes() -> Check {
    check("a body that decodes to the handler's", decodes_to_original)
}

fn decodes_to_original(answer: &Answer) -> Result<(), String> {
    if let Some(error) = &answer.error {
        return Err(format!("the body failed: {error}"));
    }
    let coding = answer.coding();
    let decoded =
        decode(&coding, &answer.bytes()).map_err(|error| format!("{coding} does not decode: {error}"))?;
    ensure(decoded == answer.original, || {
        format!(
            "{} bytes decode to {}, not to {}",
            answer.bytes().len(),
            decoded.len(),
            answer.original.len()
        )
    })
}

/// The body's bytes as the handler gave them, whatever the head says.
pub(crate) fn same_bytes() -> Check {
    check("the handler's bytes", |answer| {
        ensure(answer.error.is_none() && answer.bytes() == answer.original, || {
            format!("{} bytes, {:?}", answer.bytes().len(), answer.error)
        })
    })
}

pub(crate) fn no_body() -> Check {
    check("no body", |answer| {
        ensure(answer.bytes().is_empty() && answer.error.is_none(), || {
            format!("{} bytes, {:?}", answer.bytes().len(), answer.error)
        })
    })
}

pub(crate) fn status(status: u16) -> Check {
    check(format!("{status}"), move |answer| {
        let expected = StatusCode::from_u16(status).expect("a status");
        ensure(answer.status == expected, || format!("got {}", answer.status))
    })
}

/// The field has these lines, in any order.
pub(crate) fn field(name: &'static str, lines: &'static [&'static str]) -> Check {
    check(format!("{name}: {lines:?}"), move |answer| {
        let mut found = answer.lines(name);
        found.sort_unstable();
        let mut expected = lines.to_vec();
        expected.sort_unstable();
        ensure(found == expected, || format!("{name} is {found:?}"))
    })
}

pub(crate) fn no_field(name: &'static str) -> Check {
    field(name, &[])
}

/// The list has exactly these members, in lower case, each once, in any order.
pub(crate) fn members(name: &'static str, members: &'static [&'static str]) -> Check {
    check(format!("{name} with the members {members:?}"), move |answer| {
        let mut found = answer.members(name);
        found.sort_unstable();
        let mut expected = members.to_vec();
        expected.sort_unstable();
        ensure(found == expected, || format!("{name} is {found:?}"))
    })
}

/// `Vary: accept-encoding`, once.
pub(crate) fn varies() -> Check {
    check("Vary: accept-encoding", |answer| {
        let count =
            answer.members(VARY.as_str()).iter().filter(|member| *member == "accept-encoding").count();
        ensure(count == 1, || format!("Vary is {:?}", answer.lines(VARY.as_str())))
    })
}

pub(crate) fn does_not_vary() -> Check {
    check("no Vary: accept-encoding", |answer| {
        let found = answer.members(VARY.as_str()).iter().any(|member| member == "accept-encoding");
        ensure(!found, || format!("Vary is {:?}", answer.lines(VARY.as_str())))
    })
}

/// So many data frames.
pub(crate) fn frames(count: usize) -> Check {
    check(format!("{count} data frames"), move |answer| {
        ensure(answer.frames.len() == count, || format!("{} came", answer.frames.len()))
    })
}

/// `Content-Length` says how many bytes came.
pub(crate) fn exact_length() -> Check {
    check("the exact Content-Length", |answer| {
        let lines = answer.lines(CONTENT_LENGTH.as_str());
        let bytes = answer.bytes().len().to_string();
        ensure(lines == [bytes.as_str()], || format!("{bytes} bytes, Content-Length is {lines:?}"))
    })
}

/// Every field is the handler's, but for `Vary: accept-encoding`, the server's `Date`, and a `Content-Length`
/// that the server knows.
pub(crate) fn head_as_the_handlers() -> Check {
    check("the head as the handler sent it", |answer| {
        let strip = |headers: &HeaderMap| {
            let mut fields: Vec<_> = headers
                .iter()
                .filter(|(name, value)| {
                    **name != DATE
                        && !(*name == VARY && value.as_bytes().eq_ignore_ascii_case(b"accept-encoding"))
                })
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            fields.sort_by(|a, b| (a.0.as_str(), a.1.as_bytes()).cmp(&(b.0.as_str(), b.1.as_bytes())));
            fields
        };
        let mut headers = answer.headers.clone();
        headers.remove(TRANSFER_ENCODING);
        headers.remove("connection");
        if !answer.original_headers.contains_key(CONTENT_LENGTH) {
            headers.remove(CONTENT_LENGTH);
        }
        let (found, expected) = (strip(&headers), strip(&answer.original_headers));
        ensure(found == expected, || format!("got {found:?}"))
    })
}

/// The same value of a field as in the answer before.
pub(crate) fn same_as_before(names: &'static [&'static str]) -> Check {
    check(format!("the same {names:?} as before"), move |answer| {
        let before = answer.before.as_ref().ok_or("nothing was before")?;
        names.iter().try_for_each(|name| {
            let (now, then) = (answer.lines(name), before.lines(name));
            ensure(now == then, || format!("{name} is {now:?}, was {then:?}"))
        })
    })
}

pub(crate) fn trailers(fields: &'static [(&'static str, &'static str)]) -> Check {
    check(format!("the trailers {fields:?}"), move |answer| {
        let count = answer.trailers.as_ref().map_or(0, HeaderMap::len);
        let all = fields.iter().all(|(name, value)| {
            answer
                .trailers
                .as_ref()
                .and_then(|trailers| trailers.get(*name))
                .is_some_and(|found| found == value)
        });
        ensure(all && count == fields.len(), || format!("got {:?}", answer.trailers))
    })
}

/// What the handler saw of a request field.
pub(crate) fn handler_saw(name: &'static str, lines: &'static [&'static str]) -> Check {
    check(format!("that the handler sees {name}: {lines:?}"), move |answer| {
        let seen = answer.seen.as_ref().ok_or("the handler was not called")?;
        let found: Vec<_> =
            seen.headers.get_all(name).iter().map(|line| line.to_str().unwrap_or("")).collect();
        ensure(found == lines, || format!("it sees {found:?}"))
    })
}

pub(crate) fn handler_not_called() -> Check {
    check("that the handler is not called", |answer| ensure(answer.seen.is_none(), || "it is".to_owned()))
}

/// The body ends with an error, and what came before it is no complete message.
pub(crate) fn fails() -> Check {
    check("a body that fails", |answer| {
        ensure(answer.error.is_some(), || "it ends well".to_owned())?;
        let complete = answer.coding() != "identity" && decode(&answer.coding(), &answer.bytes()).is_ok();
        ensure(!complete, || "what came decodes as a whole message".to_owned())
    })
}

/// The handler's extension is gone.
pub(crate) fn nothing_leaks() -> Check {
    no_field(LEAKED)
}

/// On HTTP/1.1 a chunked body ends with exactly one last chunk, and nothing comes after it.
pub(crate) fn one_last_chunk() -> Check {
    check("exactly one last chunk", |answer| {
        if answer.lines(TRANSFER_ENCODING.as_str()).is_empty() {
            return Ok(());
        }
        let head = answer.wire.windows(4).position(|window| window == b"\r\n\r\n").ok_or("no head")?;
        let mut rest = &answer.wire[head + 4..];
        loop {
            let line = rest.windows(2).position(|window| window == b"\r\n").ok_or("no chunk")?;
            let size = std::str::from_utf8(&rest[..line]).map_err(|error| error.to_string())?;
            let size = usize::from_str_radix(size, 16).map_err(|error| error.to_string())?;
            if size == 0 {
                return ensure(&rest[line..] == b"\r\n\r\n", || {
                    format!("{} bytes follow", rest.len() - line)
                });
            }
            rest = rest.get(line + 2 + size + 2..).ok_or("a chunk is cut off")?;
        }
    })
}

/// `Transfer-Encoding` at most once, and never in HTTP/2.
pub(crate) fn framing_is_the_servers() -> Check {
    check("at most one Transfer-Encoding, none beside Content-Length or in HTTP/2", |answer| {
        let lines = answer.lines(TRANSFER_ENCODING.as_str());
        let length = answer.lines(CONTENT_LENGTH.as_str());
        ensure(
            lines.is_empty()
                || lines == ["chunked"] && length.is_empty() && answer.wire.starts_with(b"HTTP/1"),
            || format!("Transfer-Encoding {lines:?}, Content-Length {length:?}"),
        )
    })
}
