//! Traces of traffic: what bodies are asked for, and how they are produced.

use crate::corpus::Kind;
use crate::orders::{Format, orders};
use crate::random::Random;
use crate::writes::Writes;

/// How a body is produced: its bytes, and how long each frame is. Its bytes are in one piece and its lengths are small, so that
/// producing costs little next to what is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    pub(crate) data: &'static [u8],
    /// The lengths of the frames; [`PAUSE`] where nothing comes for a while.
    pub(crate) cuts: &'static [u32],
}

pub(crate) const PAUSE: u32 = u32::MAX;

/// One response: where it is asked for, and how its body is produced.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) script: Script,
    pub(crate) bytes: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) exchanges: Vec<Exchange>,
}

fn exchange(path: impl Into<String>, content_type: &'static str, script: Script) -> Exchange {
    Exchange { path: path.into(), content_type, script, bytes: script.data.len() }
}

#[derive(Default)]
struct Builder {
    data: Vec<u8>,
    cuts: Vec<u32>,
}
impl Builder {
    fn pause(&mut self) {
        self.cuts.push(PAUSE)
    }
    fn frame(&mut self, f: &[u8]) {
        self.data.extend_from_slice(f);
        self.cuts.push(f.len() as u32)
    }
    fn script(self) -> Script {
        Script { data: self.data.leak(), cuts: self.cuts.leak() }
    }
}

/// A JSON list as a serializer writes it.
fn serialized(count: usize) -> Script {
    let mut b = Builder::default();
    Writes::record(Format::Json, &orders(count)).iter().for_each(|w| b.frame(w));
    b.script()
}

fn cut(body: &[u8], size: usize) -> Script {
    let mut b = Builder::default();
    body.chunks(size).for_each(|w| b.frame(w));
    b.script()
}

pub(crate) fn api(random: &mut Random, n: usize) -> Vec<Exchange> {
    let kinds: Vec<_> = (1..=5).map(serialized).collect();
    (0..n)
        .map(|_| {
            let c = [0, 0, 0, 0, 1, 1, 1, 2, 2, 4][random.below(10)];
            exchange(format!("/orders/{}", random.below(100_000)), "application/json", kinds[c])
        })
        .collect()
}

pub(crate) fn lists(random: &mut Random, n: usize, low: usize, high: usize) -> Vec<Exchange> {
    (0..n)
        .map(|_| exchange("/orders", "application/json", serialized(low + random.below(high - low + 1))))
        .collect()
}

pub(crate) fn ndjson(random: &mut Random, n: usize) -> Vec<Exchange> {
    let body = Kind::Ndjson.body(200_000);
    let lines: Vec<_> = body.split_inclusive(|b| *b == b'\n').collect();
    (0..n)
        .map(|_| {
            let mut b = Builder::default();
            for _ in 0..3 + random.below(6) {
                b.pause();
                let burst = 8 + random.below(25);
                let from = random.below(lines.len() - burst);
                lines[from..from + burst].iter().for_each(|line| b.frame(line));
            }
            exchange("/export", "application/x-ndjson", b.script())
        })
        .collect()
}

pub(crate) fn sse(random: &mut Random, n: usize) -> Vec<Exchange> {
    (0..n)
        .map(|_| {
            let mut b = Builder::default();
            for i in 0..60 + random.below(60) {
                let event = format!(
                    "data: {{\"id\":{},\"price\":{}.{:02},\"symbol\":\"{}\",\"at\":17000{:05}}}\n\n",
                    i,
                    random.below(500),
                    random.below(100),
                    random.pick(&["ABCD", "EFGH", "IJKL"]),
                    random.below(100_000)
                );
                b.pause();
                b.frame(event.as_bytes());
            }
            exchange("/events", "text/event-stream", b.script())
        })
        .collect()
}

pub(crate) fn two_bytes(n: usize) -> Vec<Exchange> {
    let mut body = Kind::Json.body(26_000);
    body.truncate(26_000);
    (0..n).map(|_| exchange("/report", "application/json", cut(&body, 2))).collect()
}

pub(crate) fn files(random: &mut Random, n: usize) -> Vec<Exchange> {
    let body = Kind::Logs.body(1 << 20);
    (0..n)
        .map(|_| {
            let frames = 2 + random.below(7);
            exchange(
                format!("/static/{}.log", random.below(50)),
                "text/plain",
                cut(&body[..frames * 65536 - 1000], 65536),
            )
        })
        .collect()
}

fn mixed(random: &mut Random, mut parts: Vec<Exchange>) -> Vec<Exchange> {
    for i in (1..parts.len()).rev() {
        parts.swap(i, random.below(i + 1));
    }
    parts
}

pub(crate) fn all() -> Vec<Trace> {
    let r = &mut Random(1);
    let shift = [api(r, 100), lists(r, 10, 100, 140), api(r, 100), lists(r, 10, 600, 700)].concat();
    let mix =
        [api(r, 120), lists(r, 8, 64, 1024), ndjson(r, 8), sse(r, 8), two_bytes(8), files(r, 8)].concat();
    vec![
        Trace { name: "tiny answers", exchanges: api(r, 200) },
        Trace { name: "lists 26K", exchanges: lists(r, 20, 40, 64) },
        Trace { name: "lists big", exchanges: lists(r, 2, 300, 600) },
        Trace { name: "ndjson bursts", exchanges: ndjson(r, 10) },
        Trace { name: "sse", exchanges: sse(r, 20) },
        Trace { name: "2-byte writes", exchanges: two_bytes(20) },
        Trace { name: "file frames", exchanges: files(r, 5) },
        Trace { name: "mix", exchanges: mixed(r, mix) },
        Trace { name: "shift", exchanges: shift },
    ]
}
