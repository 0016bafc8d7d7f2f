//! The rows of `target/tower-compress/compare.json`.

use super::contenders::{Case, LIMIT, OURS};
use super::figures;
use super::measure::Measured;
pub(crate) use super::results::Compared as Row;
use std::fs;

impl Row {
    pub(crate) fn all(workload: &str, case: &Case, measured: &[Measured]) -> Vec<Self> {
        let row = |measured: &Measured| {
            let calls = match measured.name {
                OURS => Some(case.calls()),
                LIMIT => Some((1, 0)),
                _ => None,
            };
            Self {
                workload: workload.to_owned(),
                codec: case.coding.label.to_owned(),
                variant: measured.name.to_owned(),
                cpu_ns: measured.cpu(),
                cpu_least_ns: measured.least(),
                spread: measured.spread(),
                bytes_in: case.writes.bytes.len() as u64,
                writes: case.writes.count() as u64,
                bytes_out: measured.output.bytes,
                allocations: measured.allocations,
                frames: measured.output.frames,
                encoder_calls: calls.map(|calls| calls.0),
                flushes: calls.map(|calls| calls.1),
            }
        };
        measured.iter().map(row).collect()
    }

    fn is_of(&self, other: &Self) -> bool {
        (&self.workload, &self.codec, &self.variant) == (&other.workload, &other.codec, &other.variant)
    }
}

/// Prints rows that were measured side by side.
pub(crate) fn print(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    println!("\n{} {} ({} bytes, {} writes)", first.workload, first.codec, first.bytes_in, first.writes);
    println!(
        "  {:28} {:>11} {:>11} {:>7} {:>8} {:>9} {:>7} {:>6} {:>6} {:>7}",
        "variant",
        "cpu us",
        "least",
        "spread",
        "/ limit",
        "bytes out",
        "allocs",
        "frames",
        "calls",
        "flushes"
    );
    let limit = rows.iter().find(|row| row.variant == LIMIT).map_or(f64::NAN, |row| row.cpu_ns);
    let known = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    for row in rows {
        println!(
            "  {:28} {:>11.2} {:>11.2} {:>6.1}% {:>8.3} {:>9} {:>7} {:>6} {:>6} {:>7}",
            row.variant,
            row.cpu_ns / 1e3,
            row.cpu_least_ns / 1e3,
            row.spread * 100.0,
            row.cpu_ns / limit,
            row.bytes_out,
            row.allocations,
            row.frames,
            known(row.encoder_calls),
            known(row.flushes)
        );
    }
}

/// Writes the rows. Those of a part of the workloads replace what was measured of them before.
pub(crate) fn save(mut rows: Vec<Row>, everything: bool) {
    if !everything {
        let before = fs::read(figures::folder().join("compare.json")).ok();
        let before: Vec<Row> = before.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let kept: Vec<_> = before.into_iter().filter(|old| !rows.iter().any(|new| new.is_of(old))).collect();
        rows.splice(0..0, kept);
    }
    figures::save("compare", &rows);
}
