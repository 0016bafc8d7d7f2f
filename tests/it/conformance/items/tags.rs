//! Entity tags of coded responses, and requests that name them.

use crate::conformance::Source::{Interop, Must, Policy};
use crate::conformance::case::{Case, get, plain_get};
use crate::conformance::check::{
    coded, field, handler_saw, identity, no_field, same_as_before, status, that, varies,
};
use crate::conformance::layers::stack;
use crate::conformance::reply::{Kind, Reply};
use crate::conformance::{Item, item};
use crate::support::corpus::json;
use http::Method;
use tower_compress::EtagPolicy;

group! {
    item_034_a_strong_tag_differs,
    item_034a_the_tag_policies,
    item_035_a_weak_tag_stays,
    item_036_not_coded_the_tag_stays,
    item_037_a_malformed_tag,
    item_038_revalidation_with_the_received_tag,
    item_038a_if_none_match_is_mapped_back,
    item_039_if_match_with_the_received_tag,
    item_039a_if_match_is_mapped_back,
}

/// 5000 bytes, which are all there at once.
fn small() -> Reply {
    Reply::text(json(5000))
}

fn tagged(accept: &str) -> Case {
    get(accept).field("etag", "\"x\"")
}

fn item_034_a_strong_tag_differs() -> Item {
    let another = || that("another tag, or a weak one", |answer| !answer.lines("etag").contains(&"\"x\""));
    item("34", Must, "8.8.3.3", "coded: another strong ETag than the original's").cases([
        tagged("gzip").expect([coded("gzip"), another()]),
        tagged("zstd").reply(small().field("etag", "\"x\"")).expect([coded("zstd"), another()]),
    ])
}

fn item_034a_the_tag_policies() -> Item {
    item("34a", Policy, "8.8.3.3", "\"x~gzip\" by default; weakened, removed or kept on request").cases([
        tagged("gzip").only_ours().expect([field("etag", &["\"x~gzip\""])]),
        tagged("zstd").only_ours().expect([field("etag", &["\"x~zstd\""])]),
        tagged("gzip")
            .only_ours()
            .ours(|layer, app| stack(layer.etag(EtagPolicy::Weaken), app))
            .expect([field("etag", &["W/\"x\""])]),
        tagged("gzip")
            .only_ours()
            .ours(|layer, app| stack(layer.etag(EtagPolicy::Remove), app))
            .expect([no_field("etag")]),
        tagged("gzip")
            .only_ours()
            .ours(|layer, app| stack(layer.etag(EtagPolicy::Keep), app))
            .expect([field("etag", &["\"x\""])]),
    ])
}

fn item_035_a_weak_tag_stays() -> Item {
    item("35", Policy, "8.8.1", "coded: a weak ETag stays")
        .cases([get("gzip").field("etag", "W/\"x\"").expect([coded("gzip"), field("etag", &["W/\"x\""])])])
}

fn item_036_not_coded_the_tag_stays() -> Item {
    item("36", Policy, "8.8.3", "not coded: the ETag stays").cases([
        plain_get().field("etag", "\"x\"").expect([identity(), field("etag", &["\"x\""])]),
        tagged("gzip;q=0").expect([identity(), field("etag", &["\"x\""])]),
        get("gzip")
            .field("etag", "not-a-tag")
            .content_type("image/png")
            .expect([field("etag", &["not-a-tag"])]),
    ])
}

fn item_037_a_malformed_tag() -> Item {
    let case = |tags: &[&str]| {
        let tagged = tags.iter().fold(get("gzip"), |case, tag| case.field("etag", *tag));
        tagged.expect([that("no coding, or no ETag", |answer| {
            answer.coding() == "identity" || answer.lines("etag").is_empty()
        })])
    };
    item("37", Policy, "8.8.3", "a malformed or a second ETag: not coded, or removed").cases([
        case(&["x"]),
        case(&["\"x"]),
        case(&["w/\"x\""]),
        case(&["\"x\"", "\"y\""]),
    ])
}

fn item_038_revalidation_with_the_received_tag() -> Item {
    let case = |reply: Reply| {
        get("gzip")
            .reply(reply.field("etag", "\"x\"").kind(Kind::Resource))
            .then(Method::GET)
            .received("if-none-match", "etag")
            .expect([status(304), same_as_before(&["etag"]), no_field("content-encoding")])
    };
    item("38", Interop, "13.1.2", "If-None-Match with the received tag: 304, the same tag")
        .cases([case(small()), case(Reply::text(json(200_000)))])
}

fn item_038a_if_none_match_is_mapped_back() -> Item {
    let case = |accept: &str, listed: &str| {
        let reply = small().field("etag", "\"x\"").kind(Kind::Resource);
        get(accept).reply(reply).request_field("if-none-match", listed).only_ours()
    };
    item("38a", Interop, "13.1.2", "the handler sees its own tags; lists, * and W/ survive").cases([
        case("gzip", "\"x~gzip\"").expect([
            status(304),
            handler_saw("if-none-match", &["\"x\""]),
            field("etag", &["\"x~gzip\""]),
            varies(),
        ]),
        // A 304 for this tag would select a representation that the client does not take now.
        case("zstd", "\"x~gzip\"").expect([
            status(200),
            handler_saw("if-none-match", &["\"x~gzip\""]),
            coded("zstd"),
        ]),
        case("identity", "\"x~gzip\"").expect([status(200), identity()]),
        case("gzip", "W/\"w\", \"a,b~gzip\", \"y~br\", \"z\"")
            .expect([status(200), handler_saw("if-none-match", &["W/\"w\", \"a,b\", \"y~br\", \"z\""])]),
        case("gzip", "*").expect([
            status(304),
            handler_saw("if-none-match", &["*"]),
            field("etag", &["\"x\""]),
        ]),
        case("gzip", "\"x\"").expect([status(304), field("etag", &["\"x\""])]),
    ])
}

fn item_039_if_match_with_the_received_tag() -> Item {
    item("39", Must, "13.1.1", "If-Match with the received tag: the write goes through").cases([get("gzip")
        .reply(small().field("etag", "\"x\"").kind(Kind::Resource))
        .then(Method::PUT)
        .received("if-match", "etag")
        .expect([status(204)])])
}

fn item_039a_if_match_is_mapped_back() -> Item {
    let case = |accept: &str, listed: &str| {
        let reply = small().field("etag", "\"x\"").kind(Kind::Resource);
        get(accept).reply(reply).method(Method::PUT).request_field("if-match", listed).only_ours()
    };
    item("39a", Must, "13.1.1", "If-Match with a marked tag of any coding is mapped back").cases([
        case("gzip", "\"x~gzip\"").expect([status(204), handler_saw("if-match", &["\"x\""])]),
        case("gzip", "\"x~zstd\"").expect([status(204)]),
        case("", "\"x~gzip\"").expect([status(204)]),
        case("gzip", "\"y~gzip\"").expect([status(412)]),
    ])
}
