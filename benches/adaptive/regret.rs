//! The layer that sizes its buffers by itself against every fixed size, on every trace.

use crate::altered::{self, Filling};
use crate::buffers;
use crate::figures::Figure;
use crate::layers::Layer;
use crate::plot::{self, Axis, Plot, Scale, Series};
use crate::replay;
use crate::rounds::Rounds;
use crate::traces::{self, Trace};
use cpu_time::ThreadTime;
use std::collections::BTreeMap;
use tower_compress::EncoderPool;
use tower_compress::codec::by_name;

/// The codings that the bounds are about.
const CODINGS: [&str; 2] = ["gzip", "zstd"];

/// 512 B to 1 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 9..=20;

/// CPU time may be so many times that of the best fixed size.
const CPU: f64 = 1.05;

/// Memory may be so many times that of the smallest fixed size that is within [`CPU`] of the best.
const MEMORY: f64 = 1.25;

/// Output may be so many times the least: a size that saves time by coding worse is no match.
const OUTPUT: f64 = 1.01;

/// CPU seconds for each contest, and the least number of rounds.
const BUDGET: f64 = 6.0;
const LEAST_ROUNDS: usize = 24;

/// Rounds with the same contexts. Where in memory a context happens to lie can be worth 20 % of its speed, and some
/// contestants use others than the rest: only the median over many placements is theirs.
const ROUNDS: usize = 4;

/// One contestant on one trace.
#[derive(Debug, Clone)]
struct Row {
    /// `None`: adaptive.
    fixed: Option<usize>,
    /// Nanoseconds of a response, without its producer's.
    cpu: f64,
    /// Bytes held in the write buffer and the output, on average over a response's time.
    held: f64,
    /// Of that, the write buffer.
    write_buffer: f64,
    /// Responses with an exact length.
    exact: usize,
    bytes_out: u64,
    polls: u64,
    encoder_calls: u64,
    writes: u64,
    /// Of the write buffer, once warm.
    reallocations: u64,
}

impl Row {
    fn name(&self) -> String {
        self.fixed.map_or("adaptive".into(), |bytes| plot::bytes(bytes as f64))
    }
}

/// One trace with one coding. The first row is the adaptive one.
#[derive(Debug)]
struct Contest {
    trace: &'static str,
    steady: bool,
    responses: usize,
    rows: Vec<Row>,
    best_cpu: f64,
    /// The row of the smallest fixed size that does the same work as fast, with as many exact lengths and as little
    /// output. If none is as fast, of the smallest that does the same work.
    match_at: Option<usize>,
    /// The row of the smallest that is as fast, whatever else it does.
    fast_at: usize,
}

/// Runs the traces with these codings, sizes and parts of names; all where none is named.
pub(crate) fn run(words: &[&str]) -> Vec<Figure> {
    let (mut codings, mut sizes, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for word in words {
        match (by_name(word), word.parse::<usize>()) {
            (Some(codec), _) => codings.push(codec.name()),
            (None, Ok(bytes)) => sizes.push(bytes),
            (None, Err(_)) => names.push(*word),
        }
    }
    let complete = sizes.is_empty() && names.is_empty();
    if codings.is_empty() {
        codings.extend(CODINGS);
    }
    if sizes.is_empty() {
        sizes.extend(SIZES.map(|log| 1 << log));
    }
    let mut traces = traces::all();
    traces.retain(|trace| names.is_empty() || names.iter().any(|name| trace.name.contains(name)));
    let mut figures = Vec::new();
    for coding in codings {
        let contests: Vec<_> = traces.iter().map(|trace| Contest::hold(trace, coding, &sizes)).collect();
        for contest in &contests {
            contest.print(coding);
            contest.judge(coding, &mut figures);
        }
        if complete {
            figures.push(rivals(coding, &contests));
            draw(coding, &contests).expect("docs is writable");
        }
    }
    figures
}

impl Contest {
    fn hold(trace: &Trace, coding: &'static str, sizes: &[usize]) -> Self {
        let sizes: Vec<_> = std::iter::once(None).chain(sizes.iter().copied().map(Some)).collect();
        let mut rows: Vec<_> = sizes.iter().map(|fixed| Row::counted(trace, coding, *fixed)).collect();
        let start = ThreadTime::now();
        let pool = EncoderPool::new();
        let mut layers: Vec<_> =
            sizes.iter().map(|fixed| Layer::new(coding, *fixed, Filling::Real, &pool)).collect();
        layers.iter().for_each(|layer| layer.warm_up(&trace.exchanges));
        let mut rounds = Rounds::default();
        let mut pad = Vec::new();
        while rounds.len() < LEAST_ROUNDS || start.elapsed().as_secs_f64() < BUDGET {
            rounds.run(layers.len() + 1, ROUNDS, |index| match layers.get(index) {
                Some(layer) => drop(layer.run(&trace.exchanges)),
                None => trace.exchanges.iter().for_each(replay::drain),
            });
            // What lies before the new contexts, and before the buffers, is of another size each time.
            drop(std::mem::replace(&mut pad, vec![1_u8; rounds.len() * 52_711 % (1 << 20)]));
            let pool = EncoderPool::new();
            layers.iter_mut().for_each(|layer| *layer = layer.on(&pool));
            layers.iter().for_each(|layer| drop(layer.run(&trace.exchanges)));
        }
        let responses = trace.exchanges.len();
        let producer = rounds.cpu(layers.len());
        for (index, row) in rows.iter_mut().enumerate() {
            row.cpu = (rounds.cpu(index) - producer) / responses as f64;
            row.count(&layers[index], trace);
        }

        let least = |value: fn(&Row) -> f64| rows[1..].iter().map(value).fold(f64::INFINITY, f64::min);
        let (best_cpu, least_out) = (least(|row| row.cpu), least(|row| row.bytes_out as f64));
        let fast = |index: &usize| rows[*index].cpu <= CPU * best_cpu;
        let same = |index: &usize| {
            let row = &rows[*index];
            row.exact >= rows[0].exact && row.bytes_out as f64 <= OUTPUT * least_out
        };
        let fast_at = (1..rows.len()).find(fast).expect("the best is as fast as itself");
        let match_at = (1..rows.len()).find(|index| fast(index) && same(index));
        let match_at = match_at.or_else(|| (1..rows.len()).find(same));
        Self { trace: trace.name, steady: trace.steady, responses, rows, best_cpu, match_at, fast_at }
    }

    /// What is held, against the match.
    fn memory(&self, row: &Row) -> f64 {
        self.match_at.map_or(f64::NAN, |index| self.held(row, index))
    }

    /// What is held, against another row.
    fn held(&self, row: &Row, index: usize) -> f64 {
        // Where none of them is held, both are nothing.
        (row.held + 1.0) / (self.rows[index].held + 1.0)
    }

    fn holds(&self, row: &Row) -> bool {
        row.exact >= self.rows[0].exact
            && row.cpu <= CPU * self.best_cpu
            && self.memory(row) <= MEMORY
            && row.bytes_out as f64 <= OUTPUT * self.rows[0].bytes_out as f64
    }

    fn print(&self, coding: &str) {
        println!("\n{}, {coding}, {} responses", self.trace, self.responses);
        println!(
            "{:>9} {:>9} {:>6} {:>9} {:>9} {:>6} {:>9} {:>7} {:>8} {:>7} {:>7}",
            "buffer", "us", "CPU", "held", "write", "exact", "out", "calls", "per call", "polls", "realloc"
        );
        for (index, row) in self.rows.iter().enumerate() {
            println!(
                "{:>9} {:>9.2} {:>6.3} {:>9.0} {:>9.0} {:>6} {:>9} {:>7} {:>8.1} {:>7} {:>7}{}",
                row.name(),
                row.cpu / 1e3,
                row.cpu / self.best_cpu,
                row.held,
                row.write_buffer,
                row.exact,
                row.bytes_out,
                row.encoder_calls,
                row.writes as f64 / row.encoder_calls as f64,
                row.polls,
                row.reallocations,
                match index {
                    _ if self.match_at == Some(index) => "  the smallest match",
                    _ if self.fast_at == index => "  the smallest as fast",
                    _ => "",
                },
            );
        }
    }

    fn judge(&self, coding: &str, figures: &mut Vec<Figure>) {
        let adaptive = &self.rows[0];
        let name = |what: &str| format!("{}, {coding}: {what}", self.trace);
        let cpu = adaptive.cpu / self.best_cpu;
        figures.push(Figure::at_most(name("CPU / best fixed"), cpu, "ratio", CPU));
        let (like, fast) = (self.memory(adaptive), self.held(adaptive, self.fast_at));
        figures.push(Figure::at_most(name("memory / smallest that does the same"), like, "ratio", MEMORY));
        figures.push(Figure::at_most(name("memory / smallest as fast"), fast, "ratio", MEMORY));
        let least_out = self.rows.iter().map(|row| row.bytes_out).min().unwrap_or(1);
        let output = adaptive.bytes_out as f64 / least_out as f64;
        figures.push(Figure::at_most(name("output / least"), output, "ratio", OUTPUT));
        if self.steady {
            let reallocations = adaptive.reallocations as f64;
            figures.push(Figure::at_most(name("reallocations once warm"), reallocations, "count", 0.0));
        }
    }
}

impl Row {
    /// What can be counted without an encoder.
    fn counted(trace: &Trace, coding: &'static str, fixed: Option<usize>) -> Self {
        let held = |filling| {
            let before = altered::held();
            let mut layer = Layer::new(coding, fixed, filling, &EncoderPool::new());
            layer.warm_up(&trace.exchanges);
            // The contexts from before there was anything to go by are of no interest.
            let warm = layer.on(&EncoderPool::new());
            drop(std::mem::replace(&mut layer, warm));
            layer.run(&trace.exchanges);
            let reallocations = buffers::reallocations();
            let outcomes = layer.run(&trace.exchanges);
            let mean = outcomes.iter().map(|outcome| outcome.held).sum::<f64>() / outcomes.len() as f64;
            ((mean - before as f64).max(0.0), buffers::reallocations() - reallocations)
        };
        let (all, _) = held(Filling::Watched);
        let (write_buffer, reallocations) = held(Filling::Silent);
        Self {
            fixed,
            cpu: 0.0,
            held: all,
            write_buffer,
            exact: 0,
            bytes_out: 0,
            polls: 0,
            encoder_calls: 0,
            writes: 0,
            reallocations,
        }
    }

    /// What can be counted with it.
    fn count(&mut self, layer: &Layer, trace: &Trace) {
        let before = layer.stats();
        let outcomes = layer.run(&trace.exchanges);
        let after = layer.stats();
        self.exact = outcomes.iter().filter(|outcome| outcome.exact).count();
        self.bytes_out = outcomes.iter().map(|outcome| outcome.bytes_out).sum();
        self.polls = outcomes.iter().map(|outcome| outcome.polls).sum();
        self.encoder_calls = after.encoder_calls - before.encoder_calls;
        self.writes = after.writes - before.writes;
    }
}

/// Whether a fixed size does as well as adaptive over all traces.
fn rivals(coding: &str, contests: &[Contest]) -> Figure {
    println!("\n{coding}: where each size fails, by CPU time, memory, output or lengths");
    let mut rivals = 0;
    for index in 0..contests[0].rows.len() {
        let fails: Vec<_> = contests
            .iter()
            .filter(|contest| !contest.holds(&contest.rows[index]))
            .map(|contest| contest.trace)
            .collect();
        rivals += usize::from(index > 0 && fails.is_empty());
        let fails = if fails.is_empty() { "nowhere".into() } else { fails.join(", ") };
        println!("{:>9}: {fails}", contests[0].rows[index].name());
    }
    Figure::at_most(format!("{coding}: fixed sizes that fail nowhere"), rivals as f64, "count", 0.0)
}

fn draw(coding: &str, contests: &[Contest]) -> std::io::Result<()> {
    let size = || Axis::new("fixed buffer", Scale::Log(4.0), plot::bytes);
    let ratio = |label| Axis::new(label, Scale::Log(2.0), plot::number).showing(1.0, 2.0);

    let title = format!("CPU time by buffer, {coding}: each trace against its best fixed size");
    let mut by_trace = Plot::new(title, size(), ratio("CPU time / best"));
    // The worst over all traces, by size.
    let mut worst = BTreeMap::<usize, (f64, f64)>::new();
    for contest in contests {
        let mut points = Vec::new();
        for row in &contest.rows[1..] {
            let bytes = row.fixed.unwrap_or_default();
            let (cpu, memory) = (row.cpu / contest.best_cpu, contest.memory(row).max(1.0));
            points.push((bytes as f64, cpu));
            let worst = worst.entry(bytes).or_insert((1.0, 1.0));
            *worst = (worst.0.max(cpu), worst.1.max(memory));
        }
        by_trace.add(Series::line(contest.trace, points));
    }
    by_trace.save(format!("docs/adaptive-cpu-{coding}.svg"))?;

    let title = format!("The worst over all traces, {coding}");
    let mut both = Plot::new(title, size(), ratio("times the best"));
    let of_adaptive = |value: &dyn Fn(&Contest) -> f64| contests.iter().map(value).fold(1.0, f64::max);
    let cpu = of_adaptive(&|contest| contest.rows[0].cpu / contest.best_cpu);
    let memory = of_adaptive(&|contest| contest.memory(&contest.rows[0]));
    let ends = |value| worst.keys().map(|bytes| (*bytes as f64, value)).collect();
    let curve = |value: fn(&(f64, f64)) -> f64| {
        worst.iter().map(|(bytes, worst)| (*bytes as f64, value(worst))).collect()
    };
    both.add(Series::line("CPU time, fixed", curve(|worst| worst.0)));
    both.add(Series::line("memory, fixed", curve(|worst| worst.1)));
    both.add(Series::line("CPU time, adaptive", ends(cpu)).dashed().heavy());
    both.add(Series::line("memory, adaptive", ends(memory)).dashed().heavy());
    both.save(format!("docs/adaptive-worst-{coding}.svg"))
}
