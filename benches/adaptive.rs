//! exp
#![allow(dead_code, unreachable_pub, missing_docs)]
#[path = "adaptive/codec.rs"]
mod codec;
#[path = "support/corpus.rs"]
mod corpus;
#[path = "adaptive/drive.rs"]
mod drive;
#[path = "support/heap2.rs"]
mod heap;
#[path = "support/orders.rs"]
mod orders;
#[path = "support/random.rs"]
mod random;
#[path = "adaptive/sim.rs"]
mod sim;
#[path = "adaptive/sweep.rs"]
mod sweep;
#[path = "adaptive/traces.rs"]
mod traces;
#[path = "support/writes.rs"]
mod writes;
#[global_allocator]
static A: heap::Counting = heap::Counting;
fn main() {
    if std::env::args().any(|a| a == "sweep") { sweep::run() } else { sim::sim() }
}
