//! The serializer's end: what is written into a `BodyWriter` comes out of its body, in few calls, or fails
//! where somebody notices.

use crate::support::channel::{Channel, channel};
use crate::support::corpus::json;
use crate::support::counting::Counting;
use crate::support::decode::{decode, decode_prefix};
use crate::support::serve::{Received, answer, coding, receive, text};
use crate::support::{Script, Step};
use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY};
use http_body::Body;
use proptest::prelude::*;
use std::io::{ErrorKind, Write};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tower_compress::codec::{CODECS, Codec};
use tower_compress::predicate::SizeAbove;
use tower_compress::{
    BodyWriter, BytesWriter, CompressionBody, CompressionLayer, EncoderPool, Error, FlushPolicy, WriterBody,
    WriterOptions,
};

const FRAME: usize = 64 * 1024;

/// Options that encode with this codec, with room for everything.
fn coded(codec: &'static dyn Codec, pool: &EncoderPool) -> WriterOptions {
    WriterOptions::new().coding(codec, Default::default()).pool(pool.clone()).capacity(usize::MAX)
}

fn streaming() -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.iter().copied().filter(|codec| codec.streams())
}

fn read(body: &mut WriterBody) -> Poll<Option<Result<Bytes, tower_compress::BoxError>>> {
    let mut cx = Context::from_waker(Waker::noop());
    Pin::new(body).poll_frame(&mut cx).map(|frame| frame.map(|frame| frame.map(|f| f.into_data().unwrap())))
}

fn read_data(body: &mut WriterBody) -> Bytes {
    match read(body) {
        Poll::Ready(Some(Ok(data))) => data,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_written_comes_out() {
    for codec in streaming() {
        for size in [0, 1, 1000, 100_000, 1_000_000] {
            let (mut writer, body) = coded(codec, &EncoderPool::new()).channel();
            json(size).chunks(7).for_each(|piece| writer.write_all(piece).unwrap());
            let tally = writer.finish().unwrap();
            assert_eq!(tally.writes, size.div_ceil(7) as u64);
            assert!(body.size_hint().exact().is_some());
            let response = body.into_response();
            assert_eq!(coding(&response), codec.name());
            assert!(response.headers().contains_key(VARY));
            let received = receive(response.into_body()).await;
            assert!(received.decoded(codec.name()) == json(size), "{} {size}", codec.name());
            assert_eq!(tally.bytes_out, received.bytes().len() as u64);
            assert!(received.frames.iter().all(|frame| !frame.is_empty()));
        }
    }
}

#[tokio::test]
async fn without_a_coding_frames_are_large_and_the_bytes_as_they_were() {
    let (mut writer, body) = WriterOptions::new().capacity(usize::MAX).channel();
    json(200_000).chunks(3).for_each(|piece| writer.write_all(piece).unwrap());
    writer.write_all(&json(300_000)).unwrap();
    assert_eq!(writer.finish().unwrap().encoder_calls, 0);
    assert_eq!(body.coding(), None);
    assert_eq!(body.size_hint().exact(), Some(500_000));
    let received = receive(body).await;
    assert!(received.bytes() == [json(200_000), json(300_000)].concat());
    assert!(received.frames.iter().rev().skip(1).all(|frame| frame.len() == FRAME));
}

/// Case K06 of the catalogue: a serializer that emits pieces of a few bytes, and flushes after each record.
#[tokio::test]
async fn k06_tiny_writes_become_few_calls_and_flushes_that_nobody_waits_for_are_one() {
    let values: Vec<serde_json::Value> = (0..150_000)
        .map(|id| serde_json::json!({"id": id, "name": "a name", "tags": ["a", "b"], "ratio": 0.5}))
        .collect();
    let document = serde_json::to_vec(&values).unwrap();
    assert!(document.len() > 8_000_000);
    for name in ["gzip", "zstd"] {
        let counting = Counting::new(name);
        let (mut writer, body) = coded(counting, &EncoderPool::new()).channel();
        serde_json::to_writer(&mut writer, &values).unwrap();
        let tally = writer.finish().unwrap();
        assert!(tally.writes > 2_000_000, "{}", tally.writes);
        assert!(counting.calls().len() <= document.len() / 4096 + 2);
        assert_eq!(tally.encoder_calls, counting.calls().len() as u64);
        assert!(receive(body).await.decoded(name) == document);

        let counting = Counting::new(name);
        let (mut writer, mut body) = coded(counting, &EncoderPool::new()).channel();
        for value in &values[..10_000] {
            serde_json::to_writer(&mut writer, value).unwrap();
            writer.flush().unwrap();
        }
        assert_eq!(counting.flushes(), 0, "nobody has read yet");
        let mut got = Vec::new();
        while let Poll::Ready(frame) = read(&mut body) {
            got.extend_from_slice(&frame.unwrap().unwrap());
        }
        assert_eq!(counting.flushes(), 1);
        let expected: Vec<u8> =
            values[..10_000].iter().flat_map(|v| serde_json::to_vec(v).unwrap()).collect();
        assert!(decode_prefix(name, &got) == expected, "a flush makes all of it decodable");
        drop(writer);
    }
}

#[tokio::test]
async fn tiny_frames_cost_few_calls_as_well() {
    let counting = Counting::new("gzip");
    let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
    let response = answer(&layer, "gzip", text(Script::cut(&json(1_000_000), 1))).await;
    assert!(receive(response.into_body()).await.decoded("gzip") == json(1_000_000));
    assert!(counting.calls().len() <= 1_000_000 / 4096 + 2);
}

/// Writes `data` in pieces of these sizes, repeated.
fn write_cut(writer: &mut impl Write, data: &[u8], cuts: &[usize]) {
    let mut rest = data;
    for size in cuts.iter().cycle() {
        if rest.is_empty() {
            return;
        }
        let (piece, behind) = rest.split_at((*size).min(rest.len()));
        writer.write_all(piece).unwrap();
        rest = behind;
    }
}

/// `data` as a body of frames of these sizes, which begins with a pause, so that it is a stream.
fn body_cut(data: &[u8], cuts: &[usize]) -> Script {
    let mut steps = vec![Step::Yield];
    let mut rest = data;
    for size in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at((*size).min(rest.len()));
        steps.push(Step::data(piece));
        rest = behind;
    }
    Script::new(steps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn writes_and_frames_give_the_same_bytes(
        size in prop_oneof![1..3000_usize, 10_000..150_000_usize, (1..5_usize).prop_map(|n| n * 32 * 1024)],
        writes in prop::collection::vec(prop_oneof![1..40_usize, 1..70_000_usize], 1..20),
        frames in prop::collection::vec(prop_oneof![1..40_usize, 1..70_000_usize], 1..20),
    ) {
        let data = json(size);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for codec in streaming() {
            // A pool for each, since zlib-rs looks at how much room for output a used context has.
            let layer = || {
                let layer = CompressionLayer::new().codec(codec).pool(EncoderPool::new());
                layer.flush(FlushPolicy::End).compress_when(SizeAbove::new(0))
            };
            let framed = runtime.block_on(async {
                let response = answer(&layer(), codec.name(), text(body_cut(&data, &frames))).await;
                receive(response.into_body()).await.bytes()
            });
            prop_assert!(decode(codec.name(), &framed).unwrap() == data);

            let (mut writer, body) = coded(codec, &EncoderPool::new()).channel();
            write_cut(&mut writer, &data, &writes);
            writer.finish().unwrap();
            let written = runtime.block_on(receive(body)).bytes();
            prop_assert!(written == framed, "{}: channel", codec.name());

            let mut writer = coded(codec, &EncoderPool::new()).whole();
            write_cut(&mut writer, &data, &writes);
            let written = runtime.block_on(receive(writer.finish().unwrap())).bytes();
            prop_assert!(written == framed, "{}: in memory", codec.name());

            // Under a layer, as a stream too: the writer has written nothing when the head goes out.
            let (mut writer, body) = WriterOptions::new().capacity(usize::MAX).channel();
            let response = runtime.block_on(answer(&layer(), codec.name(), body.into_response()));
            write_cut(&mut writer, &data, &writes);
            writer.finish().unwrap();
            let written = runtime.block_on(receive(response.into_body())).bytes();
            prop_assert!(written == framed, "{}: under a layer", codec.name());
        }
    }
}

/// Polls a layer's body until it is pending, giving it as many turns as it takes to see a pause.
fn read_to_pause<B>(mut body: Pin<&mut B>) -> Vec<u8>
where
    B: Body<Data = Bytes, Error = tower_compress::BoxError>,
{
    let mut cx = Context::from_waker(Waker::noop());
    let mut got = Vec::new();
    let mut pending = 0;
    while pending < 5 {
        match body.as_mut().poll_frame(&mut cx) {
            Poll::Ready(frame) => got.extend_from_slice(&frame.unwrap().unwrap().into_data().unwrap()),
            Poll::Pending => pending += 1,
        }
    }
    got
}

#[tokio::test]
async fn a_layer_honours_explicit_flushes_and_only_those() {
    for policy in [FlushPolicy::Pause, FlushPolicy::Interval(Duration::from_secs(3600)), FlushPolicy::End] {
        let counting = Counting::new("gzip");
        let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new()).flush(policy);
        let (mut writer, body) = BodyWriter::new();
        let response = answer(&layer, "gzip", body.into_response()).await;
        assert_eq!(coding(&response), "gzip");
        let mut body = pin!(response.into_body());
        let mut expected = Vec::new();
        let mut got = Vec::new();
        for round in 0..5 {
            let event = json(100 + round);
            writer.write_all(&event).unwrap();
            writer.flush().unwrap();
            expected.extend_from_slice(&event);
            got.extend(read_to_pause(body.as_mut()));
            assert_eq!(decode_prefix("gzip", &got), expected, "{policy:?} {round}");
            assert_eq!(counting.flushes(), round + 1);
        }
        // A buffer that was merely full is no release.
        writer.write_all(&json(FRAME)).unwrap();
        read_to_pause(body.as_mut());
        writer.write_all(b"rest").unwrap();
        read_to_pause(body.as_mut());
        assert_eq!(counting.flushes(), 5, "{policy:?}");
        // Many flushes that nobody reads in between are one.
        for _ in 0..100 {
            writer.write_all(b"event").unwrap();
            writer.flush().unwrap();
        }
        read_to_pause(body.as_mut());
        assert_eq!(counting.flushes(), 6, "{policy:?}");
        writer.finish().unwrap();
    }
}

/// A writer whose body a layer codes with gzip, and that body: read until there was nothing, or not yet.
async fn under(
    layer: &CompressionLayer,
    waiting: bool,
) -> (BodyWriter, Pin<Box<CompressionBody<WriterBody>>>) {
    let (writer, body) = WriterOptions::new().capacity(usize::MAX).channel();
    let response = answer(layer, "gzip", body.into_response()).await;
    let mut body = Box::pin(response.into_body());
    if waiting {
        assert!(read_to_pause(body.as_mut()).is_empty());
    }
    (writer, body)
}

/// A buffer that was just filled holds nothing back, but the layer does.
#[tokio::test]
async fn a_flush_right_behind_a_full_frame_is_honoured() {
    for waiting in [false, true] {
        for size in [FRAME - 1, FRAME, FRAME + 1, 2 * FRAME] {
            let counting = Counting::new("gzip");
            let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
            let (mut writer, mut body) = under(&layer, waiting).await;
            writer.write_all(&json(size)).unwrap();
            writer.flush().unwrap();
            // A large frame takes more than one turn.
            let got: Vec<u8> = (0..5).flat_map(|_| read_to_pause(body.as_mut())).collect();
            assert!(decode_prefix("gzip", &got) == json(size), "{waiting} {size}");
            // Again there is nothing to do.
            writer.flush().unwrap();
            assert!(read_to_pause(body.as_mut()).is_empty());
            assert_eq!(counting.flushes(), 1, "{waiting} {size}");
        }
    }
}

/// Whether the writer codes, or a layer, or nobody: what was flushed leaves, however much is written behind it.
#[tokio::test]
async fn what_is_written_behind_a_flush_does_not_undo_it() {
    let gzip = tower_compress::codec::by_name("gzip").unwrap();
    for behind in [1, 100, 5000, FRAME, 5 * FRAME] {
        for codes in [true, false] {
            let options = if codes { coded(gzip, &EncoderPool::new()) } else { WriterOptions::new() };
            let (mut writer, mut body) = options.capacity(usize::MAX).channel();
            writer.write_all(b"event").unwrap();
            writer.flush().unwrap();
            write_cut(&mut writer, &json(behind), &[3, 700, 5]);
            let mut got = Vec::new();
            while let Poll::Ready(frame) = read(&mut body) {
                got.extend_from_slice(&frame.unwrap().unwrap());
            }
            let got = if codes { decode_prefix("gzip", &got) } else { got };
            assert!(got.starts_with(b"event"), "{codes} {behind}");
            let tally = writer.finish().unwrap();
            assert!(tally.writes > 1 + behind as u64 / 300, "{}", tally.writes);
            assert!(receive(body).await.error.is_none());
        }
        for waiting in [true, false] {
            let counting = Counting::new("gzip");
            let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
            let (mut writer, mut body) = under(&layer, waiting).await;
            writer.write_all(b"event").unwrap();
            writer.flush().unwrap();
            write_cut(&mut writer, &json(behind), &[3, 700, 5]);
            let mut drain = || (0..10).flat_map(|_| read_to_pause(body.as_mut())).collect::<Vec<_>>();
            let got = drain();
            assert!(decode_prefix("gzip", &got).starts_with(b"event"), "{waiting} {behind}");
            assert_eq!(counting.flushes(), 1, "{waiting} {behind}");
            // And is no flush of what comes after that.
            writer.write_all(&json(FRAME)).unwrap();
            drain();
            assert_eq!(counting.flushes(), 1, "{waiting} {behind}");
            writer.finish().unwrap();
        }
    }
}

/// A writer's body, if it was kept, and events behind it.
struct Replaced {
    written: Option<WriterBody>,
    ended: bool,
    events: Channel,
}

impl Body for Replaced {
    type Data = Bytes;
    type Error = tower_compress::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        if let Some(written) = this.written.as_mut().filter(|_| !this.ended) {
            match Pin::new(written).poll_frame(cx) {
                Poll::Ready(None) => this.ended = true,
                other => return other,
            }
        }
        Pin::new(&mut this.events).poll_frame(cx).map_err(Into::into)
    }
}

/// A middleware that keeps a writer's head, and with it the mark, may put another body in its place or behind it.
#[tokio::test]
async fn a_mark_does_not_outlive_its_body() {
    for kept in [false, true] {
        let layer = CompressionLayer::new().pool(EncoderPool::new()).compress_when(SizeAbove::new(0));
        let (mut writer, body) = BodyWriter::new();
        let (parts, written) = body.into_response().into_parts();
        let (sender, events) = channel();
        let body = Replaced { written: kept.then_some(written), ended: false, events };
        let response = answer(&layer, "gzip", http::Response::from_parts(parts, body)).await;
        let mut body = pin!(response.into_body());
        let (mut got, mut expected) = (Vec::new(), Vec::new());
        if kept {
            writer.write_all(b"written").unwrap();
            expected.extend_from_slice(b"written");
            writer.finish().unwrap();
        }
        for _ in 0..3 {
            sender.send(Bytes::from_static(b"event")).unwrap();
            expected.extend_from_slice(b"event");
            got.extend(read_to_pause(body.as_mut()));
            assert_eq!(decode_prefix("gzip", &got), expected, "{kept}");
        }
    }
}

/// The look ahead hears of a flush before there is anything to flush it with.
#[tokio::test]
async fn a_flush_during_the_look_ahead_is_not_forgotten() {
    let layer = CompressionLayer::new().pool(EncoderPool::new());
    let (mut writer, body) = WriterOptions::new().capacity(usize::MAX).channel();
    writer.write_all(b"event").unwrap();
    writer.flush().unwrap();
    let response = answer(&layer, "gzip", body.into_response()).await;
    writer.write_all(&json(FRAME)).unwrap();
    let mut body = pin!(response.into_body());
    let got: Vec<u8> = (0..5).flat_map(|_| read_to_pause(body.as_mut())).collect();
    assert!(decode_prefix("gzip", &got).starts_with(b"event"));
}

/// While a flush waits for its reader, writes are as bounded as at any other time.
#[test]
fn behind_a_flush_the_queue_stays_bounded() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for codec in streaming() {
        let (mut writer, body) = coded(codec, &EncoderPool::new()).capacity(1000).channel();
        let events = crate::support::corpus::noise(2_000_000);
        let mut write = |event: &[u8]| writer.write_all(event).and_then(|()| writer.flush());
        let refused = runtime.block_on(async { events.chunks(50).find_map(|event| write(event).err()) });
        assert_eq!(refused.map(|error| error.kind()), Some(ErrorKind::WouldBlock), "{}", codec.name());
        // What one call gives comes on top: of zstd a block of 128 KiB.
        assert!(body.size_hint().lower() <= 1000 + 130 * 1024, "{}", codec.name());
    }
}

#[tokio::test]
async fn a_layer_takes_frames_without_copying_them() {
    let counting = Counting::new("zstd");
    let layer = CompressionLayer::new().codec(counting).pool(EncoderPool::new());
    let (mut writer, body) = WriterOptions::new().capacity(usize::MAX).channel();
    let data = json(10 * FRAME + 1000);
    data.chunks(5).for_each(|piece| writer.write_all(piece).unwrap());
    writer.finish().unwrap();
    let frames = std::sync::Mutex::new(Vec::new());
    let body = http_body_util::BodyExt::map_frame(body, |frame| {
        frames.lock().unwrap().extend(frame.data_ref().map(|data| data.as_ptr() as usize));
        frame
    });
    let response = answer(&layer, "zstd", text(body)).await;
    assert!(receive(response.into_body()).await.decoded("zstd") == data);
    let frames = frames.into_inner().unwrap();
    let inputs: Vec<_> = counting.calls().iter().map(|call| call.address).collect();
    let in_place = |at: &usize| frames[..10].iter().any(|frame| (*frame..frame + FRAME).contains(at));
    assert!(frames[..10].iter().all(|frame| inputs.contains(frame)));
    assert_eq!(inputs.iter().filter(|at| !in_place(at)).count(), 1, "the rest of 1000 bytes");
}

#[tokio::test]
async fn a_flush_leaves_at_once_where_the_reader_waits() {
    for codec in streaming() {
        let pool = EncoderPool::new();
        let (mut writer, mut body) = coded(codec, &pool).channel();
        let mut got = Vec::new();
        for round in 1..4 {
            assert!(read(&mut body).is_pending());
            writer.write_all(b"event").unwrap();
            assert!(read(&mut body).is_pending(), "nobody has flushed yet");
            writer.flush().unwrap();
            got.extend_from_slice(&read_data(&mut body));
            assert_eq!(decode_prefix(codec.name(), &got), b"event".repeat(round), "{}", codec.name());
            // A second flush has nothing to do.
            writer.flush().unwrap();
            assert!(read(&mut body).is_pending());
        }
        // Whether it is the writer or the reader that flushes, the stream goes on.
        for round in 4..7 {
            writer.write_all(b"event").unwrap();
            writer.flush().unwrap();
            writer.flush().unwrap();
            got.extend_from_slice(&read_data(&mut body));
            assert_eq!(decode_prefix(codec.name(), &got), b"event".repeat(round), "{}", codec.name());
        }
        writer.write_all(b"end").unwrap();
        writer.finish().unwrap();
        got.extend_from_slice(&receive(body).await.bytes());
        assert_eq!(decode(codec.name(), &got).unwrap(), [b"event".repeat(6), b"end".to_vec()].concat());
        assert!(pool.stats().idle >= 1);
    }
}

#[tokio::test]
async fn dropping_the_writer_aborts_the_body() {
    for codec in streaming() {
        for size in [0, 100, 500_000] {
            let pool = EncoderPool::new();
            let (mut writer, body) = coded(codec, &pool).channel();
            writer.write_all(&json(size)).unwrap();
            drop(writer);
            assert!(!body.is_end_stream() && body.size_hint().exact().is_none());
            let Received { frames, error, .. } = receive(body).await;
            assert!(error.unwrap().downcast::<Error>().unwrap().is_aborted());
            let got = frames.concat();
            if codec.name() != "x-snappy-framed" {
                assert!(decode(codec.name(), &got).is_err(), "{} {size}: a valid end", codec.name());
            }
            assert_eq!(pool.stats().idle, usize::from(!got.is_empty()), "{} {size}", codec.name());
        }
    }
}

#[tokio::test]
async fn an_abort_gives_the_body_the_writers_own_error() {
    let (mut writer, body) = BodyWriter::new();
    writer.write_all(b"half a doc").unwrap();
    writer.abort("the database went away");
    let received = receive(body).await;
    assert_eq!(received.error.unwrap().to_string(), "the database went away");
    assert!(received.frames.is_empty(), "what was never flushed stays back");

    let (mut writer, body) = BodyWriter::new();
    writer.write_all(b"an event").unwrap();
    writer.flush().unwrap();
    writer.write_all(b"half a doc").unwrap();
    writer.abort("the database went away");
    let received = receive(body).await;
    assert!(received.frames.is_empty() && received.error.is_some());
}

#[tokio::test]
async fn trailers_follow_and_no_length_is_said() {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    let (mut writer, body) = coded(CODECS[0], &EncoderPool::new()).channel();
    writer.write_all(&json(5000)).unwrap();
    writer.set_trailers(trailers.clone());
    writer.finish().unwrap();
    assert!(!body.is_end_stream() && body.size_hint().exact().is_none());
    let response = body.into_response();
    assert!(!response.headers().contains_key(CONTENT_LENGTH));
    let received = receive(response.into_body()).await;
    assert_eq!(received.decoded(CODECS[0].name()), json(5000));
    assert_eq!(received.trailers, Some(trailers));
}

/// The head's tag and digests are those of the coded bytes, so the trailers' must not be those of the others.
#[tokio::test]
async fn trailers_of_what_a_writer_codes_are_treated_as_the_head_is() {
    let fields = |tag: &str| {
        let mut fields = HeaderMap::new();
        fields.insert(ETAG, tag.parse().unwrap());
        fields.insert("grpc-status", "0".parse().unwrap());
        fields
    };
    let mut trailers = fields("\"x\"");
    trailers.insert("repr-digest", "sha-256=:a:".parse().unwrap());
    for (accept, tag) in [("gzip", "\"x~gzip\""), ("identity", "\"x\"")] {
        let mut request = http::Request::builder().header(ACCEPT_ENCODING, accept).body(()).unwrap();
        let negotiation = CompressionLayer::new().negotiate(&mut request).unwrap();
        let head = http::Response::builder().header(ETAG, "\"x\"").body(()).unwrap();
        let (mut writer, response) = negotiation.writer(head, &WriterOptions::new());
        writer.set_trailers(trailers.clone());
        writer.write_all(&json(5000)).unwrap();
        writer.finish().unwrap();
        assert_eq!((coding(&response), &response.headers()[ETAG]), (accept, &tag.parse().unwrap()));
        let received = receive(response.into_body()).await;
        let expected = if accept == "gzip" { fields(tag) } else { trailers.clone() };
        assert_eq!(received.trailers, Some(expected));
    }
    // Who names the coding, and makes the head, names the tag as well.
    let (mut writer, body) = coded(CODECS[0], &EncoderPool::new()).channel();
    writer.set_trailers(trailers);
    writer.finish().unwrap();
    assert_eq!(receive(body).await.trailers, Some(fields("\"x\"")));
}

/// What `layer` makes of `body` as an answer in memory, written in small pieces or at once.
fn whole(layer: &CompressionLayer, body: &[u8], piece: usize) -> http::Response<CompressionBody<WriterBody>> {
    let mut request = http::Request::builder().header(ACCEPT_ENCODING, "gzip").body(()).unwrap();
    let mut negotiation = layer.negotiate(&mut request).unwrap();
    let write = |writer: &mut BytesWriter| body.chunks(piece).try_for_each(|piece| writer.write_all(piece));
    negotiation.whole(http::Response::new(()), write).unwrap()
}

/// The rules for whole bodies hold up to the look ahead, however many bytes the encoder likes.
#[tokio::test]
async fn in_memory_what_is_small_or_gets_no_smaller_is_not_coded() {
    let layer = || CompressionLayer::new().pool(EncoderPool::new());
    for piece in [7, usize::MAX] {
        for size in [10_000, 20_000, 45_000, FRAME, FRAME + 1] {
            let noise = crate::support::corpus::noise(size);
            let cases = [
                (layer(), noise, if size > FRAME { "gzip" } else { "identity" }),
                (layer().min_size(FRAME as u64), json(size), if size < FRAME { "identity" } else { "gzip" }),
                (layer(), json(size), "gzip"),
                (layer().look_ahead(100_000).min_size(70_000), json(size), "identity"),
                // What is longer than the look-ahead is coded here, however much a call gets at once.
                (layer().look_ahead(8192), json(size), "gzip"),
                (layer().look_ahead(0), json(size), "gzip"),
            ];
            for (layer, data, expected) in cases {
                let response = whole(&layer, &data, piece);
                assert_eq!(coding(&response), expected, "{size} {piece}");
                let length = response.body().size_hint().exact();
                let received = receive(response.into_body()).await;
                assert!(received.decoded(expected) == data);
                assert_eq!(length, Some(received.bytes().len() as u64));
            }
        }
    }
}

#[test]
fn in_memory_padding_by_content_is_not_by_chance() {
    let layer = CompressionLayer::new().padding(0..=1000).padding_by_content(true);
    let lengths: Vec<_> =
        (0..6).map(|_| whole(&layer, &json(45_000), 7).body().size_hint().exact().unwrap()).collect();
    assert_eq!(lengths, [lengths[0]; 6]);
}

#[tokio::test]
async fn in_memory_the_length_is_exact_and_a_small_document_is_one_call() {
    for codec in CODECS {
        for (size, calls) in [(0, 1), (1000, 1), (8000, 1), (1_000_000, usize::MAX)] {
            let counting = Counting::new(codec.name());
            let mut writer = coded(counting, &EncoderPool::new()).whole();
            json(size).chunks(3).for_each(|piece| writer.write_all(piece).unwrap());
            writer.flush().unwrap();
            let response = writer.finish().unwrap().into_response();
            let said: u64 = response.headers()[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
            assert_eq!(response.headers()[CONTENT_ENCODING], codec.name());
            assert_eq!(response.body().size_hint().exact(), Some(said));
            let received = receive(response.into_body()).await;
            assert_eq!(received.bytes().len() as u64, said);
            assert!(received.decoded(codec.name()) == json(size));
            assert!(counting.calls().len() <= calls && counting.flushes() == 0, "{}", codec.name());
            let most = counting.calls().iter().map(|call| call.bytes).max().unwrap();
            assert!(most <= codec.turn(codec.level(Default::default())), "{}", codec.name());
        }
    }
}

#[test]
fn what_fits_in_one_batch_is_the_same_as_one_call_on_the_whole() {
    for codec in CODECS {
        let pool = EncoderPool::new();
        let mut writer = coded(*codec, &pool).whole();
        json(3000).chunks(3).for_each(|piece| writer.write_all(piece).unwrap());
        let mut body = writer.finish().unwrap();
        let whole = tower_compress::engine::Compressor::new(&pool, *codec, Default::default(), Some(3000));
        assert_eq!(read_data(&mut body), whole.whole(&json(3000)).unwrap().0, "{}", codec.name());
        assert!(body.is_end_stream());
    }
}

#[test]
fn a_blocking_writer_waits_for_its_reader() {
    let data = json(3_000_000);
    for codec in streaming() {
        let options = coded(codec, &EncoderPool::new()).capacity(1);
        let (mut writer, mut body) = options.channel();
        let thread = std::thread::spawn({
            let data = data.clone();
            move || {
                data.chunks(1000).try_for_each(|piece| writer.write_all(piece))?;
                writer.finish()
            }
        });
        let mut got = Vec::new();
        loop {
            match read(&mut body) {
                Poll::Ready(Some(frame)) => got.extend_from_slice(&frame.unwrap()),
                Poll::Ready(None) => break,
                Poll::Pending => std::thread::yield_now(),
            }
        }
        thread.join().unwrap().unwrap();
        assert!(decode(codec.name(), &got).unwrap() == data);
    }
}

#[test]
fn a_blocked_writer_ends_when_the_client_goes_away() {
    for codec in streaming() {
        let pool = EncoderPool::new();
        let (mut writer, mut body) = coded(codec, &pool).capacity(1).channel();
        let thread = std::thread::spawn(move || {
            let data = json(100_000);
            loop {
                // For ever, if nobody stops it.
                if let Err(error) = writer.write_all(&data) {
                    assert!(writer.is_closed());
                    return (error.kind(), writer.flush().map_err(|error| error.kind()));
                }
            }
        });
        while read(&mut body).is_pending() {
            std::thread::yield_now();
        }
        drop(body);
        let (kind, _) = thread.join().unwrap();
        assert_eq!(kind, ErrorKind::BrokenPipe);
        assert_eq!(pool.stats().idle, 1, "{}", codec.name());
    }
}

#[test]
fn a_client_that_goes_away_is_noticed_wherever_the_writer_is() {
    let codec = CODECS[0];
    // Before anything is written, with something in the buffer, and with a flush waiting.
    for flushed in [false, true] {
        for size in [0, 100, 100_000] {
            let pool = EncoderPool::new();
            let (mut writer, body) = coded(codec, &pool).channel();
            writer.write_all(&json(size)).unwrap();
            if flushed {
                writer.flush().unwrap();
            }
            drop(body);
            assert!(writer.is_closed());
            let error = writer.finish().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            assert_eq!(pool.stats().idle, pool.stats().misses as usize, "{size} {flushed}");
        }
    }
}

#[test]
fn a_reader_that_stalls_does_not_hold_a_thread() {
    let pool = EncoderPool::new();
    let options = coded(CODECS[0], &pool).capacity(1).deadline(Duration::from_millis(1));
    let (mut writer, mut body) = options.channel();
    let data = crate::support::corpus::noise(1_000_000);
    let error = writer.write_all(&data).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(writer.write_all(&data).unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!(pool.stats().idle, 1);
    let last = loop {
        match read(&mut body) {
            Poll::Ready(Some(Ok(_))) => {}
            other => break other,
        }
    };
    let Poll::Ready(Some(Err(error))) = last else { panic!("{last:?}") };
    assert!(error.downcast::<Error>().unwrap().is_aborted());
}

/// Fills the queue of a writer whose body nobody reads, with blocking writes.
fn fill() -> ErrorKind {
    let options = WriterOptions::new().capacity(1).deadline(Duration::from_millis(1));
    let (mut writer, _body) = options.channel();
    loop {
        if let Err(error) = writer.write_all(&json(1000)) {
            return error.kind();
        }
    }
}

#[test]
fn inside_a_task_a_blocking_write_fails_where_it_would_wait() {
    for mut builder in
        [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()]
    {
        let runtime = builder.worker_threads(1).build().unwrap();
        runtime.block_on(async {
            assert_eq!(fill(), ErrorKind::WouldBlock);
            assert_eq!(tokio::spawn(async { fill() }).await.unwrap(), ErrorKind::WouldBlock);
            let joined = tokio::join!(async { fill() }, async { fill() });
            assert_eq!(joined, (ErrorKind::WouldBlock, ErrorKind::WouldBlock));
            // There it may wait, here until its deadline.
            assert_eq!(tokio::task::spawn_blocking(fill).await.unwrap(), ErrorKind::TimedOut);
            // The look does not use the task's budget up.
            assert!(tokio::task::coop::has_budget_remaining());
        });
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let waited =
        runtime.block_on(async { tokio::spawn(async { tokio::task::block_in_place(fill) }).await.unwrap() });
    assert_eq!(waited, ErrorKind::TimedOut);
    assert_eq!(fill(), ErrorKind::TimedOut, "a thread of one's own");
}

/// apache-avro's writer, for one, does not look at how much a write took.
#[test]
fn a_write_takes_everything_that_it_can() {
    let data = json(1_000_000);
    for options in [coded(CODECS[0], &EncoderPool::new()), WriterOptions::new().capacity(usize::MAX)] {
        let (mut writer, body) = options.channel();
        assert_eq!(writer.write(b"a").unwrap() + writer.write(&data).unwrap(), 1_000_001);
        assert_eq!(writer.finish().unwrap().writes, 2);
        drop(body);
        assert_eq!(options.whole().write(&data).unwrap(), 1_000_000);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut writer, _body) = WriterOptions::new().capacity(1).channel();
        assert_eq!(writer.write(&data).unwrap(), FRAME, "what was taken counts, the error comes next");
        assert_eq!(writer.write(&data).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn after_a_refused_write_the_writer_goes_on_where_it_was() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut writer, mut body) = WriterOptions::new().capacity(1).channel();
        let data = json(10 * FRAME);
        let mut rest = &data[..];
        let mut got = Vec::new();
        while !rest.is_empty() {
            match writer.write(rest) {
                Ok(taken) => rest = &rest[taken..],
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    assert!(error.to_string().contains("spawn_blocking"));
                    got.extend_from_slice(&read_data(&mut body));
                }
            }
        }
        writer.finish().unwrap();
        got.extend(receive(body).await.bytes());
        assert!(got == data);
    });
}

#[tokio::test]
async fn an_async_writer_is_pending_until_there_is_room() {
    let (mut writer, mut body) = WriterOptions::new().capacity(1).channel();
    let data = json(2 * FRAME);
    let woken = std::sync::Arc::new(Wakes::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    let mut poll_write = |rest: &[u8]| Pin::new(&mut writer).poll_write(&mut cx, rest);
    let Poll::Ready(Ok(FRAME)) = poll_write(&data) else { panic!() };
    assert!(poll_write(&data[FRAME..]).is_pending());
    assert_eq!(woken.count(), 0);
    assert_eq!(read_data(&mut body).len(), FRAME);
    assert_eq!(woken.count(), 1);
    assert!(matches!(poll_write(&data[FRAME..]), Poll::Ready(Ok(FRAME))));
    assert!(poll_write(b"x").is_ready(), "a small write needs no room");
    assert!(poll_write(&data).is_pending());
    drop(body);
    assert_eq!(woken.count(), 2);
    let Poll::Ready(Err(error)) = poll_write(&data) else { panic!() };
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[derive(Default)]
struct Wakes(std::sync::atomic::AtomicUsize);

impl Wakes {
    fn count(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl std::task::Wake for Wakes {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_async_writer_copies_a_stream() {
    use tokio::io::AsyncWriteExt;
    let data = json(2_000_000);
    for codec in streaming() {
        let (mut writer, body) = coded(codec, &EncoderPool::new()).capacity(1000).channel();
        let source = data.clone();
        let task = tokio::spawn(async move {
            tokio::io::copy_buf(&mut &source[..], &mut writer).await?;
            writer.shutdown().await?;
            // As every AsyncWrite, it can be shut down twice, and takes nothing after that.
            writer.shutdown().await?;
            AsyncWriteExt::write_all(&mut writer, b"more").await
        });
        assert!(receive(body).await.decoded(codec.name()) == data);
        assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}

#[tokio::test]
async fn an_async_writer_lets_others_run() {
    let (mut writer, _body) = coded(CODECS[0], &EncoderPool::new()).channel();
    let data = json(FRAME);
    let mut cx = Context::from_waker(Waker::noop());
    let batches = (0..10_000).take_while(|_| Pin::new(&mut writer).poll_write(&mut cx, &data).is_ready());
    assert!(batches.count() < 1000, "the budget of a task is 128");
}

#[tokio::test]
async fn an_encoder_that_fails_fails_both_ends() {
    let failing: &'static Failing = &Failing;
    for flush in [false, true] {
        let (mut writer, body) = coded(failing, &EncoderPool::new()).channel();
        let written = writer.write_all(&json(100_000)).and_then(|()| writer.flush());
        let written = if flush { written } else { written.and_then(|()| writer.finish().map(drop)) };
        let error = receive(body).await.error.expect("the body fails");
        assert!(error.downcast::<Error>().unwrap().is_encode());
        assert!(written.is_err());
    }
    let mut writer = coded(failing, &EncoderPool::new()).whole();
    assert!(writer.write_all(&json(100_000)).and_then(|()| writer.finish().map(drop)).is_err());
}

/// A codec whose encoders fail.
#[derive(Debug)]
struct Failing;

impl Codec for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn level(&self, _level: tower_compress::CompressionLevel) -> i32 {
        0
    }

    fn memory(&self, _setup: tower_compress::codec::Setup) -> usize {
        0
    }

    fn encoder(
        &self,
        _setup: tower_compress::codec::Setup,
    ) -> Result<Box<dyn tower_compress::codec::Encoder>, Error> {
        Err(Error::encode("broken"))
    }

    fn decoder(
        &self,
        _limits: tower_compress::codec::DecodeLimits,
    ) -> Result<Box<dyn tower_compress::codec::Decoder>, Error> {
        Err(Error::decode("broken"))
    }
}
