//! One binary for all tests but those that count allocations: modules are named after what they prove.

mod codecs;
mod compression;
mod pool;
mod property;
mod rooms;
mod support;
