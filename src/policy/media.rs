//! Media types: which of them are compressed already. Compared on the essence, in any case, without copying.

use super::list;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

/// The media type without its parameters; `None` if there is none that can be read.
pub(crate) fn essence(headers: &HeaderMap) -> Option<&[u8]> {
    let (essence, _) = list::cut(headers.get(CONTENT_TYPE)?.as_bytes(), b';');
    essence.contains(&b'/').then_some(essence)
}

/// Whether `essence` is the type `pattern` or a structured form of it (`pattern+suffix`), or belongs to the
/// family that `pattern` names: `image`, `image/` or `image/*`.
pub(crate) fn is_within(essence: &[u8], pattern: &[u8]) -> bool {
    let (pattern, _) = list::cut(pattern, b';');
    let pattern = pattern.strip_suffix(b"*").unwrap_or(pattern);
    let Some((start, rest)) = essence.split_at_checked(pattern.len()) else {
        return false;
    };
    if pattern.is_empty() || !start.eq_ignore_ascii_case(pattern) {
        return false;
    }
    match rest.first() {
        None | Some(b'+') => true,
        Some(b'/') => !pattern.contains(&b'/'),
        Some(_) => pattern.ends_with(b"/"),
    }
}

/// Whether a body with this head gains nothing from a coding, by its type.
pub(crate) fn is_compressed_body(headers: &HeaderMap) -> bool {
    !is_ordinary(headers) && essence(headers).is_some_and(is_compressed)
}

/// Whether this is one of the types of most responses, as they are usually spelled: neither compressed nor gRPC.
/// Found without taking it apart.
fn is_ordinary(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes) else {
        return false;
    };
    ORDINARY.iter().any(|known| matches!(value.strip_prefix(known.as_bytes()), Some([] | [b';', ..])))
}

/// Whether this is gRPC, in any of its message formats; gRPC-Web is another protocol.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    !is_ordinary(headers)
        && essence(headers).is_some_and(|essence| {
            // Hardly any type is that long and has its `g` there.
            matches!(essence.get(12), Some(b'g' | b'G')) && is_within(essence, b"application/grpc")
        })
}

/// Whether this is a stream of server-sent events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    !is_ordinary(headers) && essence(headers).is_some_and(|essence| is_within(essence, b"text/event-stream"))
}

/// Whether a body of this type gains nothing from a coding, or must not have one.
fn is_compressed(essence: &[u8]) -> bool {
    let (family, Some(subtype)) = list::cut(essence, b'/') else {
        return false;
    };
    let is = |name: &str| family.eq_ignore_ascii_case(name.as_bytes());
    // By the family's length first: `text` answers after one comparison.
    match family.len() {
        5 if is("image") => !listed(subtype, PLAIN_IMAGES),
        5 => is("audio") || is("video"),
        4 if is("font") => listed(subtype, COMPRESSED_FONTS),
        11 if is("application") => {
            is_within(subtype, b"grpc")
                || listed(subtype, COMPRESSED_APPLICATIONS)
                || ends_with(subtype, "+zip")
                || ends_with(subtype, "+gzip")
                || ends_with(subtype, "+zstd")
                || starts_with(subtype, OFFICE_OPEN_XML)
                || (starts_with(subtype, OPEN_DOCUMENT) && !ends_with(subtype, "-flat-xml"))
        }
        _ => false,
    }
}

fn listed(subtype: &[u8], list: &[&str]) -> bool {
    list.iter().any(|listed| listed.as_bytes().eq_ignore_ascii_case(subtype))
}

fn starts_with(subtype: &[u8], prefix: &str) -> bool {
    subtype.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn ends_with(subtype: &[u8], suffix: &str) -> bool {
    let end = subtype.len().checked_sub(suffix.len()).map(|start| &subtype[start..]);
    end.is_some_and(|end| end.eq_ignore_ascii_case(suffix.as_bytes()))
}

const ORDINARY: [&str; 3] = ["application/json", "text/html", "text/plain"];

/// Images that are not compressed.
const PLAIN_IMAGES: &[&str] = &["svg+xml", "bmp", "x-ms-bmp"];

/// Fonts that are compressed; TrueType and OpenType are not.
const COMPRESSED_FONTS: &[&str] = &["woff", "woff2"];

/// Archives, what is packed as one, and older names of compressed fonts and media.
const COMPRESSED_APPLICATIONS: &[&str] = &[
    "zip",
    "gzip",
    "x-gzip",
    "zstd",
    "x-zip-compressed",
    "x-compressed",
    "x-compress",
    "x-gtar-compressed",
    "x-7z-compressed",
    "x-bzip",
    "x-bzip2",
    "x-xz",
    "x-lzma",
    "x-lzip",
    "x-lz4",
    "x-zstd",
    "x-brotli",
    "x-snappy-framed",
    "x-rar-compressed",
    "x-rar",
    "vnd.rar",
    "vnd.ms-cab-compressed",
    "java-archive",
    "x-java-archive",
    "vnd.android.package-archive",
    "x-font-woff",
    "font-woff",
    "font-woff2",
    "ogg",
    "mp4",
];

/// Office documents are ZIP archives.
const OFFICE_OPEN_XML: &str = "vnd.openxmlformats-officedocument.";

/// OpenDocument files are ZIP archives, but for the flat form, whose name ends in `-flat-xml`.
const OPEN_DOCUMENT: &str = "vnd.oasis.opendocument.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_are_compressed_already() {
        for compressed in [
            "image/png",
            "IMAGE/JPEG",
            "image/webp",
            "image/svg",
            "audio/mpeg",
            "video/mp4",
            "Video/MP4",
            "font/woff",
            "font/woff2",
            "application/font-woff2",
            "application/zip",
            "application/gzip",
            "application/x-gzip",
            "application/ZSTD",
            "application/x-7z-compressed",
            "application/x-bzip2",
            "application/x-xz",
            "application/vnd.rar",
            "application/epub+zip",
            "application/tlsrpt+gzip",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.oasis.opendocument.text",
            "application/grpc",
            "application/grpc+proto",
        ] {
            assert!(is_compressed(compressed.as_bytes()), "{compressed}");
        }
        for plain in [
            "text/html",
            "text/event-stream",
            "text/event-streamx",
            "image/svg+xml",
            "Image/SVG+XML",
            "image/bmp",
            "font/ttf",
            "font/otf",
            "application/json",
            "application/vnd.api+json",
            "application/wasm",
            "application/octet-stream",
            "application/vnd.oasis.opendocument.text-flat-xml",
            "application/grpc-web",
            "application/grpc-web+proto",
            "application/grpc-web-text",
            "application/grpcx",
            "application/zipx",
            "multipart/form-data",
            "model/stl",
            "",
            "/",
            "text",
        ] {
            assert!(!is_compressed(plain.as_bytes()), "{plain}");
        }
    }

    #[test]
    fn the_essence_has_a_slash_and_no_parameters() {
        let cases: &[(&[u8], Option<&[u8]>)] = &[
            (b"text/html", Some(b"text/html")),
            (b" text/html ; charset=utf-8", Some(b"text/html")),
            (b"text/html;", Some(b"text/html")),
            (b"text", None),
            (b"", None),
            (b";a=b/c", None),
            (b"\xff/\xff", Some(b"\xff/\xff")),
        ];
        for (value, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_bytes(value).unwrap());
            assert_eq!(essence(&headers), *expected, "{value:?}");
        }
        assert_eq!(essence(&HeaderMap::new()), None);
    }
}
