use crate::codec::Batched;
use crate::drive;
use crate::traces::{self, Trace};
use cpu_time::ThreadTime;
use tower_compress::codec::by_name;
use tower_compress::engine::Sizing;
use tower_compress::predicate::SizeAbove;
use tower_compress::{CompressionLayer, EncoderPool};

pub(crate) fn layer(coding: &'static str, fixed: Option<usize>, null: bool) -> CompressionLayer<SizeAbove> {
    let codec = Box::leak(Box::new(Batched { inner: by_name(coding).unwrap(), batch: fixed, null }));
    let layer = CompressionLayer::new()
        .codec(codec)
        .pool(EncoderPool::with_limit(1 << 30))
        .compress_when(SizeAbove::new(0));
    match fixed {
        Some(bytes) => layer.look_ahead(bytes).sizing(Sizing::fixed(bytes)),
        None => layer,
    }
}

fn run(
    layer: &CompressionLayer<SizeAbove>,
    coding: &'static str,
    trace: &Trace,
    watch: bool,
) -> Vec<drive::Sum> {
    trace.exchanges.iter().map(|e| drive::response(layer, coding, e, watch)).collect()
}

pub(crate) fn sim() {
    let codings = std::env::var("CODINGS").unwrap_or("gzip,zstd".into());
    let sizes: Vec<Option<usize>> =
        std::iter::once(None).chain((9..=20).map(|p| Some(1usize << p))).collect();
    for trace in traces::all() {
        if std::env::var("TRACE").is_ok_and(|t| !trace.name.contains(&t)) {
            continue;
        }
        for coding in codings.split(',') {
            let coding: &'static str = coding.to_string().leak();
            let layers: Vec<_> = sizes.iter().map(|s| layer(coding, *s, false)).collect();
            let nulls: Vec<_> = sizes.iter().map(|s| layer(coding, *s, true)).collect();
            let rounds: usize = std::env::var("ROUNDS").map_or(9, |r| r.parse().unwrap());
            let mut all = vec![vec![]; sizes.len()];
            let mut drains = vec![];
            for l in &layers {
                for _ in 0..3 {
                    run(l, coding, &trace, false);
                }
            }
            for round in 0..rounds {
                let t = ThreadTime::now();
                trace.exchanges.iter().for_each(drive::drain);
                let d = t.elapsed().as_nanos() as f64;
                drains.push(d);
                let mut times = vec![0.0; layers.len()];
                for i in 0..layers.len() {
                    let i = (i + round) % layers.len();
                    let t = ThreadTime::now();
                    run(&layers[i], coding, &trace, false);
                    times[i] = t.elapsed().as_nanos() as f64;
                }
                for i in 0..layers.len() {
                    all[i].push(times[i] - d)
                }
            }
            let med = |v: &[f64]| {
                let mut v = v.to_vec();
                v.sort_by(f64::total_cmp);
                v[v.len() / 2]
            };
            let low = |v: &[f64]| {
                let mut v = v.to_vec();
                v.sort_by(f64::total_cmp);
                v[v.len() / 10]
            };
            let min = |v: &[f64]| v.iter().copied().fold(f64::MAX, f64::min);
            let means: Vec<f64> =
                (0..rounds).map(|r| med(&all.iter().map(|v| v[r]).collect::<Vec<_>>())).collect();
            let drain = min(&drains);
            let best: Vec<f64> = all.iter().map(|v| min(v)).collect();
            let best10: Vec<f64> = all.iter().map(|v| low(v)).collect();
            let norm: Vec<f64> = all
                .iter()
                .map(|v| med(&v.iter().zip(&means).map(|(a, b)| a / b).collect::<Vec<_>>()))
                .collect();
            let ln = norm[1..].iter().copied().fold(f64::MAX, f64::min);
            let l10 = best10[1..].iter().copied().fold(f64::MAX, f64::min);
            let net = best.clone();
            let least = net[1..].iter().copied().fold(f64::MAX, f64::min);
            println!(
                "{} {} {} responses {} bytes; least {:.0} us, drain {:.0} us",
                trace.name,
                coding,
                trace.exchanges.len(),
                trace.exchanges.iter().map(|e| e.bytes).sum::<usize>(),
                least / 1e3,
                drain / 1e3
            );
            for i in 0..layers.len() {
                let warm = run(&nulls[i], coding, &trace, true);
                let r0 = crate::heap::reallocs();
                let sums = run(&nulls[i], coding, &trace, true);
                let re = crate::heap::reallocs() - r0;
                let real = run(&layers[i], coding, &trace, false);
                let _ = warm;
                let held = sums.iter().map(|s| s.held).sum::<f64>() / sums.len() as f64;
                let st = layers[i].stats();
                println!(
                    "   {:>9} {:.3} gross {:.3} p10 {:.3} norm {:.3} held {:8.0} reallocs {re} polls {} out {} calls/w {:.1}",
                    sizes[i].map_or("adaptive".into(), |s| s.to_string()),
                    net[i] / least,
                    (best[i] + drain) / (least + drain),
                    best10[i] / l10,
                    norm[i] / ln,
                    held,
                    real.iter().map(|s| s.polls).sum::<u64>(),
                    real.iter().map(|s| s.bytes).sum::<u64>(),
                    st.writes_per_call()
                );
            }
        }
    }
}
