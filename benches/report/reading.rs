//! What the benches left behind.

use crate::figures;
use crate::results::Compared;
use serde::de::DeserializeOwned;
use std::fs;

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
