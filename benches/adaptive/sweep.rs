//! CPU time and output by batch: what an encoder loses where it gets its input in small pieces.

use crate::corpus::Kind;
use crate::figures::Figure;
use crate::plot::{self, Axis, Plot, Scale, Series};
use crate::rounds::Rounds;
use cpu_time::ThreadTime;
use tower_compress::CompressionLevel;
use tower_compress::codec::{Encoder, Operation, Setup, by_name};

/// A level of each band for which the codecs have numbers of their own; the first of each is the default.
const LEVELS: [(&str, i32); 13] = [
    ("gzip", 6),
    ("gzip", 1),
    ("gzip", 3),
    ("gzip", 9),
    ("deflate", 6),
    ("zstd", 3),
    ("zstd", 1),
    ("zstd", 6),
    ("zstd", 9),
    ("br", 4),
    ("br", 1),
    ("br", 6),
    ("x-snappy-framed", 0),
];

/// 256 B to 1 MiB.
const BATCHES: std::ops::RangeInclusive<u32> = 8..=20;

const BODY: usize = 1 << 20;

/// CPU seconds for each level.
const BUDGET: f64 = 2.0;

/// The batch that the codec asks for may cost so many times the CPU time, and give so many times the output, of the
/// best one that keeps a call within 200 microseconds: that of a whole turn is the largest.
const CPU: f64 = 1.05;
const OUTPUT: f64 = 1.01;

pub(crate) fn run() -> Vec<Figure> {
    let mut body = Kind::Json.body(BODY);
    body.truncate(BODY);
    let batches: Vec<usize> = BATCHES.map(|log| 1 << log).collect();
    let mut figures = Vec::new();
    let axes = |label| {
        let ratio = Axis::new(label, Scale::Log(2.0), plot::number).showing(1.0, 2.0);
        (Axis::new("batch", Scale::Log(4.0), plot::bytes), ratio)
    };
    let (x, y) = axes("CPU time / best");
    let mut cpu_plot = Plot::new("CPU time by batch, 1 MiB of JSON", x, y);
    let (x, y) = axes("output / least");
    let mut output_plot = Plot::new("Output by batch, 1 MiB of JSON", x, y);

    println!(
        "\nCPU time and output by batch, each against the best of its row; * marks the codec's own batch, + its turn"
    );
    print!("{:18} {:>7}", "coding, level", "ns/B");
    batches.iter().for_each(|batch| print!(" {:>13}", plot::bytes(*batch as f64)));
    println!();
    let mut seen = Vec::new();
    for (coding, level) in LEVELS {
        let measured = Measured::new(coding, level, &body, &batches);
        measured.print(&batches);
        if seen.contains(&coding) {
            continue;
        }
        seen.push(coding);
        let at = |bytes| batches.iter().position(|batch| *batch == bytes).expect("a power of two");
        let (own, turn) = (at(measured.batch), at(measured.turn));
        let name = |what: &str| format!("{coding} {level}, batch of {}: {what}", measured.batch);
        figures.push(Figure::at_most(
            name("CPU / best within a turn"),
            measured.cpu(own) / measured.least_cpu(turn),
            "ratio",
            CPU,
        ));
        figures.push(Figure::at_most(
            name("output / least"),
            measured.output(own) / measured.output(turn),
            "ratio",
            OUTPUT,
        ));
        let points = |value: &dyn Fn(usize) -> f64| {
            batches.iter().enumerate().map(|(index, batch)| (*batch as f64, value(index))).collect()
        };
        let name = format!("{coding} {level}");
        cpu_plot.add(Series::line(name.clone(), points(&|index| measured.cpu(index))));
        output_plot.add(Series::line(name, points(&|index| measured.output(index))));
    }
    let saved = cpu_plot.save("docs/adaptive-sweep-cpu.svg");
    saved.and_then(|()| output_plot.save("docs/adaptive-sweep-output.svg")).expect("docs is writable");
    figures
}

struct Measured {
    coding: &'static str,
    level: i32,
    /// What the codec asks for, and what it takes at a stretch.
    batch: usize,
    turn: usize,
    nanoseconds: Vec<f64>,
    bytes: Vec<usize>,
}

impl Measured {
    fn new(coding: &'static str, level: i32, body: &[u8], batches: &[usize]) -> Self {
        let codec = by_name(coding).expect("a coding of the registry");
        let level = codec.level(CompressionLevel::Precise(level));
        let setup = Setup { level, size_class: codec.size_class(None) };
        let mut encoders: Vec<_> =
            batches.iter().map(|_| codec.encoder(setup).expect("an encoder")).collect();
        let mut output = Vec::new();
        let start = ThreadTime::now();
        let bytes = batches
            .iter()
            .zip(&mut encoders)
            .map(|(batch, encoder)| encode(&mut **encoder, body, *batch, &mut output))
            .collect();
        let rounds = (BUDGET / start.elapsed().as_secs_f64()).clamp(5.0, 100.0) as usize;
        let rounds = Rounds::of(batches.len(), rounds, |index| {
            encode(&mut *encoders[index], body, batches[index], &mut output);
        });
        let nanoseconds = (0..batches.len()).map(|index| rounds.cpu(index) / body.len() as f64).collect();
        Self { coding, level, batch: codec.batch(level), turn: codec.turn(level), nanoseconds, bytes }
    }

    fn cpu(&self, index: usize) -> f64 {
        self.nanoseconds[index] / self.best()
    }

    /// The least of all batches up to this one.
    fn least_cpu(&self, last: usize) -> f64 {
        (0..=last).map(|index| self.cpu(index)).fold(f64::INFINITY, f64::min)
    }

    fn best(&self) -> f64 {
        self.nanoseconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn output(&self, index: usize) -> f64 {
        let least = self.bytes.iter().min().expect("there are batches");
        self.bytes[index] as f64 / *least as f64
    }

    fn print(&self, batches: &[usize]) {
        print!("{:18} {:>7.2}", format!("{} {}", self.coding, self.level), self.best());
        for (index, batch) in batches.iter().enumerate() {
            let mark = match *batch {
                batch if batch == self.batch => "*",
                batch if batch == self.turn => "+",
                _ => "",
            };
            print!(" {:>13}", format!("{mark}{:.3}/{:.3}", self.cpu(index), self.output(index)));
        }
        println!();
    }
}

/// Encodes `body` in calls of `batch` bytes and returns how much came out.
fn encode(encoder: &mut dyn Encoder, body: &[u8], batch: usize, output: &mut Vec<u8>) -> usize {
    const CHUNK: usize = 16 * 1024;
    let mut bytes = 0;
    let mut pieces = body.chunks(batch).peekable();
    while let Some(piece) = pieces.next() {
        let operation = if pieces.peek().is_some() { Operation::Encode } else { Operation::Finish };
        encoder.encode(piece, operation, output).expect("nothing fails");
        if output.len() >= CHUNK || operation == Operation::Finish {
            bytes += output.len();
            output.clear();
        }
    }
    assert!(encoder.reset());
    bytes
}
