//! One binary for all tests but those that count allocations: modules are named after what they prove.

mod axum_answers;
mod bad_input;
mod cases;
mod client_requests;
mod client_responses;
mod clients;
mod codecs;
mod compression;
mod conformance;
mod decoding;
mod migration;
mod pool;
mod property;
mod rooms;
mod round_trips;
mod server_requests;
mod sizing;
mod small_bodies;
mod streams;
mod support;
mod writer;
