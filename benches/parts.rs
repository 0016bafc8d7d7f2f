//! The parts, so that a change can be judged: `cargo bench --bench parts [-- FILTER]`.
//!
//! Thread CPU time, as in the other benches.

// What criterion's macro makes is public.
#![allow(missing_docs)]

#[path = "parts/codecs.rs"]
mod codecs;
#[path = "parts/cpu.rs"]
mod cpu;
#[path = "parts/engine.rs"]
mod engine;
#[path = "parts/heads.rs"]
mod heads;
#[path = "parts/nothing.rs"]
mod nothing;
#[path = "support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "support/pools.rs"]
mod pools;
#[path = "support/random.rs"]
mod random;
#[path = "support/writes.rs"]
#[allow(dead_code)]
mod writes;

use cpu::Cpu;
use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

/// Short, since a change shows in percents or not at all, and there are many parts.
fn settings() -> Criterion<Cpu> {
    Criterion::default()
        .with_measurement(Cpu)
        .sample_size(30)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

criterion_group! {
    name = parts;
    config = settings();
    targets = codecs::levels, codecs::batches, codecs::contexts, engine::write_buffer, engine::writer, engine::pool,
        heads::negotiation, heads::rewriting
}
criterion_main!(parts);
