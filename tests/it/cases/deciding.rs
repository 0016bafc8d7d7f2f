//! F: what to compress.

use crate::conformance::all_hold;
use crate::conformance::case::get;
use crate::conformance::check::{coded, identity, no_field};
use crate::conformance::layers::stack;
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::json;
use bytes::Bytes;
use tower_compress::predicate::{NotForContentType, Predicate as _, SizeAbove};

#[test]
fn f01_grpc_is_never_coded_and_grpc_web_is() {
    let of = |content_type: &str| get("gzip").min_size(0).content_type(content_type);
    let messages =
        || Reply::of([Step::Data(json(300).into()), Step::Until(300), Step::Data(json(300).into())]);
    for content_type in ["application/grpc", "application/grpc+proto", "application/grpc;charset=x"] {
        all_hold([
            of(content_type).expect([identity()]),
            // Not even where the user's predicate would have it: no client could read it.
            of(content_type)
                .ours(|layer, app| stack(layer.compress_when(SizeAbove::new(0)), app))
                .expect([identity()]),
            of("").reply(messages().content_type(content_type)).expect([identity()]),
        ]);
    }
    for content_type in [
        "application/grpc-web",
        "application/grpc-web+proto",
        "application/grpc-web-text",
        "application/grpcx",
    ] {
        all_hold([
            of(content_type).expect([coded("gzip")]),
            of("").reply(messages().content_type(content_type)).expect([coded("gzip")]),
        ]);
    }
}

#[test]
fn f02_types_are_compared_as_types() {
    let of = |content_type: &str| get("gzip").content_type(content_type);
    all_hold(
        [
            "image/svg+xml",
            "IMAGE/SVG+XML; charset=utf-8",
            "image/bmp",
            "application/vnd.api+json",
            "application/wasm",
            "text/event-streamx",
            "text/event-stream ; x=1",
            "TEXT/EVENT-STREAM",
            "not a type",
            "",
        ]
        .map(|content_type| of(content_type).expect([coded("gzip")])),
    );
    all_hold(
        [
            "image/png",
            "application/zip",
            "application/gzip",
            "application/x-gzip",
            "application/zstd",
            "font/woff2",
            "video/mp4",
            "Video/MP4;codecs=x",
        ]
        .map(|content_type| of(content_type).expect([identity()])),
    );
}

#[test]
fn f02_no_type_is_invented_and_a_file_name_decides_nothing() {
    let archive = Reply::text(Bytes::from(json(5000))).content_type("application/octet-stream");
    all_hold([
        get("gzip")
            .reply(Reply::text(json(5000)).no_content_type())
            .expect([coded("gzip"), no_field("content-type")]),
        get("gzip")
            .reply(archive.field("content-disposition", "attachment; filename=a.tar.gz"))
            .expect([coded("gzip")]),
    ]);
}

/// The rule for one type holds for that type, not for those whose names begin alike.
#[test]
fn f02_a_rule_against_event_streams_is_exact() {
    let without = |content_type: &str| {
        get("gzip")
            .content_type(content_type)
            .ours(|layer, app| stack(layer.compress_when(SizeAbove::new(0).and(NotForContentType::SSE)), app))
    };
    all_hold([
        without("text/event-stream").expect([identity()]),
        without("text/event-stream ; x=1").expect([identity()]),
        without("TEXT/EVENT-STREAM").expect([identity()]),
        without("text/event-streamx").expect([coded("gzip")]),
    ]);
}
