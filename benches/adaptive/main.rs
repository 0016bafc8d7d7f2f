//! exp
#![allow(dead_code, unreachable_pub, missing_docs)]
mod codec;
#[path = "../support/corpus.rs"]
mod corpus;
mod drive;
#[path = "../support/heap2.rs"]
mod heap;
#[path = "../support/orders.rs"]
mod orders;
#[path = "../support/random.rs"]
mod random;
mod sim;
mod sweep;
mod traces;
#[path = "../support/writes.rs"]
mod writes;
#[global_allocator]
static A: heap::Counting = heap::Counting;
fn main() {
    if std::env::args().any(|a| a == "sweep") { sweep::run() } else { sim::sim() }
}
