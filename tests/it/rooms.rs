//! The crate's three rooms, and that arrows between them point one way only.
//!
//! | room | may name | never names |
//! |---|---|---|
//! | mechanism: `codec`, `engine`, `error` | itself | HTTP, tower, tokio, polling, the other rooms |
//! | policy: `policy` | itself, plain data of `codec` and `error` | codecs and encoders, tower, tokio, polling |
//! | integration: all else | everything | the codecs' own crates |

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate that a room may name.
const MECHANISM: &[&str] = &["codec", "engine", "error"];
const POLICY: &[&str] = &["codec", "error", "policy"];

const HTTP: &[&str] = &["http", "http_body", "http_body_util", "hyper"];

const SERVICES: &[&str] =
    &["axum", "axum_core", "reqwest", "tower", "tower_http", "tower_layer", "tower_service"];

const POLLING: &[&str] =
    &["Future", "Pin", "Poll", "Waker", "futures_core", "pin_project_lite", "poll_frame", "task", "tokio"];

/// What does the work. Policy sees a codec's name and plain enums.
const MACHINES: &[&str] = &["Codec", "Compressor", "Decoder", "Decompressor", "Encoder", "EncoderPool"];

/// Crates that only `codec` may name.
const CODEC_CRATES: &[&str] =
    &["brotli", "crc32c", "crc32fast", "flate2", "libdeflater", "simd_adler32", "snap", "zstd", "zstd_safe"];

#[test]
fn arrows_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 30, "only {} files were found", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        // Tests may call whom they need.
        if !path.ends_with("/tests.rs") {
            let source = fs::read_to_string(&file).unwrap();
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
            wrong.extend(violations(&path, code));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_arrow_that_points_the_wrong_way_is_noticed() {
    for (path, source) in [
        ("codec/gzip.rs", "use http::HeaderMap;"),
        ("codec/gzip.rs", "fn wait(cx: &mut std::task::Context<'_>) {}"),
        ("engine/pool.rs", "use crate::policy::Config;"),
        ("engine/pool.rs", "use crate::{codec::Codec, body};"),
        ("engine/pool.rs", "use super::super::body;"),
        ("error.rs", "impl From<tokio::task::JoinError> for Error {}"),
        ("policy/config.rs", "use crate::codec::{Codec, CompressionLevel};"),
        ("policy/config.rs", "use crate::engine::Tally;"),
        ("policy/config.rs", "use crate::{\n    error::Error,\n    response,\n};"),
        ("policy/config.rs", "use tower_service::Service;"),
        ("body/stream.rs", "let stream = flate2::Compress::new(level, false);"),
        ("response/layer.rs", "use ::zstd::zstd_safe;"),
    ] {
        assert!(!violations(path, source).is_empty(), "{path}: {source}");
    }
    for (path, source) in [
        (
            "codec/gzip.rs",
            "// http::HeaderMap\nuse crate::error::Error; const TEXT: &str = \"tokio \\\" http\";",
        ),
        ("codec/zstd.rs", "use ::zstd::zstd_safe;"),
        ("policy/config.rs", "use crate::codec::CompressionLevel;\nfn of(body: u8) -> u8 { body }"),
        ("body/stream.rs", "use crate::{codec::Codec, policy::Config}; fn zstd() {}"),
    ] {
        assert_eq!(violations(path, source), [""; 0], "{path}: {source}");
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// What a file below `src/` names that it may not.
fn violations(path: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let room = path.split(['/', '.']).next().unwrap_or_default();
    let (modules, words): (Option<&[&str]>, Vec<&[&str]>) = match room {
        "codec" | "engine" | "error" => (Some(MECHANISM), vec![HTTP, SERVICES, POLLING]),
        "policy" => (Some(POLICY), vec![SERVICES, POLLING, MACHINES]),
        _ => (None, vec![]),
    };
    let mut wrong: Vec<String> = words
        .concat()
        .iter()
        .filter(|word| tokens.iter().any(|token| token == **word))
        .map(ToString::to_string)
        .collect();
    if let Some(modules) = modules {
        wrong.extend(modules_named(&tokens).into_iter().filter(|name| !modules.contains(&name.as_str())));
    }
    if room != "codec" {
        let in_path = |name: &str| tokens.windows(2).any(|pair| pair[0] == name && pair[1] == "::");
        wrong.extend(CODEC_CRATES.iter().filter(|name| in_path(name)).map(ToString::to_string));
    }
    wrong.iter().map(|name| format!("{path} names {name}")).collect()
}

/// The modules of this crate that paths name: what follows `crate::`, or two `super`s or more, one by one or in braces.
fn modules_named(tokens: &[String]) -> Vec<String> {
    let mut named = Vec::new();
    for start in 0..tokens.len() {
        let words: Vec<&str> = tokens[start..].iter().take(4).map(String::as_str).collect();
        let rest = match words[..] {
            ["crate", "::", ..] => &tokens[start + 2..],
            ["super", "::", "super", "::"] => &tokens[start + 4..],
            _ => continue,
        };
        match rest.first().map(String::as_str) {
            Some("{") => named.extend(first_of_each(&rest[1..])),
            Some(name) if name.starts_with(char::is_lowercase) && name != "super" => {
                named.push(name.to_owned())
            }
            _ => {}
        }
    }
    named
}

/// The first word of every path in a group that has just been opened.
fn first_of_each(group: &[String]) -> Vec<String> {
    let (mut depth, mut first, mut named) = (0, true, Vec::new());
    for token in group {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 0 => break,
            "}" => depth -= 1,
            "," if depth == 0 => first = true,
            word if first && depth == 0 => {
                first = false;
                if word.starts_with(char::is_lowercase) {
                    named.push(word.to_owned());
                }
            }
            _ => {}
        }
    }
    named
}

/// Words, `::`, braces and commas, without comments and strings.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if next == '"' {
            string(rest)
        } else if next.is_alphabetic() || next == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else if rest.starts_with("'\"'") {
            3
        } else {
            if matches!(next, '{' | '}' | ',') {
                tokens.push(next.to_string());
            }
            next.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the string literal at the front.
fn string(source: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in source.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    source.len()
}
