//! One binary for all tests but those that count allocations: modules are named after what they prove.

mod bad_input;
mod codecs;
mod compression;
mod conformance;
mod pool;
mod property;
mod rooms;
mod support;
