//! Large frames can be encoded on tokio's blocking threads, and are let go of there too.

use super::{ByHand, answered, layer, streaming};
use crate::support::corpus::{event, json};
use crate::support::counting::Counting;
use crate::support::serve::{answer, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http_body_util::Full;
use std::task::Poll;
use tower_compress::codec::Codec;
use tower_compress::{CompressionLayer, EncoderPool};

const LARGE: usize = 256 * 1024;

fn offloading(pool: &EncoderPool, codec: &'static Counting) -> CompressionLayer {
    layer().pool(pool.clone()).codec(codec).offload(LARGE)
}

#[tokio::test]
async fn a_large_frame_is_encoded_elsewhere_and_small_ones_are_not() {
    for codec in streaming() {
        let here = std::thread::current().id();
        let counting = Counting::new(codec.name());
        let layer = offloading(&EncoderPool::new(), counting);
        let small = text(Script::cut(&json(300_000), 10_000));
        let received = receive(answer(&layer, codec.name(), small).await.into_body()).await;
        assert!(received.decoded(codec.name()) == json(300_000));
        assert!(counting.threads().iter().eq([&here]), "{}", codec.name());

        let steps = [Step::data(event(1)), Step::data(json(3_000_000)), Step::data(event(2))];
        let received =
            receive(answer(&layer, codec.name(), text(Script::new(steps))).await.into_body()).await;
        let input = [event(1), json(3_000_000), event(2)].concat();
        assert!(received.decoded(codec.name()) == input, "{}", codec.name());
        assert!(received.frames.iter().all(|frame| frame.len() < 200_000));
        assert!(counting.threads().len() > 1, "{}", codec.name());
        let turn = counting.turn(counting.level(Default::default()));
        assert!(counting.calls().iter().all(|call| call.bytes <= turn));
    }
}

#[tokio::test]
async fn while_a_frame_is_encoded_elsewhere_this_thread_is_free_and_a_drop_ends_the_work() {
    let counting = Counting::new("gzip");
    let pool = EncoderPool::new();
    let response =
        answer(&offloading(&pool, counting), "gzip", text(Full::new(Bytes::from(json(3_000_000))))).await;
    counting.hold(true);
    let mut body = ByHand::new(response.into_body());
    // Had it been encoded here, this would not return.
    assert!(body.poll().is_pending());
    while counting.threads().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(body);
    counting.hold(false);
    while pool.stats().idle == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(counting.calls().len(), 1);
    assert_eq!((pool.stats().idle, pool.stats().parked), (1, 0));
}

#[test]
fn what_has_not_begun_elsewhere_is_let_go_of_as_well() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || released.recv());
    let counting = Counting::new("gzip");
    let pool = EncoderPool::new();
    runtime.block_on(async {
        let body = text(Full::new(Bytes::from(json(3_000_000))));
        let response = answer(&offloading(&pool, counting), "gzip", body).await;
        let mut body = ByHand::new(response.into_body());
        assert!(body.poll().is_pending());
    });
    drop(release);
    drop(runtime);
    assert_eq!((counting.calls().len(), counting.built()), (0, 0));
    assert_eq!(pool.stats().memory, 0);
}

#[test]
fn outside_a_runtime_it_is_encoded_here() {
    let counting = Counting::new("gzip");
    let layer = offloading(&EncoderPool::new(), counting);
    let response = answered(&layer, "gzip", text(Full::new(Bytes::from(json(1_000_000)))));
    let mut body = ByHand::new(response.into_body());
    let mut coded = Vec::new();
    loop {
        match body.poll() {
            Poll::Ready(Some(frame)) => coded.extend_from_slice(&frame.unwrap().into_data().unwrap()),
            Poll::Ready(None) => break,
            Poll::Pending => {}
        }
    }
    assert!(crate::support::decode::decode("gzip", &coded).unwrap() == json(1_000_000));
    assert!(counting.threads().iter().eq([&std::thread::current().id()]));
}

#[tokio::test]
async fn an_encoder_that_fails_elsewhere_fails_the_body() {
    let layer = layer().codec(&crate::support::failing::FAILING).offload(LARGE);
    let response = answer(&layer, "gzip", text(Full::new(Bytes::from(json(3_000_000))))).await;
    let received = receive(response.into_body()).await;
    let error = received.error.unwrap();
    assert!(error.downcast_ref::<tower_compress::Error>().unwrap().is_encode());
}
