//! How promptly events leave, and how few flushes that takes.

use crate::events::tick;
use crate::figures::Figure;
use crate::incremental::Incremental;
use bytes::Bytes;
use cpu_time::ThreadTime;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::{CompressionBody, CompressionLayer, EncoderPool, FlushPolicy};

const MESSAGES: usize = 10_000;

pub(crate) fn run(figures: &mut Vec<Figure>) {
    println!("\nMessages through a channel: {MESSAGES} of 86 B");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (name, over_h1) in [("in a task", false), ("over HTTP/1.1", true)] {
        let flushes = runtime.block_on(all_there(over_h1));
        figures.push(Figure::at_most(format!("all there, {name}: flushes"), flushes as f64, "", 3.0));
    }
    for coding in ["gzip", "deflate", "zstd", "br", "x-snappy-framed"] {
        let (prompt, time) = runtime.block_on(one_by_one(coding));
        println!(
            "one by one, {coding}: {:.1} us each, with the connection",
            time.as_secs_f64() * 1e6 / MESSAGES as f64
        );
        let figure = format!("one by one, {coding}: decodable before the next is sent");
        figures.push(Figure::at_least(figure, prompt as f64, "", MESSAGES as f64));
    }
    let (size, delay, turn) = runtime.block_on(pieces());
    println!("pieces of 16 B, interval 10 ms: longest delay {delay:.2?}, longest turn {turn:.2?}");
    figures.push(Figure::at_most("pieces of 16 B, interval 10 ms: size against one call", size, "x", 1.05));
    let late = (delay.as_secs_f64() - turn.as_secs_f64()) * 1e3;
    figures.push(Figure::at_most("pieces of 16 B: longest delay, less one turn", late, "ms", 10.0));
}

fn layer() -> CompressionLayer {
    CompressionLayer::new().br(true).snappy_framed(true).pool(EncoderPool::new())
}

struct Channel(UnboundedReceiver<Bytes>);

impl Body for Channel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}

fn channel() -> (UnboundedSender<Bytes>, Response<Channel>) {
    let (sender, receiver) = unbounded_channel();
    (sender, Response::builder().header("content-type", "text/event-stream").body(Channel(receiver)).unwrap())
}

/// The layer's answer, without a connection.
async fn answer(
    layer: &CompressionLayer,
    coding: &str,
    response: Response<Channel>,
) -> CompressionBody<Channel> {
    let service = handler(layer, response);
    let request = Request::get("/").header("accept-encoding", coding).body(()).unwrap();
    service.oneshot(request).await.unwrap().into_body()
}

/// A service that answers once.
fn handler<T: Send + 'static>(
    layer: &CompressionLayer,
    response: Response<Channel>,
) -> impl tower::Service<
    Request<T>,
    Response = Response<CompressionBody<Channel>>,
    Error = Infallible,
    Future: Send,
> + Clone
+ Send
+ use<T> {
    let response = Arc::new(Mutex::new(Some(response)));
    ServiceBuilder::new().layer(layer.clone()).service(tower::service_fn(move |_: Request<T>| {
        let response = response.lock().unwrap().take().expect("one request");
        async move { Ok::<_, Infallible>(response) }
    }))
}

/// The answer over an HTTP/1.1 connection in memory.
async fn get(layer: &CompressionLayer, coding: &str, response: Response<Channel>) -> hyper::body::Incoming {
    let (client, server) = tokio::io::duplex(64 * 1024);
    let service = TowerToHyperService::new(handler(layer, response));
    tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(server), service));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(client)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("/").header("accept-encoding", coding).body(Empty::<Bytes>::new()).unwrap();
    sender.send_request(request).await.unwrap().into_body()
}

async fn all_there(over_h1: bool) -> u64 {
    let (sender, response) = channel();
    for number in 0..MESSAGES {
        sender.send(tick(number).into()).unwrap();
    }
    let layer = layer();
    let reader = if over_h1 {
        let body = get(&layer, "gzip", response).await;
        tokio::spawn(async move { body.collect().await.unwrap().to_bytes() })
    } else {
        let body = answer(&layer, "gzip", response).await;
        tokio::spawn(async move { body.collect().await.unwrap().to_bytes() })
    };
    // Long enough for all to be read and for a pause after it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(sender);
    let mut decoder = flate2::write::GzDecoder::new(Vec::new());
    decoder.write_all(&reader.await.unwrap()).unwrap();
    assert_eq!(decoder.finish().unwrap().len(), MESSAGES * crate::events::EVENT);
    layer.stats().flushes
}

/// How many of the messages were decodable within a second, before the next was sent; and how long all took.
async fn one_by_one(coding: &str) -> (usize, Duration) {
    let (sender, response) = channel();
    let mut body = get(&layer(), coding, response).await;
    let mut receiver = Incremental::new(coding);
    let (mut sent, mut decoded, start) = (0, 0, Instant::now());
    for number in 0..MESSAGES {
        let message = tick(number);
        sent += message.len();
        sender.send(message.into()).unwrap();
        while decoded < sent {
            match tokio::time::timeout(Duration::from_secs(1), body.frame()).await {
                Ok(Some(Ok(frame))) => decoded = receiver.feed(frame.data_ref().unwrap()),
                _ => return (number, start.elapsed()),
            }
        }
    }
    (MESSAGES, start.elapsed())
}

const PIECE: usize = 16;
const INTERVAL: Duration = Duration::from_millis(10);

/// The coded size as a part of one call's, the longest delay of a piece, and the longest turn.
///
/// On a clock that advances with this thread's CPU time, so that nothing depends on what else the machine does.
async fn pieces() -> (f64, Duration, Duration) {
    tokio::time::pause();
    let input: Vec<u8> = (0..50_000).flat_map(tick).collect();
    let (sender, response) = channel();
    let layer = layer().flush(FlushPolicy::Interval(INTERVAL));
    let mut body = Box::pin(answer(&layer, "gzip", response).await);
    let reader = tokio::spawn(async move {
        let (mut receiver, mut arrivals, mut size) = (Incremental::new("gzip"), Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            size += data.len();
            arrivals.push((receiver.feed(&data), tokio::time::Instant::now()));
        }
        (arrivals, size)
    });
    let (mut sent, mut sendings, mut turn) = (0, Vec::new(), Duration::ZERO);
    let mut cpu = ThreadTime::now();
    for piece in input.chunks(PIECE) {
        sent += piece.len();
        sendings.push((sent, tokio::time::Instant::now()));
        sender.send(Bytes::copy_from_slice(piece)).unwrap();
        tokio::task::yield_now().await;
        let passed = cpu.elapsed();
        cpu = ThreadTime::now();
        turn = turn.max(passed);
        tokio::time::advance(passed).await;
    }
    drop(sender);
    let (arrivals, size) = reader.await.unwrap();
    let mut arrivals = arrivals.into_iter().peekable();
    let delay = sendings.iter().map(|(bytes, sent)| {
        while arrivals.peek().is_some_and(|(decoded, _)| decoded < bytes) {
            arrivals.next();
        }
        arrivals.peek().expect("all arrives").1 - *sent
    });
    let delay = delay.max().unwrap_or_default();
    tokio::time::resume();
    let mut whole = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    whole.write_all(&input).unwrap();
    (size as f64 / whole.finish().unwrap().len() as f64, delay, turn)
}
