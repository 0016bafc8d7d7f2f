//! What the benches left behind.

use crate::figures;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;

/// A row of the bench `compare`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Compared {
    pub(crate) workload: String,
    pub(crate) codec: String,
    pub(crate) variant: String,
    pub(crate) cpu_ns: f64,
    pub(crate) spread: f64,
    pub(crate) bytes_in: u64,
    pub(crate) writes: u64,
    pub(crate) bytes_out: u64,
    pub(crate) allocations: u64,
    pub(crate) frames: u64,
    pub(crate) encoder_calls: Option<u64>,
}

/// A row of the bench `stories`.
#[derive(Debug, Deserialize)]
pub(crate) struct Told {
    pub(crate) story: String,
    pub(crate) workload: String,
    pub(crate) codec: String,
    pub(crate) variant: String,
    pub(crate) write_ns: f64,
    pub(crate) read_ns: Option<f64>,
    pub(crate) bytes: u64,
    pub(crate) allocations: u64,
    pub(crate) per_second: Option<f64>,
}

/// A row of the bench `load`.
#[derive(Debug, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) server: String,
    pub(crate) body: String,
    pub(crate) coded_bytes: u64,
    pub(crate) requests_per_cpu_second: Vec<f64>,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

/// What so many idle streams hold together.
#[derive(Debug, Deserialize)]
pub(crate) struct Held {
    pub(crate) contender: String,
    pub(crate) streams: u64,
    pub(crate) bytes: u64,
}

/// A figure with its bound.
#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    pub(crate) figure: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    pub(crate) bound: String,
    pub(crate) holds: bool,
}

/// The files of figures, and the commands that make them.
pub(crate) const FIGURES: [(&str, &str); 6] = [
    ("compare-bounds", "cargo bench --bench compare"),
    ("streams", "cargo bench --bench streams"),
    ("writer", "cargo bench --bench writer"),
    ("decode", "cargo bench --bench decode"),
    ("adaptive", "cargo bench --bench adaptive"),
    ("load-bounds", "benches/load.sh"),
];

/// The rows of `<name>.json`; if there are none, the command that makes them.
pub(crate) fn rows<R: DeserializeOwned>(name: &str, command: &str) -> Result<Vec<R>, String> {
    let text = fs::read(figures::folder().join(format!("{name}.json"))).map_err(|_| command.to_owned())?;
    let rows: Vec<R> = serde_json::from_slice(&text).map_err(|_| command.to_owned())?;
    if rows.is_empty() { Err(command.to_owned()) } else { Ok(rows) }
}

pub(crate) fn compared() -> Result<Vec<Compared>, String> {
    rows("compare", "cargo bench --bench compare")
}

/// The CPU nanoseconds of one variant, if it was measured there.
pub(crate) fn cpu(rows: &[Compared], workload: &str, codec: &str, variant: &str) -> Option<f64> {
    find(rows, workload, codec, variant).map(|row| row.cpu_ns)
}

pub(crate) fn find<'a>(
    rows: &'a [Compared],
    workload: &str,
    codec: &str,
    variant: &str,
) -> Option<&'a Compared> {
    rows.iter().find(|row| (&*row.workload, &*row.codec, &*row.variant) == (workload, codec, variant))
}
