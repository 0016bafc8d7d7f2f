//! What the head of a coded response says, and that of one which is not coded.

use crate::conformance::Source::{Interop, Must, Policy, Should};
use crate::conformance::case::{get, plain_get};
use crate::conformance::check::{
    coded, does_not_vary, exact_length, field, framing_is_the_servers, head_as_the_handlers, identity,
    members, no_field, nothing_leaks, one_last_chunk, same_bytes, that, varies,
};
use crate::conformance::layers::stack;
use crate::conformance::reply::Reply;
use crate::conformance::{Item, item};
use crate::support::corpus::{json, noise};
use http::Method;
use tower_compress::{Compress, CompressionLevel};

group! {
    item_026_content_encoding,
    item_027_the_length_of_the_original,
    item_028_the_length_of_a_buffered_body,
    item_029_transfer_encoding,
    item_030_coded_varies,
    item_031_not_coded_varies_too,
    item_032_what_could_not_be_coded_does_not,
    item_033_vary_is_merged,
    item_040_accept_ranges,
    item_040a_digests,
    item_042_all_other_fields_stay,
    item_043_an_opt_out_stays_inside,
    item_043a_a_response_says_how,
    item_044_not_coded_all_fields_stay,
}

/// 5000 bytes, which are all there at once.
fn small() -> Reply {
    Reply::text(json(5000))
}

fn item_026_content_encoding() -> Item {
    let case = |coding| get(coding).offering(&["zstd", "br", "gzip", "deflate"]).expect([coded(coding)]);
    item("26", Must, "8.4", "Content-Encoding lists exactly the coding applied").cases([
        case("gzip"),
        case("zstd"),
        case("deflate"),
        case("br"),
    ])
}

fn item_027_the_length_of_the_original() -> Item {
    let true_length = || {
        that("no Content-Length, or the coded one", |answer| {
            let lines = answer.lines("content-length");
            lines.is_empty() || lines == [answer.bytes().len().to_string()]
        })
    };
    let case = |reply: Reply| get("gzip").reply(reply).expect([coded("gzip"), true_length()]);
    item("27", Must, "8.6, RFC 9112 6.3", "coded: never the original's Content-Length").cases([
        case(small().with_length()),
        case(Reply::text(json(200_000)).with_length()),
        case(Reply::cut(&json(200_000), 1000).with_length()),
    ])
}

fn item_028_the_length_of_a_buffered_body() -> Item {
    item("28", Should, "8.6", "coded and all there: the exact Content-Length").cases([
        get("gzip").reply(small()).expect([coded("gzip"), exact_length()]),
        get("zstd").reply(Reply::cut(&json(5000), 10)).expect([coded("zstd"), exact_length()]),
    ])
}

fn item_029_transfer_encoding() -> Item {
    let case = |reply: Reply| {
        get("gzip").reply(reply).expect([coded("gzip"), framing_is_the_servers(), one_last_chunk()])
    };
    item("29", Must, "RFC 9112 6.1, RFC 9113 8.2.2", "Transfer-Encoding is the server's alone").cases([
        case(small()),
        case(Reply::text(json(200_000))),
        case(small().field("transfer-encoding", "chunked")),
        case(Reply::cut(&json(200_000), 1000).field("transfer-encoding", "chunked")),
    ])
}

fn item_030_coded_varies() -> Item {
    item("30", Should, "12.5.5", "coded: Vary: accept-encoding").cases([
        get("gzip").expect([coded("gzip"), varies()]),
        get("gzip").status(404).expect([coded("gzip"), varies()]),
    ])
}

fn item_031_not_coded_varies_too() -> Item {
    item("31", Should, "12.5.5", "below the minimum, not asked or refused: Vary all the same").cases([
        plain_get().expect([identity(), varies()]),
        get("gzip;q=0").expect([identity(), varies()]),
        get("gzip").reply(Reply::text("short")).expect([identity(), varies()]),
        get("gzip").reply(Reply::cut(b"short", 1)).expect([identity(), varies()]),
        get("gzip").reply(Reply::empty().status(304)).expect([varies()]),
    ])
}

fn item_032_what_could_not_be_coded_does_not() -> Item {
    item("32", Should, "12.5.5", "never coded (a JPEG, an opt-out): no Vary").cases([
        get("gzip").content_type("image/jpeg").expect([identity(), does_not_vary()]),
        get("gzip").field("content-encoding", "identity").expect([same_bytes(), does_not_vary()]),
        get("gzip").field("vary", "*").expect([field("vary", &["*"])]),
    ])
}

fn item_033_vary_is_merged() -> Item {
    let case = |vary: &str| get("gzip").field("vary", vary);
    item("33", Must, "12.5.5, 5.1", "Vary keeps its members and gains one, once").cases([
        case("Origin").expect([members("vary", &["origin", "accept-encoding"])]),
        case("Cookie, Authorization")
            .expect([members("vary", &["cookie", "authorization", "accept-encoding"])]),
        case("ACCEPT-ENCODING , Origin").expect([field("vary", &["ACCEPT-ENCODING , Origin"])]),
        case("Origin")
            .field("vary", "accept-encoding")
            .expect([field("vary", &["Origin", "accept-encoding"])]),
        case("*").expect([field("vary", &["*"])]),
        case("X-Accept-Encoding-Hint")
            .expect([members("vary", &["x-accept-encoding-hint", "accept-encoding"])]),
    ])
}

fn item_040_accept_ranges() -> Item {
    item("40", Must, "14.3", "coded: no Accept-Ranges, or none").cases([get("gzip")
        .field("accept-ranges", "bytes")
        .expect([
            coded("gzip"),
            that("no Accept-Ranges, or none", |answer| {
                answer.lines("accept-ranges").iter().all(|value| *value == "none")
            }),
        ])])
}

fn item_040a_digests() -> Item {
    item("40a", Must, "RFC 9530 2, 3", "coded: no digest of the original's bytes").cases([get("gzip")
        .field("content-digest", "sha-256=:4REjxQ4yrqUVicfSKYNO/cF9zNj5ANbzgDZt3/h3Qxo=:")
        .field("repr-digest", "sha-256=:4REjxQ4yrqUVicfSKYNO/cF9zNj5ANbzgDZt3/h3Qxo=:")
        .field("digest", "sha-256=4REjxQ4yrqUVicfSKYNO/cF9zNj5ANbzgDZt3/h3Qxo=")
        .field("content-md5", "Q2hlY2sgSW50ZWdyaXR5IQ==")
        .expect([
            coded("gzip"),
            no_field("content-digest"),
            no_field("repr-digest"),
            no_field("digest"),
            no_field("content-md5"),
        ])])
}

fn with_fields(reply: Reply) -> Reply {
    reply
        .field("cache-control", "private, max-age=60")
        .field("last-modified", "Sat, 29 Oct 1994 19:43:31 GMT")
        .field("set-cookie", "a=1")
        .field("set-cookie", "b=2")
        .field("x-unknown", "1")
        .field("server-timing", "db;dur=53")
}

fn item_042_all_other_fields_stay() -> Item {
    item("42", Must, "7.7", "coded: all that stays true stays").cases([get("gzip")
        .reply(with_fields(small()))
        .expect([
            coded("gzip"),
            field("content-type", &["text/plain"]),
            field("cache-control", &["private, max-age=60"]),
            field("last-modified", &["Sat, 29 Oct 1994 19:43:31 GMT"]),
            field("set-cookie", &["a=1", "b=2"]),
            field("x-unknown", &["1"]),
            field("server-timing", &["db;dur=53"]),
        ])])
}

fn item_043_an_opt_out_stays_inside() -> Item {
    let field = |reply: Reply| {
        let case = get("gzip").reply(reply.field("content-encoding", "identity")).only_ours();
        case.expect([no_field("content-encoding")])
    };
    let wish = |reply: Reply| {
        get("gzip").reply(reply).wish(Compress::off()).expect([no_field("content-encoding"), nothing_leaks()])
    };
    item("43", Interop, "8.4", "an opt-out (Content-Encoding: identity, extension) stays inside").cases([
        field(small()).expect([same_bytes()]),
        field(small().status(404)).expect([same_bytes()]),
        field(small().status(500)).expect([same_bytes()]),
        field(small().status(206).field("content-range", "bytes 0-4999/9000")).expect([same_bytes()]),
        field(Reply::empty().status(204)),
        field(small()).method(Method::HEAD),
        field(small()).inside(&["zstd", "gzip"]).expect([same_bytes()]),
        wish(small()).expect([same_bytes(), does_not_vary()]),
        wish(Reply::text(json(200_000))).expect([same_bytes()]),
        wish(small().status(500)).expect([same_bytes()]),
        wish(small().status(206).field("content-range", "bytes 0-4999/9000")),
        wish(Reply::empty().status(204)),
        wish(small()).method(Method::HEAD),
        wish(small()).inside(&["zstd", "gzip"]).expect([same_bytes()]),
        wish(small()).accept("identity"),
    ])
}

fn item_043a_a_response_says_how() -> Item {
    let case = |wish| get("zstd, gzip").wish(wish).expect([nothing_leaks()]);
    item("43a", Policy, "", "a response chooses its coding and level, if the client takes it").cases([
        case(Compress::coding("gzip").level(CompressionLevel::Best)).expect([coded("gzip")]),
        case(Compress::coding("GZIP")).expect([coded("gzip")]),
        case(Compress::coding("br")).expect([coded("zstd")]),
        case(Compress::coding("gzip")).accept("zstd").expect([coded("zstd")]),
        case(Compress::new().level(CompressionLevel::Fastest)).expect([coded("zstd")]),
    ])
}

fn item_044_not_coded_all_fields_stay() -> Item {
    let full = |reply: Reply| {
        with_fields(reply)
            .field("etag", "\"x\"")
            .field("accept-ranges", "bytes")
            .field("repr-digest", "sha-256=:a:")
    };
    let case =
        |accept: &str, reply: Reply| get(accept).reply(reply).expect([identity(), head_as_the_handlers()]);
    item("44", Policy, "7.7", "not coded: every field as it was, but for Vary").cases([
        case("identity", full(small()).with_length()),
        case("gzip", full(Reply::text("short")).with_length()),
        case("gzip", full(small()).content_type("image/png").with_length()),
        case("gzip", full(Reply::text(noise(20_000))).with_length())
            .only_ours()
            .ours(|layer, app| stack(layer.padding(10..=20).server_timing(true), app)),
    ])
}
