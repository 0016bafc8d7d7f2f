//! The rows that benches leave in `target/tower-compress` and that the report is made of.

use serde::{Deserialize, Serialize};

/// What one contender cost on one workload in one coding.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Compared {
    /// `format/size/shape`.
    pub(crate) workload: String,
    pub(crate) codec: String,
    pub(crate) variant: String,
    /// Thread CPU time of one response, the median.
    pub(crate) cpu_ns: f64,
    /// The least of all rounds.
    pub(crate) cpu_least_ns: f64,
    /// Half the distance between the quartiles, as a part of the median.
    pub(crate) spread: f64,
    pub(crate) bytes_in: u64,
    /// How many writes its serializer made, each a frame of its own if the shape is `tiny`.
    pub(crate) writes: u64,
    pub(crate) bytes_out: u64,
    /// Of one response in the steady state, as far as they go through Rust's allocator.
    pub(crate) allocations: u64,
    pub(crate) frames: u64,
    /// Only known of this crate and of the limit.
    #[serde(default)]
    pub(crate) encoder_calls: Option<u64>,
    #[serde(default)]
    pub(crate) flushes: Option<u64>,
}

/// What one way to do the work of a story costs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) story: String,
    pub(crate) workload: String,
    pub(crate) codec: String,
    pub(crate) variant: String,
    /// CPU time of writing, which includes encoding; the median.
    pub(crate) write_ns: f64,
    /// CPU time of reading, which includes decoding, where it was measured.
    pub(crate) read_ns: Option<f64>,
    pub(crate) bytes: u64,
    pub(crate) allocations: u64,
    /// Messages a second by the clock on the wall, where threads worked side by side.
    pub(crate) per_second: Option<f64>,
}

/// What one server did with one body, over all rounds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) server: String,
    pub(crate) body: String,
    pub(crate) coded_bytes: u64,
    pub(crate) requests: u64,
    pub(crate) cpu_seconds: f64,
    /// Of each round; the median counts.
    pub(crate) requests_per_cpu_second: Vec<f64>,
    /// The least of all rounds, in microseconds.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) errors: u64,
}

/// What so many idle streams hold together.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) contender: String,
    pub(crate) streams: usize,
    pub(crate) bytes: u64,
}
