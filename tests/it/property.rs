//! However a body is cut and wherever its producer is pending, the client gets the same bytes; and how it is
//! cut is never a reason to flush.

use crate::support::corpus::json;
use crate::support::counting::Counting;
use crate::support::serve::{answer, coding, receive, text};
use crate::support::{Script, Step};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tower_compress::codec::{CODECS, Codec};
use tower_compress::{CompressionLayer, EncoderPool};

/// What the crate itself counts with: the chunk of output, the most empty frames in a row, the look-ahead, and
/// the batches of the codecs at their default levels.
const CHUNK: usize = 16 * 1024;
const MAX_EMPTY: usize = 1024;
const LOOK_AHEAD: usize = 64 * 1024;

/// Enough for several batches of every codec beyond the look-ahead.
const LONGEST: usize = 5 * LOOK_AHEAD;

/// Every limit that a frame or a body could stand next to.
fn limits() -> Vec<usize> {
    let batches = CODECS.iter().flat_map(|codec| {
        let level = codec.level(Default::default());
        [codec.batch(level), codec.turn(level)]
    });
    let mut limits: Vec<_> = batches.chain([MAX_EMPTY, CHUNK, LOOK_AHEAD]).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

fn around_a_limit() -> impl Strategy<Value = usize> {
    (select(limits()), -1..=1_isize).prop_map(|(limit, beside)| limit.saturating_add_signed(beside))
}

fn frame_size() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => select(vec![0, 1]),
        3 => 2..300_usize,
        2 => 300..6000_usize,
        1 => around_a_limit(),
    ]
}

fn body_size() -> impl Strategy<Value = usize> {
    prop_oneof![0..3000_usize, around_a_limit(), 0..LOOK_AHEAD, LOOK_AHEAD..LONGEST]
}

/// The sizes of a body's frames, repeated until it is used up. Without an end they would all be empty.
fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(frame_size(), 1..40)
        .prop_filter("some frame has data", |cuts| cuts.iter().any(|size| *size > 0))
}

/// `data` in frames of these sizes, all ready.
fn cut(data: &[u8], cuts: &[usize]) -> Vec<Step> {
    let mut rest = data;
    let mut steps = Vec::new();
    for size in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (frame, behind) = rest.split_at((*size).min(rest.len()));
        steps.push(Step::data(frame));
        rest = behind;
    }
    steps
}

struct Outcome {
    coding: String,
    frames: Vec<bytes::Bytes>,
    calls: usize,
    flushes: usize,
}

/// Sends a body through a layer that offers this one codec, and checks what comes out but for its size.
fn send(codec: &dyn Codec, data: &[u8], steps: Vec<Step>) -> Outcome {
    let counting = Counting::new(codec.name());
    let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        // The script is `!Unpin`.
        let response = answer(&layer, codec.name(), text(Script::new(steps))).await;
        let coding = coding(&response).to_owned();
        let received = receive(response.into_body()).await;
        assert!(received.decoded(&coding) == data, "{coding}: other bytes came back");
        assert!(
            coding == "identity" || received.frames.iter().all(|frame| !frame.is_empty()),
            "{coding}: an empty frame"
        );
        Outcome {
            coding,
            frames: received.frames,
            calls: counting.calls().len(),
            flushes: counting.flushes(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_pending_only_the_bytes_decide(size in body_size(), cuts in cuts()) {
        let data = json(size);
        for codec in CODECS {
            let whole = send(*codec, &data, cut(&data, &[LONGEST]));
            let cut = send(*codec, &data, cut(&data, &cuts));
            prop_assert_eq!(&cut.coding, &whole.coding);
            prop_assert_eq!(cut.flushes, 0);
            let (length, expected) = (cut.frames.concat().len(), whole.frames.concat().len());
            if size <= LOOK_AHEAD {
                prop_assert!(cut.frames == whole.frames, "{}: {length} and {expected}", codec.name());
                prop_assert!(cut.calls <= 1);
            } else {
                prop_assert!(length.abs_diff(expected) * 100 <= expected, "{}: {length} and {expected}", codec.name());
                prop_assert!(cut.calls <= size / codec.batch(codec.level(Default::default())) + 2);
            }
        }
    }

    #[test]
    fn with_pending_anywhere_the_bytes_come_back(
        size in body_size(),
        cuts in cuts(),
        pending in prop::collection::vec((any::<Index>(), 1..8_usize), 0..12),
    ) {
        let data = json(size);
        let mut steps = cut(&data, &cuts);
        for (place, times) in pending {
            let place = place.index(steps.len() + 1);
            steps.splice(place..place, std::iter::repeat_n(Step::Yield, times));
        }
        for codec in CODECS {
            send(*codec, &data, steps.clone());
        }
    }
}
