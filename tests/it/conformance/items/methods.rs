//! Methods, statuses and versions that leave no room for a coding, or little.

use crate::conformance::Source::{Interop, Must, Should};
use crate::conformance::case::{Case, get};
use crate::conformance::check::{Check, decodes, field, no_body, no_field, same_as_before, status, that};
use crate::conformance::exchange::{PING, Protocol};
use crate::conformance::reply::{Kind, Reply, Step};
use crate::conformance::{Item, item};
use crate::support::corpus::json;
use bytes::Bytes;
use http::Method;

group! {
    item_052_head_has_no_body_and_no_false_length,
    item_053_head_says_what_get_says,
    item_055_no_content,
    item_057_a_tunnel,
    item_058_an_upgrade,
    item_058a_tunnels_do_not_vary,
    item_062_http_1_0_gets_no_transfer_encoding,
    item_062a_http_1_0_is_coded_with_a_length_only,
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
    item("52", Must, "9.3.2, 8.6", "HEAD: no body; no Content-Length but GET's")
        .cases(head_cases().map(|case| case.expect([status(200), no_body(), length()])))
}

fn item_053_head_says_what_get_says() -> Item {
    item("53", Should, "9.3.2", "HEAD: Content-Encoding, Vary and ETag as GET")
        .cases(head_cases().map(|case| case.expect([same_as_before(&["content-encoding", "vary", "etag"])])))
}

fn item_055_no_content() -> Item {
    let case = |reply: Reply| {
        get("gzip")
            .min_size(0)
            .reply(reply.no_content_type())
            .expect([no_field("content-encoding"), no_body()])
    };
    let no_length = || [no_field("content-length"), no_field("transfer-encoding")];
    item("55", Must, "8.6, 15.3.5, 15.3.6, 15.4.5", "204, 205, 304: no coding, no body, no length").cases([
        case(Reply::empty().status(204)).expect(no_length()),
        // hyper's HTTP/2 sends what a handler should not have given; that is not the layer's business.
        case(Reply::text("wrong").status(204)).over(&[Protocol::H11]).expect(no_length()),
        case(Reply::empty().status(304).field("etag", "W/\"x\"")).expect(no_length()),
        case(Reply::empty().status(205)).expect([no_field("transfer-encoding")]),
    ])
}

fn tunnelled() -> [Check; 2] {
    [no_field("content-encoding"), that("an open tunnel", |answer| answer.echo == PING)]
}

fn connect() -> Case {
    let reply = Reply::empty().no_content_type().kind(Kind::Tunnel);
    get("gzip").min_size(0).method(Method::CONNECT).reply(reply)
}

fn item_057_a_tunnel() -> Item {
    item("57", Must, "9.3.6", "2xx to CONNECT: a raw tunnel")
        .cases([connect().expect([status(200)]).expect(tunnelled())])
}

fn upgrade() -> Case {
    let reply = Reply::empty().no_content_type().status(101).kind(Kind::Tunnel);
    get("gzip, deflate, br, zstd")
        .min_size(0)
        .over(&[Protocol::H11])
        .request_field("connection", "keep-alive, Upgrade")
        .request_field("upgrade", "websocket")
        .reply(reply.field("connection", "Upgrade").field("upgrade", "websocket"))
}

fn item_058_an_upgrade() -> Item {
    item("58", Must, "7.8, 15.2.2", "101: no coding, and the upgrade goes on").cases([upgrade()
        .expect([status(101), field("upgrade", &["websocket"]), field("connection", &["Upgrade"])])
        .expect(tunnelled())])
}

fn item_058a_tunnels_do_not_vary() -> Item {
    item("58a", Interop, "12.5.5", "a tunnel's or an upgrade's head does not vary")
        .cases([connect().expect([no_field("vary")]), upgrade().expect([no_field("vary")])])
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
    item("62", Must, "RFC 9112 6.1", "HTTP/1.0: a whole body, no Transfer-Encoding")
        .cases(http_1_0_cases().map(|case| case.expect([no_field("transfer-encoding"), decodes()])))
}

fn item_062a_http_1_0_is_coded_with_a_length_only() -> Item {
    item("62a", Interop, "RFC 9112 6.1", "HTTP/1.0: coded only if its length is known").cases(
        http_1_0_cases().map(|case| {
            case.expect([that("no coding, or a length", |answer| {
                answer.coding() == "identity" || !answer.lines("content-length").is_empty()
            })])
        }),
    )
}
