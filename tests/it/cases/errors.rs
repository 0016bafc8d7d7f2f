//! L: errors, aborts, and pages that speak of them.

use crate::conformance::all_hold;
use crate::conformance::case::get;
use crate::conformance::check::{coded, decodes, fails, identity, that, varies};
use crate::conformance::reply::{Reply, Step};
use crate::support::corpus::json;
use crate::support::failing::FAILING;
use crate::support::serve::{answer, receive, text};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::codec::CODECS;
use tower_compress::{BoxError, CompressionLayer, EncoderPool};

const STREAMING: [&str; 4] = ["gzip", "zstd", "deflate", "br"];

fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy_framed(true).pool(EncoderPool::new())
}

#[test]
fn l01_an_error_in_the_middle_does_not_look_like_an_end() {
    let data = || Step::Data(json(5000).into());
    let broken = || that("no last chunk", |answer| !answer.wire.ends_with(b"0\r\n\r\n"));
    let case = |coding, steps: Vec<Step>| {
        let case = get(coding).offering(&["zstd", "br", "gzip", "deflate"]).reply(Reply::of(steps));
        case.expect([fails(), broken()])
    };
    all_hold(STREAMING.into_iter().flat_map(|coding| {
        [
            case(coding, vec![data(), Step::Yield, data(), Step::Error]),
            case(coding, vec![data(), Step::Until(5000), data(), Step::Error]),
            case(coding, vec![Step::Data(json(300_000).into()), Step::Error]),
            case(coding, vec![data(), Step::Error]),
            case(coding, vec![Step::Yield, Step::Error]),
            case(coding, vec![Step::Data(json(10).into()), Step::Error]),
        ]
    }));
}

#[derive(Debug)]
struct Database;

impl std::fmt::Display for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database went away")
    }
}

impl std::error::Error for Database {}

/// Data, then what `then` does.
struct Body_<F> {
    data: Option<Bytes>,
    then: F,
}

impl<F: FnMut() -> Database + Unpin> Body for Body_<F> {
    type Data = Bytes;
    type Error = Database;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Database>>> {
        Poll::Ready(Some(match self.data.take() {
            Some(data) => Ok(Frame::data(data)),
            None => Err((self.then)()),
        }))
    }
}

#[tokio::test]
async fn l01_the_error_stays_what_it_was() {
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        for size in [0, 100, 5000, 200_000] {
            let body = Body_ { data: Some(json(size).into()), then: || Database };
            let response = answer(&layer(), codec.name(), text(body)).await;
            let received = receive(response.into_body()).await;
            let error = received.error.expect("an error");
            assert!(error.downcast_ref::<Database>().is_some(), "{}: {error}", codec.name());
        }
    }
}

/// After its error a body has nothing more to say, and no context stays out.
#[tokio::test]
async fn l01_an_error_is_the_last_item() {
    let pool = EncoderPool::new();
    let failing = layer().pool(pool.clone());
    for layer in [failing.clone(), failing.codec(&FAILING)] {
        let steps = [crate::support::Step::data(json(200_000)), crate::support::Step::Error("failed")];
        let response = answer(&layer, "gzip", text(crate::support::Script::new(steps))).await;
        let mut body = Box::pin(response.into_body());
        let mut failed = false;
        while let Some(frame) = body.frame().await {
            assert!(!failed, "something follows the error");
            failed = frame.is_err();
        }
        assert!(failed && body.is_end_stream());
    }
    // The handler's error spares the context; the encoder's own does not.
    assert_eq!(pool.stats().idle, 1);
}

/// A handler's body that panics: whoever catches that goes on, and the context serves the next message.
#[tokio::test]
async fn l01_a_panic_in_the_body_costs_that_body_alone() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let pool = EncoderPool::new();
    let layer = layer().pool(pool.clone());
    for codec in CODECS.iter().filter(|codec| codec.streams()) {
        let body = Body_ { data: Some(json(200_000).into()), then: || panic!("a bug in the handler") };
        let response = answer(&layer, codec.name(), text(body)).await;
        let mut body = Box::pin(response.into_body());
        let mut cx = Context::from_waker(Waker::noop());
        let mut polls = 0..10_000;
        let panicked =
            polls.any(|_| catch_unwind(AssertUnwindSafe(|| body.as_mut().poll_frame(&mut cx))).is_err());
        assert!(panicked, "{}", codec.name());
        drop(body);
        let response = answer(&layer, codec.name(), text(Full::new(Bytes::from(json(100_000))))).await;
        assert!(
            receive(response.into_body()).await.decoded(codec.name()) == json(100_000),
            "{}",
            codec.name()
        );
    }
    std::panic::set_hook(hook);
}

#[tokio::test]
async fn l01_an_error_of_the_service_passes_unchanged() {
    let service = tower::service_fn(|_: Request<()>| async { Err::<Response<Full<Bytes>>, _>(Database) });
    let service = ServiceBuilder::new().layer(layer()).service(service);
    let error: Database = service.oneshot(Request::new(())).await.unwrap_err();
    assert_eq!(error.to_string(), "the database went away");
}

/// A layer inside that gives up on a slow body, as timeouts do, is an error like any other.
#[tokio::test]
async fn l01_a_body_that_is_given_up_ends_with_an_error() {
    let slow =
        http_body_util::StreamBody::new(tokio_stream::iter([Ok(Frame::data(Bytes::from(json(5000))))]));
    let slow = slow.map_err(|error: std::convert::Infallible| -> BoxError { match error {} });
    let given_up = http_body_util::BodyExt::map_frame(slow, |frame| frame);
    let timed_out = tokio_stream::iter([Err::<Frame<Bytes>, BoxError>("timed out".into())]);
    let body =
        Chain { first: Box::pin(given_up), second: Box::pin(http_body_util::StreamBody::new(timed_out)) };
    let response = answer(&layer(), "gzip", text(body)).await;
    assert_eq!(receive(response.into_body()).await.error.unwrap().to_string(), "timed out");
}

/// One body after another.
struct Chain<A, B> {
    first: Pin<Box<A>>,
    second: Pin<Box<B>>,
}

impl<A, B> Body for Chain<A, B>
where
    A: Body<Data = Bytes, Error = BoxError>,
    B: Body<Data = Bytes, Error = BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.first.as_mut().poll_frame(cx) {
            Poll::Ready(None) => self.second.as_mut().poll_frame(cx),
            other => other,
        }
    }
}

#[test]
fn l02_error_pages_are_coded_as_all_others() {
    let page = |status| Reply::text(json(5000)).content_type("text/html").status(status);
    all_hold([404, 500, 503, 400, 301, 302, 201, 203, 207, 226].map(|status| {
        get("gzip").reply(page(status)).expect([
            crate::conformance::check::status(status),
            coded("gzip"),
            varies(),
        ])
    }));
    all_hold([
        get("gzip").reply(page(302).content_type("image/png")).expect([identity()]),
        get("gzip").reply(Reply::empty().status(302)).expect([decodes(), identity()]),
    ]);
}
