//! When a response is not transformed.

use crate::conformance::Source::{Interop, Must, Policy, Should};
use crate::conformance::app::{Kind, Reply, Step};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{
    Check, coded, decodes, exact_length, field, frames, handler_saw, head_as_the_handlers, identity, no_body,
    no_field, same_as_before, same_bytes, status, that, trailers,
};
use crate::conformance::exchange::{PING, Protocol};
use crate::conformance::layers::stack;
use crate::conformance::{Item, item};
use crate::support::corpus::{json, noise};
use bytes::Bytes;
use http::Method;

group! {
    item_045_no_transform_of_the_response,
    item_045a_no_transform_is_a_whole_token,
    item_045b_no_transform_can_be_ignored,
    item_046_no_transform_of_the_request,
    item_047_a_range,
    item_049_no_range_satisfiable,
    item_050_a_range_that_was_ignored,
    item_051_a_resumed_download,
    item_051a_if_range_with_a_marked_tag,
    item_052_head_has_no_body_and_no_false_length,
    item_053_head_says_what_get_says,
    item_055_no_content,
    item_057_a_tunnel,
    item_058_an_upgrade,
    item_059_coded_already,
    item_059a_identity_is_an_opt_out,
    item_060_types,
    item_061_grpc,
    item_061a_grpc_web,
    item_062_http_1_0_gets_no_transfer_encoding,
    item_062a_http_1_0_is_coded_with_a_length_only,
    item_063_a_length_below_the_minimum,
    item_064_an_unknown_length_below_the_minimum,
    item_065_one_byte_first,
    item_066_the_minimum_whatever_the_chunks,
    item_067_a_size_without_a_length,
    item_068_an_empty_body,
    item_069_trailers_only,
    item_070_larger_than_the_original,
}

fn item_045_no_transform_of_the_response() -> Item {
    let case =
        |value: &str| get("gzip").field("cache-control", value).expect([identity(), head_as_the_handlers()]);
    item(
        "45",
        Must,
        "7.7, RFC 9111 5.2.2.6",
        "response no-transform: not coded",
        [
            case("no-transform"),
            case("private, No-Transform"),
            case("private").field("cache-control", "max-age=1, no-transform"),
        ],
    )
}

fn item_045a_no_transform_is_a_whole_token() -> Item {
    let case = |value: &str| get("gzip").field("cache-control", value).expect([coded("gzip")]);
    item(
        "45a",
        Interop,
        "RFC 9111 5.2",
        "no-transform inside another word or a string is none",
        [case("x-no-transform"), case("no-cache=\"no-transform\""), case("no-cache=\"a, no-transform\"")],
    )
}

fn item_045b_no_transform_can_be_ignored() -> Item {
    item(
        "45b",
        Policy,
        "RFC 9111 5.2.2.6",
        "an origin can ignore no-transform",
        [get("gzip")
            .field("cache-control", "no-transform")
            .only_ours()
            .ours(|layer, app| stack(layer.honour_no_transform(false), app))
            .expect([coded("gzip")])],
    )
}

fn item_046_no_transform_of_the_request() -> Item {
    item(
        "46",
        Should,
        "RFC 9111 5.2.1.6",
        "request no-transform: not coded",
        [get("gzip").request_field("cache-control", "max-age=0, no-transform").expect([identity()])],
    )
}

fn part() -> Reply {
    Reply::text(json(1024)).field("content-range", "bytes 0-1023/5000").field("etag", "\"x\"")
}

fn item_047_a_range() -> Item {
    item(
        "47",
        Must,
        "15.3.7, 14.4",
        "206: as it was, Content-Range and Accept-Ranges too",
        [
            get("gzip")
                .request_field("range", "bytes=0-1023")
                .reply(part().status(206).field("accept-ranges", "bytes").with_length())
                .expect([status(206), same_bytes(), head_as_the_handlers()]),
            get("gzip")
                .reply(Reply::text(json(5000)).status(206).content_type("multipart/byteranges; boundary=x"))
                .expect([status(206), same_bytes(), head_as_the_handlers()]),
            get("gzip").reply(part().with_length()).expect([same_bytes(), head_as_the_handlers()]),
        ],
    )
}

fn item_049_no_range_satisfiable() -> Item {
    item(
        "49",
        Must,
        "15.5.17, 14.4",
        "416: as it was",
        [get("gzip")
            .request_field("range", "bytes=9000-")
            .reply(Reply::text(json(2048)).status(416).field("content-range", "bytes */5000").with_length())
            .expect([status(416), same_bytes(), head_as_the_handlers()])],
    )
}

fn item_050_a_range_that_was_ignored() -> Item {
    item(
        "50",
        Interop,
        "14.2",
        "a Range answered with 200 is coded, without Accept-Ranges",
        [get("gzip").request_field("range", "bytes=0-1023").field("accept-ranges", "bytes").expect([
            status(200),
            coded("gzip"),
            no_field("accept-ranges"),
        ])],
    )
}

/// A client that has the first 100 bytes asks for the rest.
fn resumed() -> Case {
    get("gzip")
        .reply(Reply::text(json(200_000)).field("etag", "\"x\"").kind(Kind::Resource))
        .then(Method::GET)
        .request_field("range", "bytes=100-")
}

fn item_051_a_resumed_download() -> Item {
    item(
        "51",
        Must,
        "13.1.5",
        "Range and If-Range with the received tag: nothing is spliced",
        [resumed().received("if-range", "etag").expect([that(
            "the whole, or bytes that continue what came",
            |answer| {
                let before = answer.before.as_ref().expect("an answer before").bytes();
                match answer.status.as_u16() {
                    200 => true,
                    206 => answer.bytes() == before[100..],
                    _ => false,
                }
            },
        )])],
    )
}

fn item_051a_if_range_with_a_marked_tag() -> Item {
    item(
        "51a",
        Must,
        "13.1.5",
        "a marked tag in If-Range: Range and If-Range both go",
        [
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
        ],
    )
}

fn head_cases() -> [Case; 6] {
    let case = |reply: Reply| get("gzip").reply(reply.field("etag", "\"x\"")).then(Method::HEAD);
    let file = |reply: Reply| case(reply.with_length().kind(Kind::FileServer));
    [
        case(Reply::text(json(5000))),
        case(Reply::text(json(200_000))),
        case(Reply::text("short")),
        file(Reply::text(json(5000))),
        file(Reply::text(json(200_000))),
        file(Reply::text("short")),
    ]
}

fn item_052_head_has_no_body_and_no_false_length() -> Item {
    let length = || {
        that("no Content-Length, or that of GET's body", |answer| {
            let length = answer.before.as_ref().expect("an answer before").bytes().len();
            let lines = answer.lines("content-length");
            lines.is_empty() || lines == [length.to_string()]
        })
    };
    item(
        "52",
        Must,
        "9.3.2, 8.6",
        "HEAD: no body; no Content-Length but GET's",
        head_cases().map(|case| case.expect([status(200), no_body(), length()])),
    )
}

fn item_053_head_says_what_get_says() -> Item {
    item(
        "53",
        Should,
        "9.3.2",
        "HEAD: Content-Encoding, Vary and ETag as GET",
        head_cases().map(|case| case.expect([same_as_before(&["content-encoding", "vary", "etag"])])),
    )
}

fn item_055_no_content() -> Item {
    let case = |reply: Reply| {
        get("gzip")
            .min_size(0)
            .reply(reply.no_content_type())
            .expect([no_field("content-encoding"), no_body()])
    };
    let no_length = || [no_field("content-length"), no_field("transfer-encoding")];
    item(
        "55",
        Must,
        "8.6, 15.3.5, 15.3.6, 15.4.5",
        "204, 205, 304: no coding, no body, no length",
        [
            case(Reply::empty().status(204)).expect(no_length()),
            // hyper's HTTP/2 sends what a handler should not have given; that is not the layer's business.
            case(Reply::text("wrong").status(204)).over(&[Protocol::H11]).expect(no_length()),
            case(Reply::empty().status(304).field("etag", "W/\"x\"")).expect(no_length()),
            case(Reply::empty().status(205)).expect([no_field("transfer-encoding")]),
        ],
    )
}

fn tunnelled() -> [Check; 2] {
    [no_field("content-encoding"), that("an open tunnel", |answer| answer.echo == PING)]
}

fn item_057_a_tunnel() -> Item {
    item(
        "57",
        Must,
        "9.3.6",
        "2xx to CONNECT: a raw tunnel",
        [get("gzip")
            .min_size(0)
            .method(Method::CONNECT)
            .reply(Reply::empty().no_content_type().kind(Kind::Tunnel))
            .expect([status(200), no_field("vary")])
            .expect(tunnelled())],
    )
}

fn item_058_an_upgrade() -> Item {
    item(
        "58",
        Must,
        "7.8, 15.2.2",
        "101: the head as it was, the upgrade goes on",
        [get("gzip, deflate, br, zstd")
            .min_size(0)
            .over(&[Protocol::H11])
            .request_field("connection", "keep-alive, Upgrade")
            .request_field("upgrade", "websocket")
            .reply(
                Reply::empty()
                    .no_content_type()
                    .status(101)
                    .field("connection", "Upgrade")
                    .field("upgrade", "websocket")
                    .kind(Kind::Tunnel),
            )
            .expect([
                status(101),
                field("upgrade", &["websocket"]),
                field("connection", &["Upgrade"]),
                no_field("vary"),
            ])
            .expect(tunnelled())],
    )
}

fn item_059_coded_already() -> Item {
    let case = |coding: &str| {
        get("gzip")
            .reply(Reply::text(noise(5000)).field("content-encoding", coding))
            .expect([same_bytes(), head_as_the_handlers()])
    };
    item(
        "59",
        Must,
        "8.4",
        "coded already: not again, Content-Encoding stays",
        [
            case("br"),
            case("gzip"),
            case("GZIP"),
            case("zstd, gzip"),
            case("aws-chunked"),
            case("zstd").field("content-encoding", "gzip"),
        ],
    )
}

fn item_059a_identity_is_an_opt_out() -> Item {
    let case = |coding: &str| {
        get("gzip").field("content-encoding", coding).expect([same_bytes(), no_field("content-encoding")])
    };
    item(
        "59a",
        Should,
        "8.4",
        "identity or nothing in Content-Encoding: not coded, field gone",
        [case("identity"), case(""), case("Identity")],
    )
}

fn item_060_types() -> Item {
    let plain = |content_type: &str| get("gzip").content_type(content_type).expect([identity()]);
    let code = |content_type: &str| get("gzip").content_type(content_type).expect([coded("gzip")]);
    item(
        "60",
        Policy,
        "8.3.1",
        "compressed types are not coded, all others are",
        [
            plain("image/jpeg"),
            plain("IMAGE/PNG"),
            plain("video/mp4"),
            plain("audio/mpeg"),
            plain("application/zip"),
            plain("application/gzip"),
            plain("application/x-gzip"),
            plain("application/zstd"),
            plain("font/woff2"),
            code("text/html; charset=utf-8"),
            code("image/svg+xml"),
            code("IMAGE/SVG+XML; charset=utf-8"),
            code("image/bmp"),
            code("application/vnd.api+json"),
            code("application/wasm"),
            code("text/event-streamx"),
            get("gzip")
                .reply(Reply::text(json(5000)).no_content_type())
                .expect([coded("gzip"), no_field("content-type")]),
        ],
    )
}

fn item_061_grpc() -> Item {
    let case = |content_type: &str| get("gzip").min_size(0).content_type(content_type).expect([identity()]);
    item(
        "61",
        Interop,
        "gRPC over HTTP/2",
        "application/grpc: never coded",
        [
            case("application/grpc"),
            case("application/grpc+proto"),
            case("application/grpc;charset=x"),
            case("Application/gRPC"),
        ],
    )
}

fn item_061a_grpc_web() -> Item {
    let case = |content_type: &str| get("gzip").content_type(content_type).expect([coded("gzip")]);
    item(
        "61a",
        Policy,
        "gRPC-Web",
        "application/grpc-web, and what only begins alike, is coded",
        [
            case("application/grpc-web"),
            case("application/grpc-web+proto"),
            case("application/grpc-web-text"),
            case("application/grpcx"),
        ],
    )
}

fn http_1_0_cases() -> [Case; 5] {
    let case = |reply: Reply| get("gzip").over(&[Protocol::H10]).reply(reply);
    [
        case(Reply::text(json(10_000)).with_length()),
        case(Reply::text(json(10_000)).with_length()).request_field("connection", "keep-alive"),
        case(Reply::text(json(200_000)).with_length()),
        case(Reply::cut(&json(200_000), 1000)),
        case(Reply::of([Step::Data(Bytes::from(json(10_000))), Step::Trailers(vec![("x-a", "b")])])),
    ]
}

fn item_062_http_1_0_gets_no_transfer_encoding() -> Item {
    item(
        "62",
        Must,
        "RFC 9112 6.1",
        "HTTP/1.0: a whole body, no Transfer-Encoding",
        http_1_0_cases().map(|case| case.expect([no_field("transfer-encoding"), decodes()])),
    )
}

fn item_062a_http_1_0_is_coded_with_a_length_only() -> Item {
    item(
        "62a",
        Interop,
        "RFC 9112 6.1",
        "HTTP/1.0: coded only if its length is known",
        http_1_0_cases().map(|case| {
            case.expect([that("no coding, or a length", |answer| {
                answer.coding() == "identity" || !answer.lines("content-length").is_empty()
            })])
        }),
    )
}

fn item_063_a_length_below_the_minimum() -> Item {
    item(
        "63",
        Policy,
        "",
        "Content-Length below the minimum: not coded, kept",
        [get("gzip").reply(Reply::text(json(1023)).with_length()).expect([identity(), exact_length()])],
    )
}

fn item_064_an_unknown_length_below_the_minimum() -> Item {
    let case = |size| {
        get("gzip").reply(Reply::cut(&json(200), size)).expect([identity(), exact_length(), frames(1)])
    };
    item(
        "64",
        Interop,
        "",
        "unknown length below the minimum: not coded, exact length, one frame",
        [case(200), case(7), case(1)],
    )
}

fn item_065_one_byte_first() -> Item {
    let text = Bytes::from(json(1024 * 1024));
    let steps = [Step::Data(text.slice(..1)), Step::Data(text.slice(1..))];
    let pending = [Step::Data(text.slice(..1)), Step::Yield, Step::Data(text.slice(1..))];
    item(
        "65",
        Interop,
        "",
        "one byte first, then a megabyte: coded",
        [
            get("gzip").reply(Reply::of(steps)).expect([coded("gzip")]),
            get("gzip").reply(Reply::of(pending)).expect([coded("gzip")]),
        ],
    )
}

fn item_066_the_minimum_whatever_the_chunks() -> Item {
    let case = |size: usize, cut: usize| {
        let case = get("gzip").reply(Reply::cut(&json(size), cut));
        if size < 1024 { case.expect([identity()]) } else { case.expect([coded("gzip")]) }
    };
    item(
        "66",
        Policy,
        "",
        "the minimum holds whatever the chunks",
        [
            case(1023, 1023),
            case(1023, 600),
            case(1023, 10),
            case(1024, 1024),
            case(1024, 600),
            case(1024, 10),
            case(1025, 1025),
            case(1025, 600),
            case(1025, 10),
        ],
    )
}

fn item_067_a_size_without_a_length() -> Item {
    item(
        "67",
        Interop,
        "",
        "a size that the body tells counts as Content-Length does",
        [
            get("gzip").reply(Reply::text(json(1023))).expect([identity()]),
            get("gzip").reply(Reply::text(json(1024))).expect([coded("gzip")]),
        ],
    )
}

fn item_068_an_empty_body() -> Item {
    let case = |reply: Reply| get("gzip").min_size(0).reply(reply).expect([decodes()]);
    let plain = || [identity(), no_body()];
    item(
        "68",
        Interop,
        "RFC 1952 2.2",
        "an empty body stays empty: no 20 bytes of gzip",
        [
            case(Reply::empty()).expect(plain()),
            case(Reply::empty().status(404)).expect([identity()]),
            case(Reply::text("")).expect(plain()),
            case(Reply::of([])).expect(plain()),
            case(Reply::of([Step::Empty, Step::Empty])).expect(plain()),
            // The head is gone before it is known that nothing comes: then a valid empty stream.
            case(Reply::of([Step::Yield])),
            case(Reply::of([Step::Empty, Step::Yield, Step::Empty])),
        ],
    )
}

fn item_069_trailers_only() -> Item {
    item(
        "69",
        Interop,
        "6.5",
        "trailers without data: untouched",
        [get("gzip")
            .min_size(0)
            .over(&[Protocol::H2])
            .reply(Reply::of([Step::Trailers(vec![("grpc-status", "13")])]))
            .expect([identity(), no_body(), trailers(&[("grpc-status", "13")])])],
    )
}

fn item_070_larger_than_the_original() -> Item {
    item(
        "70",
        Policy,
        "",
        "what does not get smaller goes out as it was",
        [
            get("gzip").reply(Reply::text(noise(20_000))).expect([identity(), exact_length()]),
            get("zstd").reply(Reply::cut(&noise(20_000), 999)).expect([identity(), exact_length()]),
        ],
    )
}
