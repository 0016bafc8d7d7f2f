use crate::corpus::Kind;
use cpu_time::ThreadTime;
use tower_compress::CompressionLevel;
use tower_compress::codec::{Encoder, Operation, Setup, by_name};

pub(crate) const CODECS: &[(&str, i32)] = &[
    ("gzip", 1),
    ("gzip", 3),
    ("gzip", 6),
    ("gzip", 9),
    ("zstd", 1),
    ("zstd", 3),
    ("zstd", 6),
    ("zstd", 9),
    ("zstd", 19),
    ("br", 1),
    ("br", 4),
    ("br", 6),
    ("br", 9),
    ("x-snappy-framed", 0),
];

fn encode(encoder: &mut dyn Encoder, body: &[u8], batch: usize, out: &mut Vec<u8>) -> usize {
    let mut total = 0;
    let mut chunks = body.chunks(batch).peekable();
    while let Some(chunk) = chunks.next() {
        let op = if chunks.peek().is_none() { Operation::Finish } else { Operation::Encode };
        encoder.encode(chunk, op, out).unwrap();
        if out.len() >= 16384 {
            total += out.len();
            out.clear();
        }
    }
    total += out.len();
    out.clear();
    assert!(encoder.reset());
    total
}

pub(crate) fn run() {
    let body = match std::env::var("FILE") {
        Ok(f) => {
            let mut b = std::fs::read(f).unwrap();
            b.truncate(1 << 20);
            b
        }
        _ => {
            let mut b = Kind::Json.body(1 << 20);
            b.truncate(1 << 20);
            b
        }
    };
    let sizes: Vec<usize> = (8..=20).map(|p| 1usize << p).collect();
    for &(name, level) in CODECS {
        if std::env::var("ONLY").is_ok_and(|o| !o.split(',').any(|o| o == format!("{name}:{level}"))) {
            continue;
        }
        let codec = by_name(name).unwrap();
        let level = codec.level(CompressionLevel::Precise(level));
        let mut encs: Vec<_> = sizes
            .iter()
            .map(|_| codec.encoder(Setup { level, size_class: codec.size_class(None) }).unwrap())
            .collect();
        let mut best = vec![f64::MAX; sizes.len()];
        let mut outb = vec![0; sizes.len()];
        let mut out = Vec::new();
        let start = ThreadTime::now();
        let mut rounds = 0;
        while rounds < 3 || (rounds < 25 && start.elapsed().as_millis() < 4000) {
            rounds += 1;
            for (i, &s) in sizes.iter().enumerate() {
                let t = ThreadTime::now();
                outb[i] = encode(&mut *encs[i], &body, s, &mut out);
                best[i] = best[i].min(t.elapsed().as_nanos() as f64);
            }
        }
        let least = best.iter().copied().fold(f64::MAX, f64::min);
        let small = *outb.iter().min().unwrap() as f64;
        print!("{name:>16} {level:>2} {:6.2} ns/B r{rounds} ", least / body.len() as f64);
        for i in 0..sizes.len() {
            print!(
                " {}:{:.3}/{:.3}",
                if sizes[i] < 1024 { format!("{}", sizes[i]) } else { format!("{}K", sizes[i] / 1024) },
                best[i] / least,
                outb[i] as f64 / small
            );
        }
        println!();
    }
}
