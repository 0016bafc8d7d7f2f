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

/// One way to do the work.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Makes what so many runs will use up. Not measured.
    prepare: Box<dyn FnMut(u32)>,
    run: Box<dyn FnMut() -> Output>,
}

impl Contender {
    pub(crate) fn new(name: &'static str, run: impl FnMut() -> Output + 'static) -> Self {
        Self { name, prepare: Box::new(|_| ()), run: Box::new(run) }
    }

    pub(crate) fn prepared_by(mut self, prepare: impl FnMut(u32) + 'static) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Runs so often; for profilers too.
    pub(crate) fn run(&mut self, runs: u32) {
        self.time(runs);
    }

    /// CPU nanoseconds of this thread for one run, the mean over `runs`. A quarter as many go before, unmeasured,
    /// since those whose turn it was have filled the caches.
    fn time(&mut self, runs: u32) -> f64 {
        self.sum(runs / 4);
        self.sum(runs).as_nanos() as f64 / f64::from(runs)
    }

    fn sum(&mut self, runs: u32) -> Duration {
        let mut sum = Duration::ZERO;
        let mut left = runs;
        while left > 0 {
            let now = left.min(AT_ONCE);
            left -= now;
            (self.prepare)(now);
            let start = ThreadTime::now();
            for _ in 0..now {
                std::hint::black_box((self.run)());
            }
            sum += start.elapsed();
        }
        sum
    }

    /// What comes out of a warm run, and the allocations that it takes.
    fn count(&mut self) -> (Output, u64) {
        (self.prepare)(1);
        let before = heap::allocations();
        let output = (self.run)();
        (output, heap::allocations() - before)
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

    /// The least of all rounds: nearest to what a machine of one's own would show.
    pub(crate) fn least(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
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
    let mut measured = Vec::new();
    let mut slowest = Duration::ZERO;
    for contender in contenders.iter_mut() {
        // Twice to warm up, once to count. What takes long is warm after one run.
        let once = Duration::from_nanos(contender.time(1) as u64);
        let once = if once < SLOW { Duration::from_nanos(contender.time(2) as u64) } else { once };
        let (output, allocations) = contender.count();
        runs.push((SAMPLE.as_secs_f64() / once.as_secs_f64()).clamp(1.0, MOST_RUNS) as u32);
        slowest = slowest.max(once);
        measured.push(Measured { name: contender.name, output, allocations, rounds: Vec::new() });
    }
    let affordable = (budget.as_secs_f64() / slowest.max(SAMPLE).as_secs_f64()) as usize;
    let least = if slowest < SLOW { LEAST_ROUNDS } else { LEAST_ROUNDS / 2 + 1 };
    for round in 0..affordable.clamp(least, MOST_ROUNDS) {
        for turn in 0..contenders.len() {
            let index = (round + turn) % contenders.len();
            let nanoseconds = contenders[index].time(runs[index]);
            measured[index].rounds.push(nanoseconds);
        }
    }
    measured
}

/// The least time of one sample: reading the thread's clock is a system call of half a microsecond.
const SAMPLE: Duration = Duration::from_millis(4);

/// Runs that are prepared together: few enough for what is prepared to stay in the nearest cache.
const AT_ONCE: u32 = 32;

/// What takes longer is run less often.
const SLOW: Duration = Duration::from_millis(50);

/// More in one sample would only be more to prepare.
const MOST_RUNS: f64 = 1000.0;

const LEAST_ROUNDS: usize = 5;
const MOST_ROUNDS: usize = 41;
