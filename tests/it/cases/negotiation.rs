//! D: Accept-Encoding.

use crate::conformance::all_hold;
use crate::conformance::case::{get, plain_get};
use crate::conformance::check::{
    coded, does_not_vary, handler_not_called, identity, same_bytes, status, varies,
};
use crate::conformance::layers::stack;
use crate::conformance::reply::Reply;
use crate::support::corpus::json;
use crate::support::serve::{answer, coding, text};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use tower::{Layer, ServiceExt};
use tower_compress::{CompressionLayer, WriterOptions};

#[test]
fn d01_refusals_tokens_case_and_aliases() {
    let table: &[(&[u8], &str)] = &[
        (b"gzip;q=0", "identity"),
        (b"gzip;q=0, *", "zstd"),
        (b"supergzip, gzipx", "identity"),
        (b"x-gzip", "gzip"),
        (b"GZIP", "gzip"),
        (b"gzip ; q=0.5 , zstd;q=0.4", "gzip"),
        (b"gzip, identity", "gzip"),
        (b"identity, gzip;q=0.5", "identity"),
        (b"gzip;q=0.001", "gzip"),
        (b"gzip;q=1.5", "identity"),
        (b"gzip;q=abc", "identity"),
        (b"gzip;q=", "identity"),
        (b"gzip;q=NaN", "identity"),
        (b"gzip;q=-1", "identity"),
        (b",, ,gzip,", "gzip"),
        // An unreadable or contradictory preference is no consent.
        (b"gzip;q=0, gzip;q=1", "identity"),
        (b"gzip, gzip;q=0", "identity"),
        (b"gzip, \xe9", "identity"),
        (b"\x80gzip", "identity"),
        (b"\"gzip\"", "identity"),
        (b"gzip zstd", "identity"),
    ];
    all_hold(table.iter().map(|(accept, coding)| {
        let case = get(accept).reply(Reply::text(json(5000)));
        if *coding == "identity" { case.expect([identity()]) } else { case.expect([coded(coding)]) }
    }));
}

#[test]
fn d02_an_absent_or_empty_field_means_identity() {
    all_hold([
        plain_get().expect([identity(), varies()]),
        get("").expect([identity(), varies()]),
        get("identity").expect([identity(), varies()]),
        plain_get().content_type("image/png").expect([identity(), does_not_vary()]),
    ]);
}

#[test]
fn d02_a_star_selects_what_everyone_can_read() {
    let offered = &["zstd", "br", "gzip", "deflate", "snappy", "x-snappy-framed"];
    all_hold([
        get("*").offering(offered).expect([coded("gzip")]),
        get("*;q=0.5").offering(offered).expect([coded("gzip")]),
        get("*").offering(&["snappy", "x-snappy-framed"]).expect([identity()]),
    ]);
}

#[tokio::test]
async fn d02_a_star_does_not_override_the_users_order() {
    let layer = CompressionLayer::new().prefer(&["deflate"]);
    for (accept, expected) in [("*", "deflate"), ("*;q=0.5", "deflate"), ("deflate;q=0, *", "zstd")] {
        let response = answer(&layer, accept, text(Full::<Bytes>::from(json(5000)))).await;
        assert_eq!(coding(&response), expected, "{accept}");
    }
}

#[tokio::test]
async fn d02_an_event_stream_gets_gzip_among_equals() {
    let (plain, ordered) = (CompressionLayer::new(), CompressionLayer::new().prefer(&["zstd"]));
    let cases = [
        (&plain, "gzip, deflate, br, zstd", "text/event-stream", "gzip"),
        (&plain, "gzip, deflate, br, zstd", "Text/Event-Stream; charset=utf-8", "gzip"),
        (&plain, "gzip, deflate, br, zstd", "text/plain", "zstd"),
        (&plain, "gzip;q=0.9, zstd", "text/event-stream", "zstd"),
        (&plain, "br, zstd", "text/event-stream", "zstd"),
        (&plain, "deflate, zstd", "text/event-stream", "zstd"),
        (&ordered, "gzip, deflate, br, zstd", "text/event-stream", "zstd"),
    ];
    for (layer, accept, media_type, expected) in cases {
        let mut response = text(Full::<Bytes>::from(json(5000)));
        response.headers_mut().insert("content-type", media_type.parse().unwrap());
        assert_eq!(coding(&answer(layer, accept, response).await), expected, "{accept} {media_type}");

        // What its writer codes, with no layer around, is coded the same.
        let mut request = Request::get("/").header("accept-encoding", accept).body(()).unwrap();
        let negotiation = layer.negotiate(&mut request).unwrap();
        let head = Response::builder().header("content-type", media_type).body(()).unwrap();
        let (_writer, response) = negotiation.writer(head, &WriterOptions::new());
        assert_eq!(coding(&response), expected, "{accept} {media_type}");
    }
}

#[test]
fn d03_wildcards_and_refusals_of_identity() {
    all_hold([
        get("*;q=0, gzip").expect([coded("gzip")]),
        get("identity;q=1, *;q=0").expect([identity()]),
        get("identity;q=0, gzip").expect([coded("gzip")]),
        get("identity;q=0, gzip").reply(Reply::text("ten bytes.")).expect([coded("gzip")]),
        // A type that is compressed already stays as it is: documented in the README.
        get("identity;q=0, gzip").content_type("image/png").expect([status(200), identity()]),
    ]);
}

#[test]
fn d03_an_answer_is_never_turned_into_406() {
    let cases = |accept: &str| {
        [
            get(accept).expect([status(200), identity()]),
            get(accept)
                .reply(Reply::text(vec![7; 2000]).field("content-encoding", "br"))
                .expect([status(200), same_bytes()]),
            get(accept).status(500).expect([status(500), identity()]),
            get(accept).reply(Reply::empty().status(204)).expect([status(204)]),
            get(accept).method(Method::POST).status(201).expect([status(201), identity()]),
        ]
    };
    for accept in ["*;q=0", "identity;q=0", "br, identity;q=0"] {
        all_hold(cases(accept));
    }
}

#[test]
fn d03_strict_mode_answers_before_the_handler_runs() {
    let strict = |accept: &str| get(accept).ours(|layer, app| stack(layer.strict(true), app));
    for refused in ["*;q=0", "identity;q=0", "br, identity;q=0", "gzip;q=0, zstd;q=0, identity;q=0"] {
        all_hold([
            strict(refused).expect([status(406), varies(), handler_not_called()]),
            strict(refused).method(Method::POST).expect([status(406), handler_not_called()]),
            strict(refused).method(Method::HEAD).expect([status(406), handler_not_called()]),
        ]);
    }
    all_hold([
        strict("gzip, identity;q=0").expect([status(200), coded("gzip")]),
        strict("").expect([status(200), identity()]),
        strict("br").expect([status(200), identity()]),
    ]);
}

/// Without a router around it that would take the body off, HEAD gets a 406 that HTTP/2 can send.
#[tokio::test]
async fn d03_strict_mode_gives_head_no_body() {
    let service =
        tower::service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new(String::new())) });
    let service = CompressionLayer::new().strict(true).layer(service);
    let ask = |method: Method| {
        let request =
            Request::builder().method(method).header("accept-encoding", "identity;q=0").body(()).unwrap();
        service.clone().oneshot(request)
    };
    let (get, head) = (ask(Method::GET).await.unwrap(), ask(Method::HEAD).await.unwrap());
    assert_eq!((get.status(), head.status()), (StatusCode::NOT_ACCEPTABLE, StatusCode::NOT_ACCEPTABLE));
    assert_eq!(get.headers(), head.headers());
    let text = get.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(text, "available content codings: zstd, gzip, deflate, identity\n");
    assert!(head.body().is_end_stream() && head.into_body().collect().await.unwrap().to_bytes().is_empty());
}
