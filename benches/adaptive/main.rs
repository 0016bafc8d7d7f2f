//! exp
#![allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../support/corpus.rs"]
mod corpus;
#[path = "../support/orders.rs"]
mod orders;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/writes.rs"]
mod writes;
#[path = "../support/heap2.rs"]
mod heap;
mod sweep;
mod traces;
mod drive;
mod codec;
mod sim;
#[global_allocator]
static A: heap::Counting = heap::Counting;
fn main() { if std::env::args().any(|a| a == "sweep") { sweep::run() } else { sim::sim() } }
