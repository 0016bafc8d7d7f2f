//! What observers can see: padding, timing, counters.

use crate::conformance::Source::{Interop, Policy};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, coded, identity, that};
use crate::conformance::exchange::Answer;
use crate::conformance::layers::{Subject, stack};
use crate::conformance::reply::{Reply, Step};
use crate::conformance::{Item, Outcome, item, run};
use crate::support::corpus::json;
use std::sync::OnceLock;
use tower_compress::predicate::{DefaultPredicate, ForRequest, NotForContentType, Predicate as _};
use tower_compress::{Compress, EncoderPool, Reason};

group! {
    item_127_padding_covers_its_range,
    item_127a_padding_by_content,
    item_128_padding_is_ignored,
    item_129_no_compression_where_it_is_dangerous,
    item_130_server_timing,
    item_131_counters,
}

fn small() -> Reply {
    Reply::text(json(5000))
}

/// The length of this answer and of those before it: the body, and padding in the head.
fn lengths(answer: &Answer) -> Vec<usize> {
    let padding = answer.lines("x-padding").iter().map(|value| value.len()).sum::<usize>();
    let mut lengths = answer.before.as_ref().map_or_else(Vec::new, |before| lengths(before));
    lengths.push(answer.bytes().len() + padding);
    lengths
}

fn padded(coding: &'static str) -> Case {
    get(coding)
        .reply(small())
        .only_ours()
        .ours(|layer, app| stack(layer.padding(0..=40), app))
        .expect([coded(coding)])
}

/// In 150 answers 40 of the 41 lengths are to be expected; that fewer than 20 occur is not seen in this world.
fn spread() -> Check {
    that("lengths all over the range, and none outside it", |answer| {
        let mut lengths = lengths(answer);
        lengths.sort_unstable();
        lengths.dedup();
        lengths.len() >= 20 && lengths[lengths.len() - 1] - lengths[0] <= 40
    })
}

fn item_127_padding_covers_its_range() -> Item {
    item("127", Policy, "", "padding: equal bodies get lengths all over the range")
        .cases([padded("gzip").times(150).expect([spread()]), padded("zstd").times(150).expect([spread()])])
}

fn item_127a_padding_by_content() -> Item {
    item("127a", Policy, "", "padding by content: equal bodies get equal lengths").cases([get("gzip")
        .reply(small())
        .only_ours()
        .ours(|layer, app| {
            // One layer for all answers, as in a server; this item makes a layer per answer.
            static LAYER: OnceLock<tower_compress::CompressionLayer> = OnceLock::new();
            let layer = LAYER.get_or_init(|| layer.padding(0..=4000).padding_by_content(true));
            stack(layer.clone(), app)
        })
        .times(20)
        .expect([that("the same length", |answer| {
            let lengths = lengths(answer);
            lengths.iter().all(|length| *length == lengths[0])
        })])])
}

fn item_128_padding_is_ignored() -> Item {
    let case = |coding, reply: Reply| {
        let case = get(coding).reply(reply).only_ours();
        case.ours(|layer, app| stack(layer.padding(100..=200), app)).expect([coded(coding)])
    };
    item("128", Policy, "RFC 1952 2.3.1", "padding: stock decoders skip it, no frame or member is added")
        .cases([
            case("gzip", small()),
            case("gzip", Reply::text(json(200_000))),
            case("zstd", small()),
            case("zstd", Reply::text(json(200_000))),
            case("deflate", small()).offering(&["deflate"]),
            case("br", small()).offering(&["br"]),
        ])
}

fn item_129_no_compression_where_it_is_dangerous() -> Item {
    let same_site = |case: Case| {
        case.only_ours().ours(|layer, app| {
            let same_site = ForRequest::new(|_, _, headers, _| {
                headers.get("sec-fetch-site").is_none_or(|site| site != "cross-site")
            });
            stack(layer.compress_when(DefaultPredicate::new().and(same_site)), app)
        })
    };
    let no_html = |case: Case| {
        case.only_ours().ours(|layer, app| {
            stack(layer.compress_when(DefaultPredicate::new().and(NotForContentType::new("text/html"))), app)
        })
    };
    item("129", Policy, "", "opting out: per response, per type, for cross-site requests").cases([
        get("gzip").wish(Compress::off()).expect([identity()]),
        no_html(get("gzip").content_type("text/html")).expect([identity()]),
        no_html(get("gzip").content_type("text/css")).expect([coded("gzip")]),
        same_site(get("gzip").request_field("sec-fetch-site", "cross-site")).expect([identity()]),
        same_site(get("gzip").request_field("sec-fetch-site", "same-origin")).expect([coded("gzip")]),
    ])
}

fn item_130_server_timing() -> Item {
    let on = || get("gzip").only_ours().ours(|layer, app| stack(layer.server_timing(true), app));
    let added = || {
        that("db;dur=53 and enc;dur=", |answer| {
            let members = answer.members("server-timing");
            members.len() == 2
                && members.contains(&"db;dur=53".to_owned())
                && members.iter().any(|member| member.starts_with("enc;dur="))
        })
    };
    item("130", Interop, "", "Server-Timing: a member added on request, others kept; off by default").cases([
        on().reply(small().field("server-timing", "db;dur=53")).expect([coded("gzip"), added()]),
        get("gzip")
            .only_ours()
            .reply(small().field("server-timing", "db;dur=53"))
            .expect([that("db;dur=53 alone", |answer| answer.lines("server-timing") == ["db;dur=53"])]),
    ])
}

fn item_131_counters() -> Item {
    item("131", Policy, "", "counters: decisions by reason, bytes in and out, calls, flushes, the pool")
        .special(|subject| match subject {
            Subject::Ours => counted(),
            Subject::Theirs => Outcome::NotOffered,
        })
}

fn counted() -> Outcome {
    static LAYER: OnceLock<tower_compress::CompressionLayer> = OnceLock::new();
    let layer = LAYER.get_or_init(|| tower_compress::CompressionLayer::new().pool(EncoderPool::new()));
    let count = |case: Case| case.ours(|_, app| stack(LAYER.get().expect("made above").clone(), app));
    let exchanges = item("", Policy, "", "").cases([
        count(get("gzip").reply(small())),
        count(get("gzip").reply(Reply::of([Step::Data(json(5000).into()), Step::Until(5000)]))),
        count(get("gzip").reply(Reply::text("short"))),
        count(get("br").reply(small())),
        count(get("gzip").reply(small().content_type("image/png"))),
    ]);
    if let outcome @ Outcome::Misses(_) = run(&exchanges, Subject::Ours) {
        return outcome;
    }
    // Each exchange runs over HTTP/1.1 and HTTP/2.
    let stats = layer.stats();
    let passed = |reason| stats.passed(reason);
    let holds = (stats.coded, stats.coded_whole, stats.bytes_in) == (4, 2, 20_000)
        && stats.bytes_out > 0
        && stats.bytes_out < stats.bytes_in
        && stats.encoder_calls >= 6
        && stats.flushes == 2
        && [Reason::BelowMinimum, Reason::NotAccepted, Reason::Predicate].map(passed) == [2; 3]
        && stats.pool.hits + stats.pool.misses == 4;
    if holds { Outcome::Holds } else { Outcome::Misses(format!("{stats:?}")) }
}
