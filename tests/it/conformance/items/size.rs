//! What is too small to be coded, or does not get smaller.

use crate::conformance::Source::{Interop, Policy};
use crate::conformance::case::get;
use crate::conformance::check::{coded, decodes, exact_length, frames, identity, no_body, trailers};
use crate::conformance::exchange::Protocol;
use crate::conformance::reply::{Reply, Step};
use crate::conformance::{Item, item};
use crate::support::corpus::{json, noise};
use bytes::Bytes;

group! {
    item_063_a_length_below_the_minimum,
    item_064_an_unknown_length_below_the_minimum,
    item_065_one_byte_first,
    item_066_the_minimum_whatever_the_chunks,
    item_067_a_size_without_a_length,
    item_068_an_empty_body,
    item_069_trailers_only,
    item_070_larger_than_the_original,
}

fn item_063_a_length_below_the_minimum() -> Item {
    item("63", Policy, "", "Content-Length below the minimum: not coded, kept").cases([get("gzip")
        .reply(Reply::text(json(1023)).with_length())
        .expect([identity(), exact_length()])])
}

fn item_064_an_unknown_length_below_the_minimum() -> Item {
    let case = |size| {
        get("gzip").reply(Reply::cut(&json(200), size)).expect([identity(), exact_length(), frames(1)])
    };
    item("64", Interop, "", "unknown length below the minimum: not coded, exact length, one frame").cases([
        case(200),
        case(7),
        case(1),
    ])
}

fn item_065_one_byte_first() -> Item {
    let text = Bytes::from(json(1024 * 1024));
    let steps = [Step::Data(text.slice(..1)), Step::Data(text.slice(1..))];
    let pending = [Step::Data(text.slice(..1)), Step::Yield, Step::Data(text.slice(1..))];
    item("65", Interop, "", "one byte first, then a megabyte: coded").cases([
        get("gzip").reply(Reply::of(steps)).expect([coded("gzip")]),
        get("gzip").reply(Reply::of(pending)).expect([coded("gzip")]),
    ])
}

fn item_066_the_minimum_whatever_the_chunks() -> Item {
    let case = |size: usize, cut: usize| {
        let case = get("gzip").reply(Reply::cut(&json(size), cut));
        if size < 1024 { case.expect([identity()]) } else { case.expect([coded("gzip")]) }
    };
    item("66", Policy, "", "the minimum holds whatever the chunks").cases([
        case(1023, 1023),
        case(1023, 600),
        case(1023, 10),
        case(1024, 1024),
        case(1024, 600),
        case(1024, 10),
        case(1025, 1025),
        case(1025, 600),
        case(1025, 10),
    ])
}

fn item_067_a_size_without_a_length() -> Item {
    item("67", Interop, "", "a size that the body tells counts as Content-Length does").cases([
        get("gzip").reply(Reply::text(json(1023))).expect([identity()]),
        get("gzip").reply(Reply::text(json(1024))).expect([coded("gzip")]),
    ])
}

fn item_068_an_empty_body() -> Item {
    let case = |reply: Reply| get("gzip").min_size(0).reply(reply).expect([decodes()]);
    let plain = || [identity(), no_body()];
    item("68", Interop, "RFC 1952 2.2", "an empty body stays empty: no 20 bytes of gzip").cases([
        case(Reply::empty()).expect(plain()),
        case(Reply::empty().status(404)).expect([identity()]),
        case(Reply::text("")).expect(plain()),
        case(Reply::of([])).expect(plain()),
        case(Reply::of([Step::Empty, Step::Empty])).expect(plain()),
        // The head is gone before it is known that nothing comes: then a valid empty stream.
        case(Reply::of([Step::Yield])),
        case(Reply::of([Step::Empty, Step::Yield, Step::Empty])),
    ])
}

fn item_069_trailers_only() -> Item {
    item("69", Interop, "6.5", "trailers without data: untouched").cases([get("gzip")
        .min_size(0)
        .over(&[Protocol::H2])
        .reply(Reply::of([Step::Trailers(vec![("grpc-status", "13")])]))
        .expect([identity(), no_body(), trailers(&[("grpc-status", "13")])])])
}

fn item_070_larger_than_the_original() -> Item {
    item("70", Policy, "", "what does not get smaller goes out as it was").cases([
        get("gzip").reply(Reply::text(noise(20_000))).expect([identity(), exact_length()]),
        get("zstd").reply(Reply::cut(&noise(20_000), 999)).expect([identity(), exact_length()]),
    ])
}
