//! The second story: Hessian without a shared `SerializerFactory` built an expensive object for each request.
//!
//! The same message is encoded over and over: with an encoder built for each, with one of this crate's pool, and
//! with one that each thread keeps for itself, which is the least that is possible.

use super::measure::{Contender, Output, interleave};
use super::orders::{Format, orders};
use super::row::Row;
use super::writes::Writes;
use bytes::Bytes;
use cpu_time::ThreadTime;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tower_compress::codec::{Codec, Operation, Setup, by_name};
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

const CODECS: [(&str, i32, &str); 4] =
    [("gzip", 6, "gzip-6"), ("gzip", 1, "gzip-1"), ("zstd", 3, "zstd-3"), ("br", 4, "brotli-4")];

pub(crate) fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for (size, count) in [("402B", 1), ("1.6K", 4), ("26K", 64), ("416K", 1024)] {
        let body = Writes::record(Format::Json, &orders(count)).bytes;
        for (token, level, label) in CODECS {
            let coding = Coding::new(token, level);
            let contender = |name, way: Way| {
                let (body, mut worker) = (body.clone(), way.worker(coding, &EncoderPool::new()));
                Contender::new(name, move || Output { bytes: worker(&body), frames: 1 })
            };
            let mut contenders = WAYS.map(|(name, way)| contender(name, way));
            let measured = interleave(&mut contenders, Duration::from_millis(60));
            let workload = format!("json/{size}/1 thread");
            rows.extend(measured.iter().map(|measured| Row::new("encoders", &workload, label, measured)));
        }
    }
    let body = Writes::record(Format::Json, &orders(4)).bytes;
    for threads in [2, 8] {
        for (token, level, label) in CODECS {
            rows.extend(side_by_side(threads, &body, Coding::new(token, level), label));
        }
    }
    rows
}

#[derive(Clone, Copy)]
struct Coding {
    codec: &'static dyn Codec,
    level: CompressionLevel,
}

impl Coding {
    fn new(token: &str, level: i32) -> Self {
        let codec = by_name(token).expect("all codecs are compiled in");
        Self { codec, level: CompressionLevel::Precise(level) }
    }

    fn setup(self, size: u64) -> Setup {
        Setup { level: self.codec.level(self.level), size_class: self.codec.size_class(Some(size)) }
    }
}

/// Where a message's encoder comes from.
#[derive(Clone, Copy)]
enum Way {
    Built,
    Pooled,
    Own,
}

const WAYS: [(&str, Way); 3] =
    [("built per message", Way::Built), ("pooled", Way::Pooled), ("one per thread", Way::Own)];

type Worker = Box<dyn FnMut(&Bytes) -> u64>;

impl Way {
    fn worker(self, coding: Coding, pool: &EncoderPool) -> Worker {
        match self {
            Self::Built => Box::new(move |body| {
                let setup = coding.setup(body.len() as u64);
                let mut encoder = coding.codec.encoder(setup).expect("memory");
                let mut output = Vec::new();
                encoder.encode(body, Operation::Finish, &mut output).expect("there is room");
                output.len() as u64
            }),
            Self::Pooled => {
                let pool = pool.clone();
                Box::new(move |body| {
                    let size = Some(body.len() as u64);
                    let compressor = Compressor::new(&pool, coding.codec, coding.level, size);
                    compressor.whole(body).expect("there is room").0.len() as u64
                })
            }
            Self::Own => {
                let mut own = None;
                let mut output = Vec::new();
                Box::new(move |body| {
                    let setup = coding.setup(body.len() as u64);
                    let encoder = own.get_or_insert_with(|| coding.codec.encoder(setup).expect("memory"));
                    output.clear();
                    encoder.encode(body, Operation::Finish, &mut output).expect("there is room");
                    assert!(encoder.reset());
                    Bytes::copy_from_slice(&output).len() as u64
                })
            }
        }
    }
}

/// Threads that all encode, sharing one pool. The ways take turns, so that what disturbs one disturbs all.
fn side_by_side(threads: usize, body: &Bytes, coding: Coding, label: &str) -> Vec<Row> {
    const ROUNDS: usize = 7;
    const MESSAGES: u32 = 400;
    let pool = EncoderPool::new();
    let mut cpu = WAYS.map(|_| Vec::new());
    let mut wall = WAYS.map(|_| Vec::new());
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        for (index, (_, way)) in WAYS.iter().enumerate() {
            let (started, ended) = (Barrier::new(threads + 1), Mutex::new(Vec::new()));
            let elapsed = thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        let mut worker = way.worker(coding, &pool);
                        worker(body);
                        started.wait();
                        let start = ThreadTime::now();
                        let written = (0..MESSAGES).map(|_| worker(body)).last().unwrap_or(0);
                        ended.lock().expect("no one panics").push((start.elapsed(), written));
                    });
                }
                started.wait();
                Instant::now()
            })
            .elapsed();
            let ended = ended.into_inner().expect("no one panics");
            let messages = f64::from(MESSAGES) * threads as f64;
            cpu[index].push(ended.iter().map(|(time, _)| time.as_nanos() as f64).sum::<f64>() / messages);
            wall[index].push(messages / elapsed.as_secs_f64());
            bytes = ended[0].1;
        }
    }
    let row = |(index, (name, _)): (usize, &(&'static str, Way))| Row {
        story: "encoders".to_owned(),
        workload: format!("json/1.6K/{threads} threads"),
        codec: label.to_owned(),
        variant: (*name).to_owned(),
        write_ns: super::measure::median(cpu[index].clone()),
        read_ns: None,
        bytes,
        allocations: 0,
        per_second: Some(super::measure::median(wall[index].clone())),
    };
    WAYS.iter().enumerate().map(row).collect()
}
