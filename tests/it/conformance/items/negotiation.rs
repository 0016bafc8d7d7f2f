//! Which coding a request gets.

use crate::conformance::Source::{Interop, Must, Policy, Should};
use crate::conformance::case::{get, plain_get};
use crate::conformance::check::{coded, handler_not_called, identity, status, that, varies};
use crate::conformance::exchange::Protocol;
use crate::conformance::layers::stack;
use crate::conformance::reply::Reply;
use crate::conformance::{Item, item};
use http::StatusCode;

group! {
    item_001_no_accept_encoding,
    item_002_an_empty_field,
    item_003_gzip,
    item_004_gzip_refused,
    item_005_the_least_weight,
    item_006_the_highest_weight,
    item_007_ties,
    item_008_a_star,
    item_009_a_star_beside_a_refusal,
    item_010_a_star_refused,
    item_011_a_star_refused_but_for_gzip,
    item_012_identity,
    item_013_identity_preferred,
    item_014_nothing_acceptable,
    item_014a_a_406_comes_before_the_handler,
    item_014b_an_answer_keeps_its_status,
    item_015_identity_refused_below_the_minimum,
    item_016_upper_case,
    item_017_x_gzip,
    item_019_empty_elements_and_white_space,
    item_020_parameters_before_the_weight,
    item_021_malformed_weights,
    item_022_token_boundaries,
    item_023_ten_thousand_elements,
    item_024_an_unknown_coding,
    item_025_a_dictionary_coding,
}

fn item_001_no_accept_encoding() -> Item {
    item("1", Policy, "12.5.3", "no Accept-Encoding: no coding, Vary").cases([plain_get().expect([
        status(200),
        identity(),
        varies(),
    ])])
}

fn item_002_an_empty_field() -> Item {
    item("2", Should, "12.5.3", "an empty Accept-Encoding: no coding").cases([get("").expect([
        status(200),
        identity(),
        varies(),
    ])])
}

fn item_003_gzip() -> Item {
    item("3", Must, "8.4, 8.4.1.3", "gzip: one RFC 1952 member that decodes to the body")
        .cases([get("gzip").expect([coded("gzip")])])
}

fn item_004_gzip_refused() -> Item {
    item("4", Must, "12.4.2, 12.5.3", "gzip;q=0: not gzip").cases([get("gzip;q=0").expect([identity()])])
}

fn item_005_the_least_weight() -> Item {
    item("5", Must, "12.4.2", "q=0.000 refuses, q=0.001 accepts")
        .cases([get("gzip;q=0.000").expect([identity()]), get("gzip;q=0.001").expect([coded("gzip")])])
}

fn item_006_the_highest_weight() -> Item {
    item("6", Should, "12.5.3", "the highest weight is preferred").cases([
        get("gzip;q=0.5, zstd;q=0.8").expect([coded("zstd")]),
        get("gzip;q=0.8, zstd;q=0.5").expect([coded("gzip")]),
    ])
}

fn item_007_ties() -> Item {
    item("7", Policy, "12.4.2", "equal weights: the server's order").cases([
        get("gzip, zstd").expect([coded("zstd")]),
        get("zstd, gzip").expect([coded("zstd")]),
        get("gzip;q=0.7, zstd;q=0.7").expect([coded("zstd")]),
    ])
}

fn item_008_a_star() -> Item {
    item("8", Must, "12.5.3, 12.4.3", "*: a coding that the server has").cases([get("*")
        .expect([that("zstd or gzip", |answer| ["zstd", "gzip"].contains(&answer.coding().as_str()))])])
}

fn item_009_a_star_beside_a_refusal() -> Item {
    item("9", Must, "12.5.3", "gzip;q=0, *: zstd, never gzip")
        .cases([get("gzip;q=0, *").expect([coded("zstd")])])
}

fn item_010_a_star_refused() -> Item {
    item("10", Must, "12.5.3", "*;q=0: no coding").cases([get("*;q=0").expect([identity()])])
}

fn item_011_a_star_refused_but_for_gzip() -> Item {
    item("11", Must, "12.5.3", "*;q=0, gzip: gzip").cases([get("*;q=0, gzip").expect([coded("gzip")])])
}

fn item_012_identity() -> Item {
    item("12", Must, "12.5.3", "identity: no coding").cases([get("identity").expect([identity()])])
}

fn item_013_identity_preferred() -> Item {
    item("13", Should, "12.5.3", "identity has the higher weight: no coding").cases([
        get("identity;q=1, gzip;q=0.5").expect([identity()]),
        get("identity, gzip;q=0.5").expect([identity()]),
        get("identity;q=1, *;q=0").expect([identity()]),
    ])
}

fn item_014_nothing_acceptable() -> Item {
    let answer = || {
        that("no coding, and 200 or 406", |answer| {
            answer.coding() == "identity"
                && [StatusCode::OK, StatusCode::NOT_ACCEPTABLE].contains(&answer.status)
        })
    };
    item("14", Should, "12.5.3, 15.5.7", "nothing acceptable: identity or 406, no coding unasked").cases([
        get("identity;q=0").expect([answer()]),
        get("br, identity;q=0").expect([answer()]),
        get("*;q=0").expect([answer()]),
    ])
}

fn item_014a_a_406_comes_before_the_handler() -> Item {
    item("14a", Interop, "15.5.7", "a 406 is decided before the handler runs").cases([get(
        "br, identity;q=0",
    )
    .ours(|layer, app| stack(layer.strict(true), app))
    .expect([status(406), varies(), handler_not_called()])])
}

fn item_014b_an_answer_keeps_its_status() -> Item {
    let answer = |code| get("br, identity;q=0").status(code).expect([status(code)]);
    item("14b", Interop, "12.1", "nothing acceptable: what the handler has done keeps its status").cases([
        answer(500),
        answer(201),
        answer(204).reply(Reply::empty().status(204)),
        answer(200).reply(Reply::text(vec![1; 2000]).field("content-encoding", "br")),
    ])
}

fn item_015_identity_refused_below_the_minimum() -> Item {
    item("15", Should, "12.5.3", "identity refused: even 10 bytes are coded").cases([
        get("gzip, identity;q=0").reply(Reply::text("ten bytes.")).expect([coded("gzip")]),
        get("gzip, identity;q=0").reply(Reply::cut(b"ten bytes.", 3)).expect([coded("gzip")]),
    ])
}

fn item_016_upper_case() -> Item {
    item("16", Must, "8.4.1", "GZIP and GzIp are gzip")
        .cases([get("GZIP").expect([coded("gzip")]), get("GzIp").expect([coded("gzip")])])
}

fn item_017_x_gzip() -> Item {
    item("17", Should, "8.4.1.3", "x-gzip is gzip, and is answered as gzip")
        .cases([get("x-gzip").expect([coded("gzip")])])
}

fn item_019_empty_elements_and_white_space() -> Item {
    item("19", Must, "5.6.1.2, 5.6.3", "empty elements and white space mean nothing").cases([
        get("gzip , ,, zstd ;q=0.3").expect([coded("gzip")]),
        get("gzip\t;\tq=0.5 , zstd;q=0.4").expect([coded("gzip")]),
        get(",, ,gzip,").expect([coded("gzip")]),
    ])
}

fn item_020_parameters_before_the_weight() -> Item {
    item("20", Should, "12.4.2", "other parameters do not hide the weight; Q is q")
        .cases([get("gzip;foo=bar;q=0").expect([identity()]), get("gzip;Q=0").expect([identity()])])
}

fn item_021_malformed_weights() -> Item {
    let ignored = |weight: &str| get(format!("gzip;q={weight}, zstd;q=0.1")).expect([coded("zstd")]);
    item("21", Should, "12.4.2", "a malformed weight: that element is ignored, no 500").cases([
        get("gzip;q=abc").expect([status(200), identity()]),
        ignored("abc"),
        ignored("2"),
        ignored("-1"),
        ignored("0.1234"),
        ignored("1.5"),
        ignored("NaN"),
        ignored(""),
    ])
}

fn item_022_token_boundaries() -> Item {
    item("22", Interop, "5.6.2", "xgzip, gzipx, brotli and bytes outside ASCII are no consent").cases([
        get("xgzip, gzipx, supergzip").expect([identity()]),
        get("brotli").offering(&["br", "gzip"]).expect([identity()]),
        get(b"gzip\xff").expect([identity()]),
    ])
}

/// HTTP/2 servers limit a head to 16 KiB, hyper's HTTP/1.1 to 400.
fn item_023_ten_thousand_elements() -> Item {
    item("23", Interop, "12.5.3", "10,000 elements in 60 KiB: still 200, still right").cases([
        get("x;q=1,".repeat(10_000) + "gzip").over(&[Protocol::H11]).expect([status(200), coded("gzip")]),
        get("gzip;q=0,".repeat(7_000)).over(&[Protocol::H11]).expect([status(200), identity()]),
    ])
}

fn item_024_an_unknown_coding() -> Item {
    item("24", Must, "12.5.3", "only unknown codings: 200 without a coding")
        .cases([get("foo").expect([status(200), identity()])])
}

fn item_025_a_dictionary_coding() -> Item {
    item("25", Policy, "RFC 9842 6.1", "dcz without Available-Dictionary: never used")
        .cases([get("dcz, dcb").expect([identity()]), get("dcz, gzip;q=0.5").expect([coded("gzip")])])
}
