//! Interleaved rounds of CPU time, and what is read from them.

use cpu_time::ThreadTime;

/// CPU nanoseconds of each contestant, for each round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// Lets `contestants` run in turn, `rounds` times; each round begins with another one.
    pub(crate) fn of(contestants: usize, rounds: usize, run: impl FnMut(usize)) -> Self {
        let mut all = Self::default();
        all.run(contestants, rounds, run);
        all
    }

    /// Adds more rounds. What is measured is the second of two runs: in the first a contestant brings back into the
    /// cache what its neighbour pushed out. Some neighbours have much in common and some have nothing, which was worth 6 %;
    /// in traffic there is one layer.
    pub(crate) fn run(&mut self, contestants: usize, rounds: usize, mut run: impl FnMut(usize)) {
        self.0.resize_with(contestants, Vec::new);
        for round in self.len()..self.len() + rounds {
            for turn in 0..contestants {
                let index = (turn + round) % contestants;
                run(index);
                let start = ThreadTime::now();
                run(index);
                self.0[index].push(start.elapsed().as_nanos() as f64);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// The CPU time of one contestant: its median share of a round, times the median round.
    ///
    /// What else runs on the machine slows whole rounds down, by a third and more. Shares repeat within 1 %.
    pub(crate) fn cpu(&self, contestant: usize) -> f64 {
        let rounds = self.len();
        let round = |round: usize| self.0.iter().map(|times| times[round]).sum::<f64>();
        let shares = (0..rounds).map(|index| self.0[contestant][index] / round(index)).collect();
        median(shares) * median((0..rounds).map(round).collect())
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
