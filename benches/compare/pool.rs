//! The pool, where two threads share it, against encoders that each of them keeps for itself.

use super::figures::Figure;
use super::measure::median;
use super::orders::{Format, orders};
use super::pools::{local, pooled, side_by_side};
use super::writes::Writes;
use tower_compress::EncoderPool;
use tower_compress::codec::by_name;

/// Rounds, in which the two take turns, and messages of each thread in one.
const ROUNDS: usize = 41;
const MESSAGES: u64 = 1000;

/// The smallest message with the cheapest of the codings that browsers know: where a pool counts most.
pub(crate) fn run() -> Figure {
    let codec = by_name("zstd").expect("it is compiled in");
    let body = Writes::record(Format::Json, &orders(1)).bytes;
    let pool = EncoderPool::new();
    let round = |_| {
        let shared = side_by_side(2, MESSAGES, || pooled(&pool, codec, &body));
        let own = side_by_side(2, MESSAGES, || local(codec, &body));
        shared.as_secs_f64() / own.as_secs_f64()
    };
    let ratio = median((0..ROUNDS).map(round).collect());
    Figure::at_most("pool / thread-local, 2 threads, json/402B zstd-3", ratio, "ratio", 1.0)
}
