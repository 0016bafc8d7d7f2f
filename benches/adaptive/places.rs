//! What predicts how much a response will gather: nothing, its type, its route, or both.

use crate::random::Random;
use crate::traces::{self, Exchange, PAUSE};
use tower_compress::engine::{Observed, Place, Sizing};

/// A way to tell responses apart.
type Scheme = (&'static str, fn(&Exchange) -> Place);

const SCHEMES: [Scheme; 4] = [
    ("nothing", |_| Place::ANY),
    ("type", |exchange| Place::ANY.of_type(exchange.content_type.as_bytes())),
    ("route", |exchange| Place::of_route(exchange.path.as_bytes())),
    ("route and type", |exchange| {
        Place::of_route(exchange.path.as_bytes()).of_type(exchange.content_type.as_bytes())
    }),
];

/// The look-ahead: no more is gathered.
const MOST: usize = 64 * 1024;

/// Prints, for each scheme, how often a buffer had to grow and how much it held for nothing.
pub(crate) fn print() {
    println!("\n{:16} {:>22} {:>22}", "told apart by", "grown, per response", "held for nothing");
    for (name, place) in SCHEMES {
        let sizing = Sizing::new();
        let (mut grown, mut idle, mut responses) = (0_u32, 0, 0_u32);
        for exchange in &traffic() {
            let place = place(exchange);
            let expected = sizing.expect(place).gathered().min(MOST);
            let gathered = gathered(exchange);
            let needed = gathered.clamp(512, MOST).next_power_of_two();
            if needed > expected {
                grown += (needed / expected).ilog2();
            } else {
                idle += expected - needed;
            }
            responses += 1;
            sizing.record(place, Observed { gathered, ..Observed::default() });
        }
        let responses = f64::from(responses);
        println!("{name:16} {:>22.3} {:>20.0} B", f64::from(grown) / responses, idle as f64 / responses);
    }
}

/// An API whose answers are JSON whatever their size, with a few other types beside them, in no order.
fn traffic() -> Vec<Exchange> {
    let random = &mut Random(5);
    let mut sources = [
        traces::tiny_answers(random, 100),
        traces::lists(random, 20, 40..=64),
        traces::two_byte_writes(10),
        traces::ndjson(random, 10),
        traces::events(random, 10),
        // The same route in another type: a summary.
        traces::tiny_answers(random, 20),
    ];
    for summary in &mut sources[5] {
        summary.path = "/orders".into();
        summary.content_type = "text/html; charset=utf-8";
    }
    let all = sources.concat();
    (0..2000).map(|_| all[random.below(all.len())].clone()).collect()
}

/// The largest burst of small writes.
fn gathered(exchange: &Exchange) -> usize {
    let bursts = exchange.script.steps.split(|step| *step == PAUSE);
    let joined = bursts.filter(|burst| burst.len() > 1).map(|burst| burst.iter().sum::<u32>() as usize);
    joined.max().unwrap_or(0).min(MOST)
}
