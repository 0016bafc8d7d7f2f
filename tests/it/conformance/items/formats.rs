//! The bytes of each coding.

use crate::conformance::Source::{Interop, Must, Policy};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, coded, identity, that};
use crate::conformance::exchange::Protocol;
use crate::conformance::reply::{Reply, Step};
use crate::conformance::{Item, frame_header, item};
use crate::support::corpus::json;
use bytes::Bytes;

group! {
    item_086_gzip,
    item_088_deflate,
    item_090_the_window_of_zstd,
    item_091_one_frame,
    item_092_the_content_size_of_a_frame,
    item_094_snappy,
    item_094a_snappy_is_never_offered_unasked,
}

/// Whole, and as streams that pause.
fn shapes() -> [Reply; 4] {
    let text = Bytes::from(json(91_000));
    let paused = |first: usize| {
        Reply::of([Step::Data(text.slice(..first)), Step::Until(first), Step::Data(text.slice(first..))])
    };
    [Reply::text(json(5000)), Reply::text(text.clone()), paused(1), paused(50_000)]
}

fn item_086_gzip() -> Item {
    let header = || {
        that("the header of RFC 1952", |answer| {
            let bytes = answer.bytes();
            bytes[..3] == [0x1f, 0x8b, 8] && bytes[3] & 0xe0 == 0
        })
    };
    item("86", Must, "RFC 1952 2.3", "gzip: header, CRC-32, ISIZE, and nothing after")
        .cases(shapes().map(|reply| get("gzip").reply(reply).expect([coded("gzip"), header()])))
}

fn item_088_deflate() -> Item {
    let header = || {
        that("the header of RFC 1950", |answer| {
            let bytes = answer.bytes();
            bytes[0] & 0x0f == 8 && (u16::from(bytes[0]) << 8 | u16::from(bytes[1])) % 31 == 0
        })
    };
    item("88", Must, "8.4.1.2, RFC 1950", "deflate: the zlib format with Adler-32").cases(
        shapes().map(|reply| {
            get("deflate").offering(&["deflate"]).reply(reply).expect([coded("deflate"), header()])
        }),
    )
}

/// RFC 9659: at most 8 MB, and no dictionary that the receiver does not have.
fn small_window() -> Check {
    that("a window of at most 8 MiB", |answer| {
        let bytes = answer.bytes();
        bytes[4] & 3 == 0 && frame_header(&bytes).is_some_and(|(window, _)| window <= 8 * 1024 * 1024)
    })
}

fn item_090_the_window_of_zstd() -> Item {
    let case = |level: i32, reply: Reply| {
        get("zstd").over(&[Protocol::H11]).level(level).reply(reply).expect([coded("zstd"), small_window()])
    };
    let mut cases: Vec<Case> = Vec::new();
    for level in (-5..=22).filter(|level| *level != 0) {
        let text = Bytes::from(json(70_000));
        let steps = [Step::Data(text.slice(..1000)), Step::Yield, Step::Data(text.slice(1000..))];
        cases.extend([case(level, Reply::text(json(5000))), case(level, Reply::of(steps))]);
    }
    // Larger than any window that is allowed.
    let long = Bytes::from(b"the same again ".repeat(9 * 1024 * 1024 / 15 + 1));
    for level in [3, 22] {
        cases.extend([
            case(level, Reply::text(long.clone())),
            case(level, Reply::of([Step::Data(long.clone())])),
        ]);
    }
    item("90", Must, "RFC 9659 3", "zstd: a window of at most 8 MiB at every level").cases(cases)
}

fn item_091_one_frame() -> Item {
    item("91", Interop, "RFC 8878 3.1", "zstd: one frame, nothing after")
        .cases(shapes().map(|reply| get("zstd").reply(reply).expect([coded("zstd")])))
}

fn item_092_the_content_size_of_a_frame() -> Item {
    let size = || {
        that("no content size, or the true one", |answer| {
            let header = frame_header(&answer.bytes());
            header.is_some_and(|(_, size)| size.is_none_or(|size| size == answer.original.len() as u64))
        })
    };
    item("92", Must, "RFC 8878 3.1.1.1.4", "zstd: the content size, if said, is true")
        .cases(shapes().map(|reply| get("zstd").reply(reply).expect([coded("zstd"), size()])))
}

fn item_094_snappy() -> Item {
    let identifier =
        || that("the stream identifier", |answer| answer.bytes().starts_with(b"\xff\x06\x00\x00sNaPpY"));
    item("94", Policy, "framing_format.txt", "snappy is one raw block, x-snappy-framed the framing format")
        .cases([
            get("snappy").offering(&["snappy"]).reply(Reply::text(json(5000))).expect([coded("snappy")]),
            get("snappy").offering(&["snappy"]).reply(Reply::text(json(200_000))).expect([identity()]),
            get("x-snappy-framed")
                .offering(&["x-snappy-framed"])
                .expect([coded("x-snappy-framed"), identifier()]),
        ])
}

fn item_094a_snappy_is_never_offered_unasked() -> Item {
    item("94a", Policy, "", "snappy's unregistered names are never offered by default, nor by *").cases([
        get("snappy, x-snappy-framed").expect([identity()]),
        get("*").offering(&["snappy", "x-snappy-framed"]).expect([identity()]),
    ])
}
