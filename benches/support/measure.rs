//! Interleaved measuring: all contenders take turns, so that what disturbs the machine disturbs them alike.

use super::heap;
use cpu_time::ThreadTime;
use std::time::Duration;

/// What one run of a contender put out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Output {
    pub(crate) bytes: u64,
    pub(crate) frames: u64,
}

/// One way to do the work, in thread CPU time.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() -> Output>,
}

impl Contender {
    pub(crate) fn new(name: &'static str, run: impl FnMut() -> Output + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// What was measured of one contender.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) output: Output,
    /// Allocations of one run in the steady state.
    pub(crate) allocations: u64,
    /// CPU nanoseconds of one run, round by round.
    pub(crate) rounds: Vec<f64>,
}

impl Measured {
    /// The median of all rounds, in nanoseconds.
    pub(crate) fn cpu(&self) -> f64 {
        median(self.rounds.clone())
    }

    /// Half the distance between the quartiles, as a part of the median.
    pub(crate) fn spread(&self) -> f64 {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let quartile = |part: usize| sorted[(sorted.len() - 1) * part / 4];
        (quartile(3) - quartile(1)) / 2.0 / self.cpu()
    }
}

/// The median; zero of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        len if len % 2 == 1 => values[len / 2],
        len => f64::midpoint(values[len / 2 - 1], values[len / 2]),
    }
}

/// The median over the rounds of what `ratio` makes of each round's times.
pub(crate) fn by_round(contenders: &[&Measured], ratio: impl Fn(&[f64]) -> f64) -> f64 {
    let rounds = contenders.iter().map(|contender| contender.rounds.len()).min().unwrap_or(0);
    let at = |round: usize| contenders.iter().map(|contender| contender.rounds[round]).collect::<Vec<_>>();
    median((0..rounds).map(|round| ratio(&at(round))).collect())
}

/// Runs all contenders in turn, round by round, for about `budget` of CPU time each.
pub(crate) fn interleave(contenders: &mut [Contender], budget: Duration) -> Vec<Measured> {
    let mut runs = Vec::new();
    let mut measured: Vec<_> = contenders
        .iter_mut()
        .map(|contender| {
            // Twice to warm up, once to count, once to see how long it takes.
            (contender.run)();
            let output = (contender.run)();
            let before = heap::allocations();
            (contender.run)();
            let allocations = heap::allocations() - before;
            let once = time(contender, 1);
            runs.push((SAMPLE.as_nanos() as f64 / once).clamp(1.0, 100_000.0) as u32);
            Measured { name: contender.name, output, allocations, rounds: Vec::new() }
        })
        .collect();
    let mut rounds = MOST_ROUNDS;
    let mut round = 0;
    while round < rounds {
        let start = ThreadTime::now();
        for turn in 0..contenders.len() {
            let index = (round + turn) % contenders.len();
            let nanoseconds = time(&mut contenders[index], runs[index]);
            measured[index].rounds.push(nanoseconds);
        }
        if round == 0 {
            let affordable = budget.as_secs_f64() * contenders.len() as f64 / start.elapsed().as_secs_f64();
            rounds = (affordable as usize).clamp(LEAST_ROUNDS, MOST_ROUNDS);
        }
        round += 1;
    }
    measured
}

/// CPU nanoseconds of one run, the mean over `runs`.
fn time(contender: &mut Contender, runs: u32) -> f64 {
    let start = ThreadTime::now();
    for _ in 0..runs {
        std::hint::black_box((contender.run)());
    }
    start.elapsed().as_nanos() as f64 / f64::from(runs)
}

/// The least time of one sample: reading the thread's clock is a system call of half a microsecond.
const SAMPLE: Duration = Duration::from_millis(1);

const LEAST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 31;
