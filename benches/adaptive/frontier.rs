//! CPU time against output, by coding and level: what the defaults are chosen from.

use crate::corpus::Kind;
use crate::plot::{self, Axis, Plot, Scale, Series};
use crate::rounds::Rounds;
use cpu_time::ThreadTime;
use libdeflater::{CompressionLvl, Compressor};
use std::path::Path;
use tower_compress::CompressionLevel;
use tower_compress::codec::{Operation, Setup, by_name};

const LEVELS: [(&str, &[i32]); 4] = [
    ("gzip", &[1, 2, 3, 4, 5, 6, 7, 9]),
    ("zstd", &[-1, 1, 2, 3, 4, 5, 6, 7, 9]),
    ("br", &[0, 1, 2, 3, 4, 5, 6]),
    ("x-snappy-framed", &[0]),
];

/// Not a coding of this crate: whole bodies only, in C.
const LIBDEFLATE: (&str, &[i32]) = ("libdeflate", &[1, 2, 3, 4, 6, 8, 9]);

/// A tiny body, a page or a list, and the most that is looked ahead.
const SIZES: [usize; 3] = [2 << 10, 16 << 10, 64 << 10];

/// CPU seconds for each body.
const BUDGET: f64 = 0.7;

/// Measures seven kinds of text, or the files that are named.
pub(crate) fn run(files: &[&str]) {
    let sources: Vec<(String, Vec<u8>)> = if files.is_empty() {
        Kind::ALL.iter().map(|kind| (kind.name().into(), kind.body(SIZES[2]))).collect()
    } else {
        files.iter().map(|file| (name(file), std::fs::read(file).expect("a file to read"))).collect()
    };
    for size in SIZES {
        let bodies: Vec<_> = sources.iter().map(|(name, body)| (name.as_str(), middle(body, size))).collect();
        let measured: Vec<_> = bodies.iter().map(|(_, body)| measure(body)).collect();
        print(size, &bodies, &measured);
        if size == SIZES[1] && files.is_empty() {
            draw(size, &measured).expect("docs is writable");
        }
    }
}

/// One way to code a body, and what that gave.
struct Point {
    coding: &'static str,
    level: i32,
    nanoseconds: f64,
    output: f64,
}

fn name(file: &str) -> String {
    Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy().into_owned())
}

/// Files begin with what is rarely repeated.
fn middle(body: &[u8], size: usize) -> &[u8] {
    let start = body.len().saturating_sub(size) / 2;
    &body[start..][..size.min(body.len())]
}

/// Codes a body and returns how much came out.
type Run<'a> = Box<dyn FnMut() -> usize + 'a>;

/// Codes a body whole, on warm contexts, its size known.
fn measure(body: &[u8]) -> Vec<Point> {
    let mut ways: Vec<(&'static str, i32, Run<'_>)> = Vec::new();
    for (coding, levels) in LEVELS {
        for &level in levels {
            ways.push((coding, level, Box::new(ours(coding, level, body))));
        }
    }
    for &level in LIBDEFLATE.1 {
        ways.push((LIBDEFLATE.0, level, Box::new(libdeflate(level, body))));
    }
    let start = ThreadTime::now();
    let output: Vec<_> = ways.iter_mut().map(|(.., way)| way() as f64 / body.len() as f64).collect();
    let rounds = (BUDGET / start.elapsed().as_secs_f64()).clamp(5.0, 200.0) as usize;
    let rounds = Rounds::of(ways.len(), rounds, |index| {
        ways[index].2();
    });
    let point = |(index, (coding, level, _)): (usize, &(&'static str, i32, _))| Point {
        coding,
        level: *level,
        nanoseconds: rounds.cpu(index) / body.len() as f64,
        output: output[index],
    };
    ways.iter().enumerate().map(point).collect()
}

fn ours<'a>(coding: &str, level: i32, body: &'a [u8]) -> impl FnMut() -> usize + 'a {
    let codec = by_name(coding).expect("a coding of the registry");
    let size = body.len() as u64;
    let level = codec.level(CompressionLevel::Precise(level));
    let setup = Setup { level, size_class: codec.size_class(Some(size)) };
    let mut encoder = codec.encoder(setup).expect("an encoder");
    let mut output = Vec::new();
    move || {
        output.clear();
        encoder.pledge(size);
        encoder.encode(body, Operation::Finish, &mut output).expect("nothing fails");
        assert!(encoder.reset());
        output.len()
    }
}

fn libdeflate<'a>(level: i32, body: &'a [u8]) -> impl FnMut() -> usize + 'a {
    let mut compressor = Compressor::new(CompressionLvl::new(level).expect("a level"));
    let mut output = vec![0; compressor.gzip_compress_bound(body.len())];
    move || compressor.gzip_compress(body, &mut output).expect("there is room")
}

fn print(size: usize, bodies: &[(&str, &[u8])], measured: &[Vec<Point>]) {
    println!("\nbodies of {}, whole: ns a byte, output in percent", plot::bytes(size as f64));
    print!("{:18} {:>14}", "coding, level", "mean");
    bodies.iter().for_each(|(name, _)| print!(" {:>14}", name.chars().take(14).collect::<String>()));
    println!();
    for index in 0..measured[0].len() {
        let Point { coding, level, .. } = &measured[0][index];
        print!("{:18} {:>14}", format!("{coding} {level}"), cell(&mean(measured, index)));
        measured.iter().for_each(|points| print!(" {:>14}", cell(&points[index])));
        println!();
    }
}

fn cell(point: &Point) -> String {
    format!("{:.2} {:.1}%", point.nanoseconds, 100.0 * point.output)
}

/// The geometric mean over all bodies.
fn mean(measured: &[Vec<Point>], index: usize) -> Point {
    let mean = |value: fn(&Point) -> f64| {
        let logs: f64 = measured.iter().map(|points| value(&points[index]).ln()).sum();
        (logs / measured.len() as f64).exp()
    };
    let Point { coding, level, .. } = measured[0][index];
    Point { coding, level, nanoseconds: mean(|point| point.nanoseconds), output: mean(|point| point.output) }
}

fn draw(size: usize, measured: &[Vec<Point>]) -> std::io::Result<()> {
    let title = format!("Bodies of {}: CPU time against output, by level", plot::bytes(size as f64));
    let percent = |value: f64| format!("{}%", plot::number(value));
    let y = Axis::new("output, mean over seven kinds", Scale::Linear, percent);
    let mut plot = Plot::new(title, Axis::new("ns a byte", Scale::Log(2.0), plot::number), y);
    for coding in LEVELS.iter().map(|(coding, _)| *coding).chain([LIBDEFLATE.0]) {
        let points: Vec<_> = (0..measured[0].len())
            .filter(|index| measured[0][*index].coding == coding)
            .map(|index| mean(measured, index))
            .collect();
        let labels = points.iter().map(|point| point.level.to_string()).collect();
        let places = points.iter().map(|point| (point.nanoseconds, 100.0 * point.output)).collect();
        plot.add(Series::line(coding, places).labels(labels));
    }
    plot.save("docs/adaptive-frontier.svg")
}
