//! Bodies that are always ready, beside a timer on the same thread.

use crate::events::tick;
use crate::figures::Figure;
use bytes::Bytes;
use cpu_time::ThreadTime;
use http::{Request, Response};
use http_body::{Body, Frame};
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower::{ServiceBuilder, ServiceExt};
use tower_compress::codec::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Setup, by_name};
use tower_compress::{CompressionLayer, EncoderPool, Error};

const BODIES: usize = 64;
const TIME: Duration = Duration::from_millis(750);
const TIMER: Duration = Duration::from_millis(1);

pub(crate) fn run(figures: &mut Vec<Figure>) {
    println!(
        "\n{BODIES} always-ready bodies in frames of 1 MB on one thread, and a timer of 1 ms beside them"
    );
    println!("{:28} {:>14} {:>14} {:>14} {:>14}", "", "median poll", "longest", "its CPU", "timer late by");
    let layer = || CompressionLayer::new().pool(EncoderPool::new());
    // Whatever disturbs the machine makes a poll longer, never shorter: of several runs the least disturbed counts.
    let runs = [(); 8].map(|()| measure("bounded", &layer()));
    let bounded = runs.into_iter().min_by_key(|run| run.longest_cpu).expect("there are some");
    measure("bound switched off", &layer().codec(&Unbounded));
    figures.push(Figure::at_most(
        "64 always-ready bodies: longest poll, in CPU time",
        bounded.longest_cpu.as_secs_f64() * 1e3,
        "ms",
        1.0,
    ));
    hop();
    let allowed = bounded.longest.as_secs_f64() * 2.0 * BODIES as f64;
    let late = bounded.late.as_secs_f64() / allowed;
    figures.push(Figure::at_most("a timer's lateness against 2 x 64 x the longest poll", late, "x", 1.0));
}

/// What it costs to have something done on a blocking thread, for `CompressionLayer::offload`.
fn hop() {
    const HOPS: u32 = 5000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (start, cpu) = (Instant::now(), cpu_time::ProcessTime::now());
        for _ in 0..HOPS {
            tokio::task::spawn_blocking(|| ()).await.unwrap();
        }
        println!(
            "a hop to a blocking thread and back: {:.1?}, {:.1?} of CPU",
            start.elapsed() / HOPS,
            cpu.elapsed() / HOPS
        );
    });
}

#[derive(Debug, Clone, Default)]
struct Measured {
    polls: Vec<Duration>,
    longest: Duration,
    longest_cpu: Duration,
    late: Duration,
}

fn measure(name: &str, layer: &CompressionLayer) -> Measured {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let measured = runtime.block_on(compete(layer));
    let mut polls = measured.polls.clone();
    polls.sort();
    let median = polls[polls.len() / 2];
    println!(
        "{name:28} {median:>14.1?} {:>14.1?} {:>14.1?} {:>14.1?}",
        measured.longest, measured.longest_cpu, measured.late
    );
    measured
}

async fn compete(layer: &CompressionLayer) -> Measured {
    let frame: Bytes = (0..12_000).flat_map(tick).collect::<Vec<_>>().into();
    let measured = Arc::new(Mutex::new(Measured::default()));
    let stop = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for _ in 0..BODIES {
        let body = answer(layer, frame.clone()).await;
        readers.push(tokio::spawn(read(body, Arc::clone(&measured), Arc::clone(&stop))));
    }
    let (start, mut late) = (Instant::now(), Duration::ZERO);
    while start.elapsed() < TIME {
        let due = Instant::now() + TIMER;
        tokio::time::sleep(TIMER).await;
        late = late.max(due.elapsed());
    }
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    let mut measured = measured.lock().unwrap().clone();
    measured.late = late;
    measured
}

async fn answer(
    layer: &CompressionLayer,
    frame: Bytes,
) -> impl Body<Data = Bytes, Error: std::fmt::Debug> + use<> {
    let service = ServiceBuilder::new().layer(layer).service(tower::service_fn(move |_: Request<()>| {
        let response = Response::builder().header("content-type", "text/plain").body(Endless(frame.clone()));
        async move { Ok::<_, Infallible>(response.unwrap()) }
    }));
    let request = Request::get("/").header("accept-encoding", "gzip").body(()).unwrap();
    service.oneshot(request).await.unwrap().into_body()
}

/// Reads as a connection does: polls on while there are frames.
async fn read(
    body: impl Body<Data = Bytes, Error: std::fmt::Debug>,
    measured: Arc<Mutex<Measured>>,
    stop: Arc<AtomicBool>,
) {
    let mut body = pin!(body);
    std::future::poll_fn(|cx| {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            let (start, cpu) = (Instant::now(), ThreadTime::now());
            let frame = body.as_mut().poll_frame(cx);
            let (time, cpu) = (start.elapsed(), cpu.elapsed());
            let mut measured = measured.lock().unwrap();
            measured.polls.push(time);
            measured.longest = measured.longest.max(time);
            measured.longest_cpu = measured.longest_cpu.max(cpu);
            if frame.is_pending() {
                return Poll::Pending;
            }
        }
    })
    .await;
}

struct Endless(Bytes);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(self.0.clone()))))
    }
}

/// gzip that takes all it is given at once.
#[derive(Debug)]
struct Unbounded;

fn gzip() -> &'static dyn Codec {
    by_name("gzip").expect("it is compiled in")
}

impl Codec for Unbounded {
    fn name(&self) -> &'static str {
        "gzip"
    }

    fn level(&self, level: CompressionLevel) -> i32 {
        gzip().level(level)
    }

    fn turn(&self, _: i32) -> usize {
        1_000_000
    }

    fn memory(&self, setup: Setup) -> usize {
        gzip().memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        gzip().encoder(setup)
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        gzip().decoder(limits)
    }
}
