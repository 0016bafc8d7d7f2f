//! When a response is not transformed.

use crate::conformance::Source::{Interop, Must, Policy, Should};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{
    coded, handler_saw, head_as_the_handlers, identity, no_field, same_bytes, status, that,
};
use crate::conformance::layers::stack;
use crate::conformance::reply::{Kind, Reply};
use crate::conformance::{Item, item};
use crate::support::corpus::{json, noise};
use http::Method;

group! {
    item_045_no_transform_of_the_response,
    item_045a_no_transform_is_a_whole_token,
    item_045b_no_transform_can_be_ignored,
    item_046_no_transform_of_the_request,
    item_047_a_range,
    item_047a_several_ranges,
    item_049_no_range_satisfiable,
    item_050_a_range_that_was_ignored,
    item_051_a_resumed_download,
    item_051a_if_range_with_a_marked_tag,
    item_059_coded_already,
    item_059a_identity_is_an_opt_out,
    item_060_types,
    item_060a_types_in_any_case,
    item_061_grpc,
    item_061a_grpc_web,
}

fn item_045_no_transform_of_the_response() -> Item {
    let case =
        |value: &str| get("gzip").field("cache-control", value).expect([identity(), head_as_the_handlers()]);
    item("45", Must, "7.7, RFC 9111 5.2.2.6", "response no-transform: not coded").cases([
        case("no-transform"),
        case("private, No-Transform"),
        case("private").field("cache-control", "max-age=1, no-transform"),
    ])
}

fn item_045a_no_transform_is_a_whole_token() -> Item {
    let case = |value: &str| get("gzip").field("cache-control", value).expect([coded("gzip")]);
    item("45a", Interop, "RFC 9111 5.2", "no-transform inside another word or a string is none").cases([
        case("x-no-transform"),
        case("no-cache=\"no-transform\""),
        case("no-cache=\"a, no-transform\""),
    ])
}

fn item_045b_no_transform_can_be_ignored() -> Item {
    item("45b", Policy, "RFC 9111 5.2.2.6", "an origin can ignore no-transform").cases([get("gzip")
        .field("cache-control", "no-transform")
        .only_ours()
        .ours(|layer, app| stack(layer.honour_no_transform(false), app))
        .expect([coded("gzip")])])
}

fn item_046_no_transform_of_the_request() -> Item {
    item("46", Should, "RFC 9111 5.2.1.6", "request no-transform: not coded")
        .cases([get("gzip").request_field("cache-control", "max-age=0, no-transform").expect([identity()])])
}

fn part() -> Reply {
    Reply::text(json(1024)).field("content-range", "bytes 0-1023/5000").field("etag", "\"x\"")
}

fn item_047_a_range() -> Item {
    item("47", Must, "15.3.7, 14.4", "206: as it was, Content-Range and Accept-Ranges too").cases([
        get("gzip")
            .request_field("range", "bytes=0-1023")
            .reply(part().status(206).field("accept-ranges", "bytes").with_length())
            .expect([status(206), same_bytes(), head_as_the_handlers()]),
        get("gzip").reply(part().with_length()).expect([same_bytes(), head_as_the_handlers()]),
    ])
}

fn item_047a_several_ranges() -> Item {
    item("47a", Must, "15.3.7.2", "206 with several parts, which have Content-Range inside: as it was").cases(
        [get("gzip")
            .reply(Reply::text(json(5000)).status(206).content_type("multipart/byteranges; boundary=x"))
            .expect([status(206), same_bytes(), head_as_the_handlers()])],
    )
}

fn item_049_no_range_satisfiable() -> Item {
    item("49", Must, "15.5.17, 14.4", "416: as it was").cases([get("gzip")
        .request_field("range", "bytes=9000-")
        .reply(Reply::text(json(2048)).status(416).field("content-range", "bytes */5000").with_length())
        .expect([status(416), same_bytes(), head_as_the_handlers()])])
}

fn item_050_a_range_that_was_ignored() -> Item {
    item("50", Interop, "14.2", "a Range answered with 200 is coded, without Accept-Ranges").cases([get(
        "gzip",
    )
    .request_field("range", "bytes=0-1023")
    .field("accept-ranges", "bytes")
    .expect([status(200), coded("gzip"), no_field("accept-ranges")])])
}

/// A client that has the first 100 bytes asks for the rest.
fn resumed() -> Case {
    get("gzip")
        .reply(Reply::text(json(200_000)).field("etag", "\"x\"").kind(Kind::Resource))
        .then(Method::GET)
        .request_field("range", "bytes=100-")
}

fn item_051_a_resumed_download() -> Item {
    item("51", Must, "13.1.5", "Range and If-Range with the received tag: nothing is spliced").cases([
        resumed().received("if-range", "etag").expect([that(
            "the whole, or bytes that continue what came",
            |answer| {
                let before = answer.before.as_ref().expect("an answer before").bytes();
                match answer.status.as_u16() {
                    200 => true,
                    206 => answer.bytes() == before[100..],
                    _ => false,
                }
            },
        )]),
    ])
}

fn item_051a_if_range_with_a_marked_tag() -> Item {
    item("51a", Must, "13.1.5", "a marked tag in If-Range: Range and If-Range both go").cases([
        resumed().request_field("if-range", "\"x~gzip\"").only_ours().expect([
            status(200),
            handler_saw("range", &[]),
            handler_saw("if-range", &[]),
            coded("gzip"),
        ]),
        resumed()
            .request_field("if-range", "\"x\"")
            .only_ours()
            .expect([status(206), handler_saw("range", &["bytes=100-"])]),
    ])
}

fn item_059_coded_already() -> Item {
    let case = |coding: &str| {
        get("gzip")
            .reply(Reply::text(noise(5000)).field("content-encoding", coding))
            .expect([same_bytes(), head_as_the_handlers()])
    };
    item("59", Must, "8.4", "coded already: not again, Content-Encoding stays").cases([
        case("br"),
        case("gzip"),
        case("GZIP"),
        case("zstd, gzip"),
        case("aws-chunked"),
        case("zstd").field("content-encoding", "gzip"),
    ])
}

fn item_059a_identity_is_an_opt_out() -> Item {
    let case = |coding: &str| {
        get("gzip").field("content-encoding", coding).expect([same_bytes(), no_field("content-encoding")])
    };
    item("59a", Should, "8.4", "identity or nothing in Content-Encoding: not coded, field gone").cases([
        case("identity"),
        case(""),
        case("Identity"),
    ])
}

fn item_060_types() -> Item {
    let plain = |content_type: &str| get("gzip").content_type(content_type).expect([identity()]);
    let code = |content_type: &str| get("gzip").content_type(content_type).expect([coded("gzip")]);
    item("60", Policy, "8.3.1", "compressed types are not coded, all others are").cases([
        plain("image/jpeg"),
        plain("video/mp4"),
        plain("audio/mpeg"),
        plain("application/zip"),
        plain("application/gzip"),
        plain("application/x-gzip"),
        plain("application/zstd"),
        plain("font/woff2"),
        code("text/html; charset=utf-8"),
        code("image/svg+xml"),
        code("image/bmp"),
        code("application/vnd.api+json"),
        code("application/wasm"),
        code("text/event-streamx"),
        get("gzip")
            .reply(Reply::text(json(5000)).no_content_type())
            .expect([coded("gzip"), no_field("content-type")]),
    ])
}

fn item_060a_types_in_any_case() -> Item {
    item("60a", Must, "8.3.1", "media types in any case, whatever their parameters").cases([
        get("gzip").content_type("IMAGE/PNG").expect([identity()]),
        get("gzip").content_type("Application/gRPC").expect([identity()]),
        get("gzip").content_type("IMAGE/SVG+XML; charset=utf-8").expect([coded("gzip")]),
    ])
}

fn item_061_grpc() -> Item {
    let case = |content_type: &str| get("gzip").min_size(0).content_type(content_type).expect([identity()]);
    item("61", Interop, "gRPC over HTTP/2", "application/grpc: never coded").cases([
        case("application/grpc"),
        case("application/grpc+proto"),
        case("application/grpc;charset=x"),
    ])
}

fn item_061a_grpc_web() -> Item {
    let case = |content_type: &str| get("gzip").content_type(content_type).expect([coded("gzip")]);
    item("61a", Policy, "gRPC-Web", "application/grpc-web, and what only begins alike, is coded").cases([
        case("application/grpc-web"),
        case("application/grpc-web+proto"),
        case("application/grpc-web-text"),
        case("application/grpcx"),
    ])
}
