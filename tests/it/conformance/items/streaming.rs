//! Streams: what leaves when, how bodies end, and how they fail.

use crate::conformance::Source::{Interop, Must, Policy};
use crate::conformance::app::App;
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, coded, decodes, fails, same_bytes, that, trailers};
use crate::conformance::exchange::Protocol;
use crate::conformance::layers::{OurLayer, Stack, stack};
use crate::conformance::reply::{Reply, Step};
use crate::conformance::{Item, item};
use crate::support::corpus::json;
use crate::support::failing::FAILING;

group! {
    item_071_an_event_leaves_before_the_next,
    item_071a_so_does_every_other_type,
    item_073_pauses_without_data,
    item_074_a_pause_before_the_minimum,
    item_075_every_flush_is_a_decodable_prefix,
    item_076_the_cuts_do_not_matter,
    item_077_no_flush_without_a_pause,
    item_078_trailers,
    item_079_fields_in_trailers,
    item_080_an_error_of_the_handlers_body,
    item_081_an_error_of_the_encoder,
    item_084_sizes,
    item_085_layers_twice,
}

const STREAMING: [&str; 4] = ["gzip", "zstd", "deflate", "br"];

const ALL: &[&str] = &["zstd", "br", "gzip", "deflate"];

/// Events, each of which the client must decode before the next one comes.
fn events(count: usize) -> Reply {
    let mut steps = Vec::new();
    let mut sent = 0;
    for number in 0..count {
        let event = format!("data: {{\"number\":{number},\"of\":\"an event stream\"}}\n\n");
        sent += event.len();
        steps.extend([Step::Data(event.into()), Step::Until(sent)]);
    }
    Reply::of(steps)
}

fn item_071_an_event_leaves_before_the_next() -> Item {
    let case = |coding| get(coding).offering(ALL).reply(events(5).content_type("text/event-stream"));
    item("71", Interop, "", "server-sent events: each is decodable before the next, every coding")
        .cases(STREAMING.map(|coding| case(coding).expect([decodes()])))
}

fn item_071a_so_does_every_other_type() -> Item {
    let case = |coding, content_type: &str| {
        let steps =
            [Step::Data(json(300).into()), Step::Until(300), Step::Data(json(100).into()), Step::Until(400)];
        get(coding).offering(ALL).reply(Reply::of(steps).content_type(content_type)).expect([coded(coding)])
    };
    item("71a", Interop, "", "so is the first part of every other slow body, coded").cases([
        case("gzip", "text/html"),
        case("zstd", "application/x-ndjson"),
        case("deflate", "multipart/mixed; boundary=x"),
        case("br", "application/json"),
    ])
}

fn item_073_pauses_without_data() -> Item {
    let mut steps = vec![Step::Data(json(300).into()), Step::Until(300)];
    steps.extend(vec![Step::Yield; 20]);
    steps.extend([Step::Data(json(300).into()), Step::Until(600)]);
    item("73", Interop, "", "pauses without new data put nothing out").cases(STREAMING.map(|coding| {
        let case = get(coding).offering(ALL).over(&[Protocol::H2]).reply(Reply::of(steps.clone()));
        // Two flushed parts, the coding's header if it goes alone, and its end.
        case.expect([coded(coding), that("at most four frames", |answer| answer.frames.len() <= 4)])
    }))
}

fn item_074_a_pause_before_the_minimum() -> Item {
    let steps = || [Step::Data(json(10).into()), Step::Until(10), Step::Data(json(2000).into())];
    item("74", Interop, "8.4", "a pause below the minimum decides: head and bytes agree").cases([
        get("gzip").reply(Reply::of(steps())).expect([decodes()]),
        get("zstd").reply(Reply::of(steps())).expect([decodes()]),
        get("gzip").reply(Reply::of([Step::Data(json(10).into()), Step::Until(10)])).expect([decodes()]),
    ])
}

fn item_075_every_flush_is_a_decodable_prefix() -> Item {
    let case = |coding| get(coding).reply(events(50)).expect([coded(coding)]);
    item("75", Interop, "", "after each of 50 pauses all that came is decodable").cases([
        case("gzip"),
        case("zstd"),
        case("x-snappy-framed").offering(&["x-snappy-framed"]),
    ])
}

/// Within 1 % of the size that the answer before had.
fn same_size() -> Check {
    that("a size within 1 %", |answer| {
        let (now, before) =
            (answer.bytes().len(), answer.before.as_ref().expect("an answer before").bytes().len());
        now.abs_diff(before) * 100 <= before
    })
}

fn item_076_the_cuts_do_not_matter() -> Item {
    let text = json(300_000);
    let case = |coding, cut| {
        get(coding)
            .reply(Reply::cut(&text, 300_000))
            .then_reply(Reply::cut(&text, cut))
            .expect([coded(coding), same_size()])
    };
    item("76", Interop, "", "the same bytes in other chunks: the same size within 1 %").cases([
        case("gzip", 7),
        case("gzip", 5000),
        case("zstd", 7),
        case("zstd", 5000),
    ])
}

fn item_077_no_flush_without_a_pause() -> Item {
    let no_marker = that("no sync marker", |answer| {
        let bytes = answer.bytes();
        !bytes[..bytes.len() - 8].windows(4).any(|window| window == [0, 0, 0xff, 0xff])
    });
    item("77", Policy, "", "a body that is ready: no sync marker inside gzip")
        .cases([get("gzip").reply(Reply::cut(&json(300_000), 300)).expect([coded("gzip"), no_marker])])
}

fn item_078_trailers() -> Item {
    let ok = || Step::Trailers(vec![("grpc-status", "0"), ("x-a", "b")]);
    let data = |bytes| Step::Data(json(bytes).into());
    let case = |content_type: &str, steps: Vec<Step>| {
        get("gzip")
            .over(&[Protocol::H2])
            .reply(Reply::of(steps).content_type(content_type))
            .expect([decodes(), trailers(&[("grpc-status", "0"), ("x-a", "b")])])
    };
    item("78", Must, "6.5", "trailers come after the end of the coding").cases([
        case("text/plain", vec![data(5000), data(5000), ok()]),
        case("application/grpc-web+proto", vec![data(5000), data(5000), ok()]),
        case("text/plain", vec![data(200_000), ok()]),
        case("text/plain", vec![data(5), Step::Yield, ok()]),
        case("text/plain", vec![data(5), ok()]),
        case("text/plain", vec![Step::Yield, ok()]),
    ])
}

fn item_079_fields_in_trailers() -> Item {
    let fields = || Step::Trailers(vec![("etag", "\"x\""), ("repr-digest", "sha-256=:a:"), ("x-a", "b")]);
    let case = |size| {
        get("gzip").over(&[Protocol::H2]).reply(Reply::of([Step::Data(json(size).into()), fields()])).expect(
            [
                coded("gzip"),
                that("x-a, but neither the digest nor the strong tag", |answer| {
                    answer.trailers.as_ref().is_some_and(|trailers| {
                        trailers.contains_key("x-a")
                            && !trailers.contains_key("repr-digest")
                            && trailers.get("etag").is_none_or(|tag| tag != "\"x\"")
                    })
                }),
            ],
        )
    };
    item("79", Interop, "6.5", "a tag or digest in trailers is treated as in the head")
        .cases([case(5000), case(200_000)])
}

fn item_080_an_error_of_the_handlers_body() -> Item {
    let data = || Step::Data(json(5000).into());
    let case = |coding, steps: Vec<Step>| get(coding).offering(ALL).reply(Reply::of(steps)).expect([fails()]);
    item("80", Must, "RFC 9112 8", "an error in the body: no valid end, the exchange breaks off").cases([
        case("gzip", vec![data(), Step::Yield, data(), Step::Error]),
        case("zstd", vec![data(), Step::Yield, data(), Step::Error]),
        case("deflate", vec![data(), Step::Until(5000), data(), Step::Error]),
        case("br", vec![data(), Step::Until(5000), data(), Step::Error]),
        case("gzip", vec![Step::Data(json(200_000).into()), Step::Error]),
        case("gzip", vec![data(), Step::Error]),
        case("gzip", vec![Step::Error]),
    ])
}

/// With an encoder that fails after 100,000 bytes.
fn broken(layer: OurLayer, app: App) -> Stack {
    stack(layer.codec(&FAILING), app)
}

fn item_081_an_error_of_the_encoder() -> Item {
    item("81", Must, "RFC 9112 8", "an error of the encoder: the same").cases([get("gzip")
        .reply(Reply::text(json(300_000)))
        .only_ours()
        .ours(broken)
        .expect([fails()])])
}

fn item_084_sizes() -> Item {
    let mut cases: Vec<Case> = Vec::new();
    for coding in STREAMING {
        for size in [0, 1, 1023, 1024, 1025, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073] {
            let text = json(size);
            let case =
                |reply| get(coding).offering(ALL).over(&[Protocol::H11]).reply(reply).expect([decodes()]);
            cases.extend([case(Reply::text(text.clone())), case(Reply::cut(&text, 4096))]);
        }
    }
    for coding in ["gzip", "zstd"] {
        let reply = Reply::cut(&json(16 * 1024 * 1024), 100_000);
        cases.push(get(coding).over(&[Protocol::H2]).reply(reply).expect([coded(coding)]));
    }
    item("84", Interop, "", "0 bytes to 16 MiB, whole and in chunks: all decode").cases(cases)
}

fn item_085_layers_twice() -> Item {
    let case = |accept: &str| get(accept).offering(&["gzip"]);
    item("85", Interop, "8.4", "a layer in a layer: coded once, one decision").cases([
        case("gzip").inside(&["gzip"]).expect([coded("gzip")]),
        case("gzip, zstd").inside(&["zstd"]).expect([coded("gzip")]),
        case("zstd").inside(&["zstd"]).expect([coded("zstd")]),
        case("gzip, zstd")
            .inside(&["zstd"])
            .reply(Reply::text(json(5000)).field("content-encoding", "identity"))
            .expect([same_bytes()]),
        case("gzip").inside(&["gzip"]).reply(Reply::cut(&json(200), 10)).expect([decodes()]),
    ])
}
