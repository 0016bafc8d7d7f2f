//! What a layer does for a request and for a response's head. The codec does nothing, and the body is tiny.

use super::cpu::Cpu;
use super::nothing::Nothing;
use bytes::Bytes;
use criterion::{BatchSize, Criterion};
use http::header::{ACCEPT_ENCODING, HeaderName, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, service_fn};
use tower_compress::{CompressionLayer, EncoderPool};

/// What browsers send, and what is harder to read.
const ACCEPTED: [&str; 4] =
    ["gzip, deflate, br, zstd", "gzip", "gzip;q=0.5, zstd;q=0.8, *;q=0", "br;q=1.0, gzip;q=0.8, *;q=0.1"];

/// The layer's call: it reads the request, and the service is made of nothing.
pub(crate) fn negotiation(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("negotiation");
    let never =
        service_fn(|_: Request<()>| std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>());
    let mut service = CompressionLayer::new().layer(never);
    for accepted in ACCEPTED {
        group.bench_function(accepted, |bench| {
            bench.iter_batched(
                || browser(accepted),
                |request| black_box(service.call(request)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// A response from the service to its head and its coded body.
pub(crate) fn rewriting(criterion: &mut Criterion<Cpu>) {
    let mut group = criterion.benchmark_group("rewriting");
    let few = &[("content-type", "application/json")][..];
    let many = &[
        ("content-type", "text/html; charset=utf-8"),
        ("accept-ranges", "bytes"),
        ("cache-control", "public, max-age=60"),
        ("date", "Sat, 29 Oct 1994 19:43:31 GMT"),
        ("etag", "\"abcdef\""),
        ("last-modified", "Sat, 29 Oct 1994 19:43:31 GMT"),
        ("set-cookie", "session=1"),
        ("vary", "origin"),
        ("x-content-type-options", "nosniff"),
        ("x-request-id", "4711"),
    ][..];
    for (name, fields) in [("few fields", few), ("many fields", many)] {
        let layer = CompressionLayer::new().codec(&Nothing).min_size(0).pool(EncoderPool::new());
        let answer = move |_: Request<()>| std::future::ready(Ok::<_, Infallible>(response(fields)));
        let mut service = layer.layer(service_fn(answer));
        group.bench_function(name, |bench| {
            bench.iter_batched(
                || browser("x-nothing"),
                |request| {
                    let mut response = pin!(service.call(request));
                    match response.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                        Poll::Ready(response) => response,
                        Poll::Pending => panic!("the service is always ready"),
                    }
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn response(fields: &'static [(&'static str, &'static str)]) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"a body that is all there")));
    let fields =
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    response.headers_mut().extend(fields);
    response
}

/// A request as a browser sends it.
fn browser(accepted: &'static str) -> Request<()> {
    let mut request = Request::new(());
    let fields = [
        ("host", "example.org"),
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"),
        ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        ("accept-language", "en-US,en;q=0.5"),
        ("connection", "keep-alive"),
        ("cookie", "session=1"),
        ("sec-fetch-dest", "document"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-site", "none"),
        ("upgrade-insecure-requests", "1"),
    ];
    for (name, value) in fields {
        request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(accepted));
    request
}
