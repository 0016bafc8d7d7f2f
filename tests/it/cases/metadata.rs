//! E: header fields, caches, ranges and digests.

use crate::conformance::all_hold;
use crate::conformance::app::App;
use crate::conformance::case::{Case, get, plain_get};
use crate::conformance::check::{
    coded, does_not_vary, exact_length, field, framing_is_the_servers, handler_saw, head_as_the_handlers,
    identity, members, no_field, same_bytes, status, that, varies,
};
use crate::conformance::layers::{OurLayer, Stack, stack};
use crate::conformance::reply::{Kind, Reply, Step};
use crate::support::corpus::{json, noise};
use http::Method;
use tower_compress::EtagPolicy;
use tower_compress::predicate::{DefaultPredicate, ForRequest, Predicate as _};

fn html(size: usize) -> Reply {
    Reply::text(json(size)).content_type("text/html; charset=utf-8")
}

#[test]
fn e01_the_length_of_the_original_does_not_survive() {
    let length = || {
        that("no Content-Length, or the coded one", |answer| {
            let lines = answer.lines("content-length");
            lines.is_empty() || lines == [answer.bytes().len().to_string()]
        })
    };
    let case =
        |reply: Reply| get("gzip").reply(reply).expect([coded("gzip"), length(), framing_is_the_servers()]);
    all_hold([
        case(html(5000).with_length()).expect([exact_length()]),
        case(html(200_000).with_length()),
        // The same length twice.
        case(html(5000).with_length().with_length()),
        case(Reply::cut(&json(200_000), 1000).with_length()),
        case(
            Reply::of([Step::Data(json(300).into()), Step::Yield, Step::Data(json(5000).into())])
                .with_length(),
        ),
    ]);
}

#[test]
fn e02_every_variant_says_that_it_varies() {
    all_hold([
        get("gzip").reply(html(5000)).expect([coded("gzip"), varies()]),
        plain_get().reply(html(5000)).expect([identity(), varies()]),
        get("gzip;q=0").reply(html(5000)).expect([identity(), varies()]),
        get("gzip").reply(html(5000).status(404)).expect([coded("gzip"), varies()]),
        get("gzip").reply(html(100)).expect([identity(), varies()]),
        get("gzip").reply(Reply::empty().status(304)).expect([varies()]),
        // It was the request that ruled a coding out: another one may get it.
        get("gzip").request_field("cache-control", "no-transform").expect([identity(), varies()]),
        get("gzip")
            .ours(only_same_site)
            .request_field("sec-fetch-site", "cross-site")
            .expect([identity(), varies()]),
    ]);
}

#[test]
fn e02_what_accept_encoding_could_not_change_does_not_vary() {
    let case = |reply: Reply| get("gzip").reply(reply).expect([same_bytes(), does_not_vary()]);
    all_hold([
        case(Reply::text(json(5000)).content_type("image/png")),
        case(html(1024).status(206).field("content-range", "bytes 0-1023/5000")),
        case(html(5000).field("cache-control", "no-transform")),
        case(html(5000).field("content-encoding", "br")),
        case(html(5000).field("content-encoding", "identity")),
        case(Reply::text(json(5000)).content_type("application/grpc")),
        get("gzip").reply(Reply::empty().status(304).content_type("image/png")).expect([does_not_vary()]),
    ]);
}

fn only_same_site(layer: OurLayer, app: App) -> Stack {
    let rule = ForRequest::new(|_, _, headers, _| !headers.contains_key("sec-fetch-site"));
    stack(layer.compress_when(DefaultPredicate::new().and(rule)), app)
}

#[test]
fn e03_vary_is_merged_by_token() {
    let case = |vary: &str| get("gzip").reply(html(5000).field("vary", vary)).expect([coded("gzip")]);
    all_hold([
        case("Cookie, Authorization")
            .expect([members("vary", &["cookie", "authorization", "accept-encoding"])]),
        case("ACCEPT-ENCODING , Origin").expect([field("vary", &["ACCEPT-ENCODING , Origin"])]),
        get("gzip")
            .reply(html(5000).field("vary", "Origin").field("vary", "accept-encoding"))
            .expect([field("vary", &["Origin", "accept-encoding"])]),
        case("*").expect([field("vary", &["*"])]),
        case("Origin, *").expect([field("vary", &["Origin, *"])]),
        case("X-Accept-Encoding-Hint")
            .expect([members("vary", &["x-accept-encoding-hint", "accept-encoding"])]),
        // A layer around this one that says it too.
        case("Origin").inside(&["zstd", "gzip"]).expect([members("vary", &["origin", "accept-encoding"])]),
    ]);
}

#[test]
fn e04_no_two_codings_share_a_strong_tag() {
    let tagged = |accept: &str, tag: &str| get(accept).reply(html(5000).field("etag", tag));
    let weaken = |case: Case| case.ours(|layer, app| stack(layer.etag(EtagPolicy::Weaken), app));
    all_hold([
        tagged("gzip", "\"abc\"").expect([field("etag", &["\"abc~gzip\""])]),
        tagged("zstd", "\"abc\"").expect([field("etag", &["\"abc~zstd\""])]),
        tagged("identity", "\"abc\"").expect([field("etag", &["\"abc\""])]),
        tagged("gzip", "W/\"abc\"").expect([field("etag", &["W/\"abc\""])]),
        tagged("gzip", "abc").expect([no_field("etag")]),
        tagged("gzip", "\"a\"b\"").expect([no_field("etag")]),
        weaken(tagged("gzip", "\"abc\"")).expect([field("etag", &["W/\"abc\""])]),
        weaken(tagged("gzip", "W/\"abc\"")).expect([field("etag", &["W/\"abc\""])]),
        weaken(tagged("gzip", "abc")).expect([no_field("etag")]),
        weaken(tagged("identity", "\"abc\"")).expect([field("etag", &["\"abc\""])]),
    ]);
}

/// A 304 speaks of the representation that a 200 would have sent.
#[test]
fn e04_a_304_names_what_the_client_holds() {
    let asks = |accept: &str, listed: &str| {
        let reply = html(5000).field("etag", "\"x\"").kind(Kind::Resource);
        get(accept).reply(reply).request_field("if-none-match", listed)
    };
    let with = |case: Case, policy: fn(OurLayer, App) -> Stack| case.ours(policy);
    all_hold([
        asks("gzip", "\"x~gzip\"").expect([status(304), field("etag", &["\"x~gzip\""])]),
        asks("gzip", "\"a\", \"x\"").expect([status(304), field("etag", &["\"x\""])]),
        with(asks("gzip", "W/\"x\""), |layer, app| stack(layer.etag(EtagPolicy::Weaken), app))
            .expect([status(304), field("etag", &["W/\"x\""])]),
        with(asks("identity", "\"x\""), |layer, app| stack(layer.etag(EtagPolicy::Weaken), app))
            .expect([status(304), field("etag", &["\"x\""])]),
        with(asks("gzip", "*"), |layer, app| stack(layer.etag(EtagPolicy::Remove), app))
            .expect([status(304), no_field("etag")]),
        with(asks("gzip", "\"x\""), |layer, app| stack(layer.etag(EtagPolicy::Keep), app))
            .expect([status(304), field("etag", &["\"x\""])]),
        // Of a type that is never coded nothing is rewritten.
        get("gzip")
            .reply(Reply::empty().status(304).content_type("image/png").field("etag", "\"x\""))
            .ours(|layer, app| stack(layer.etag(EtagPolicy::Weaken), app))
            .expect([field("etag", &["\"x\""]), does_not_vary()]),
    ]);
}

#[test]
fn e07_a_single_range_is_not_compressed() {
    let range = |reply: Reply| get("gzip").request_field("range", "bytes=0-1023").reply(reply);
    all_hold([
        range(html(1024).status(206).field("content-range", "bytes 0-1023/5000").with_length()).expect([
            status(206),
            same_bytes(),
            head_as_the_handlers(),
            exact_length(),
        ]),
        range(html(1024).field("content-range", "bytes 0-1023/5000").with_length())
            .expect([same_bytes(), head_as_the_handlers()]),
        range(html(2048).status(416).field("content-range", "bytes */5000").with_length()).expect([
            status(416),
            same_bytes(),
            head_as_the_handlers(),
        ]),
        range(html(5000).status(206).content_type("multipart/byteranges; boundary=x").with_length())
            .expect([same_bytes(), head_as_the_handlers()]),
    ]);
}

/// Half of a coded download, then the rest with the validator that was received, whichever that is.
#[test]
fn e09_a_download_is_never_resumed_with_other_bytes() {
    let policies: [fn(OurLayer, App) -> Stack; 3] = [
        stack,
        |layer, app| stack(layer.etag(EtagPolicy::Weaken), app),
        |layer, app| stack(layer.etag(EtagPolicy::Remove), app),
    ];
    for (at, policy) in policies.into_iter().enumerate() {
        let reply = html(500_000).field("accept-ranges", "bytes").field("etag", "\"s\"").kind(Kind::Resource);
        let first = || get("gzip").reply(reply.clone()).ours(policy);
        all_hold([first().expect([coded("gzip"), no_field("accept-ranges")])]);
        // Without a tag there is nothing to make the request conditional with.
        if at < 2 {
            let resumed =
                first().then(Method::GET).request_field("range", "bytes=1000-").received("if-range", "etag");
            all_hold([resumed.expect([status(200), coded("gzip"), no_field("content-range")])]);
        }
    }
}

/// `If-Match` is another way to say "only if it has not changed", with any method (RFC 9110 section 13.1.1).
#[test]
fn e09_a_download_resumed_by_if_match_gets_the_whole() {
    let reply = html(500_000).field("etag", "\"s\"").kind(Kind::Resource);
    let resumed = || get("gzip").reply(reply.clone()).then(Method::GET).request_field("range", "bytes=1000-");
    all_hold([
        resumed().received("if-match", "etag").expect([
            status(200),
            coded("gzip"),
            no_field("content-range"),
            handler_saw("if-match", &["\"s\""]),
            handler_saw("range", &[]),
        ]),
        resumed().request_field("if-match", "\"t~gzip\"").expect([status(412)]),
        // Who holds the handler's own bytes gets the rest of them.
        resumed().request_field("if-match", "\"s\"").expect([status(206), no_field("content-encoding")]),
    ]);
}

/// The identity bytes can still be resumed, whatever else the client accepts.
#[test]
fn e09_a_download_of_identity_bytes_is_resumed() {
    let reply = html(50_000).field("etag", "\"s\"").kind(Kind::Resource);
    let resumed = |accept: &str| {
        let case = get(accept).reply(reply.clone()).request_field("range", "bytes=1000-");
        case.request_field("if-range", "\"s\"").expect([status(206), no_field("content-encoding")])
    };
    all_hold([resumed("gzip"), resumed("identity")]);
}

#[test]
fn e11_what_is_coded_is_not_coded_again() {
    let handler =
        |coding: &str| get("gzip").reply(Reply::text(noise(5000)).field("content-encoding", coding));
    let twice = |accept: &str| get(accept).offering(&["gzip"]).inside(&["zstd", "gzip"]);
    all_hold([
        twice("gzip").expect([coded("gzip")]),
        twice("zstd, gzip;q=0.5").expect([coded("gzip")]),
        twice("zstd").expect([coded("zstd")]),
        handler("br").expect([same_bytes(), field("content-encoding", &["br"])]),
        handler("gzip").expect([same_bytes(), field("content-encoding", &["gzip"])]),
        handler("GZIP").expect([same_bytes(), field("content-encoding", &["GZIP"])]),
        handler("zstd, gzip").expect([same_bytes(), field("content-encoding", &["zstd, gzip"])]),
        handler("aws-chunked").expect([same_bytes(), field("content-encoding", &["aws-chunked"])]),
        handler("identity, br").expect([same_bytes(), field("content-encoding", &["identity, br"])]),
        handler("identity").expect([same_bytes(), no_field("content-encoding")]),
        handler("").expect([same_bytes(), no_field("content-encoding")]),
    ]);
}

/// Opting out is for all layers, not for the first that hears of it.
#[test]
fn e11_an_opt_out_holds_for_every_layer() {
    let nested = |reply: Reply| get("zstd, gzip").reply(reply).offering(&["gzip"]).inside(&["zstd", "gzip"]);
    all_hold([
        nested(html(5000).field("content-encoding", "identity"))
            .expect([same_bytes(), no_field("content-encoding")]),
        nested(html(5000).wish(tower_compress::Compress::off()))
            .expect([same_bytes(), no_field("content-encoding")]),
        nested(html(200_000).wish(tower_compress::Compress::off())).expect([
            same_bytes(),
            no_field("content-encoding"),
            does_not_vary(),
        ]),
    ]);
}

#[test]
fn e12_no_transform_is_found_in_lists_and_nowhere_else() {
    let said = |value: &str| get("gzip").reply(html(5000).field("cache-control", value));
    all_hold([
        said("no-transform").expect([identity()]),
        said("private, No-Transform").expect([identity()]),
        get("gzip")
            .reply(html(5000).field("cache-control", "private").field("cache-control", "no-transform"))
            .expect([identity()]),
        said("no-cache=\"no-transform\"").expect([coded("gzip")]),
        said("x-no-transform").expect([coded("gzip")]),
        said("foo-no-transform, no-transform-bar").expect([coded("gzip")]),
        get("gzip").request_field("cache-control", "no-transform").expect([identity()]),
        said("no-transform")
            .request_field("cache-control", "no-transform")
            .ours(|layer, app| stack(layer.honour_no_transform(false), app))
            .expect([coded("gzip")]),
    ]);
}

/// A dependable switch for pages that hold a secret: by extension, by `no-transform`, and by a predicate.
#[test]
fn i07_a_response_with_a_secret_is_not_compressed() {
    let secret = || html(5000).field("set-cookie", "session=1");
    let predicate = |case: Case| {
        case.ours(|layer, app| {
            let no_cookie =
                |_, _, headers: &http::HeaderMap, _: &http::Extensions| !headers.contains_key("set-cookie");
            stack(layer.compress_when(DefaultPredicate::new().and(no_cookie)), app)
        })
    };
    all_hold([
        get("gzip")
            .reply(secret().wish(tower_compress::Compress::off()))
            .expect([identity(), does_not_vary()]),
        get("gzip").reply(secret().field("cache-control", "no-transform")).expect([identity()]),
        predicate(get("gzip").reply(secret())).expect([identity(), no_field("content-encoding")]),
        predicate(get("gzip").reply(html(5000))).expect([coded("gzip")]),
    ]);
}
