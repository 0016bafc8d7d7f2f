//! The rows of `target/tower-compress/stories.json`.

use super::figures;
use super::measure::Measured;
pub(crate) use super::results::Told as Row;
use std::fs;

impl Row {
    pub(crate) fn new(story: &str, workload: &str, codec: &str, measured: &Measured) -> Self {
        Self {
            story: story.to_owned(),
            workload: workload.to_owned(),
            codec: codec.to_owned(),
            variant: measured.name.to_owned(),
            write_ns: measured.cpu(),
            read_ns: None,
            bytes: measured.output.bytes,
            allocations: measured.allocations,
            per_second: None,
        }
    }
}

pub(crate) fn print(rows: &[Row]) {
    let mut last = None;
    for row in rows {
        let workload = (&row.workload, &row.codec);
        if last != Some(workload) {
            println!("\n{} {}", row.workload, row.codec);
            println!(
                "  {:34} {:>12} {:>12} {:>10} {:>8} {:>10}",
                "variant", "write us", "read us", "bytes", "allocs", "per second"
            );
        }
        last = Some(workload);
        let microseconds = |nanoseconds: f64| format!("{:.2}", nanoseconds / 1e3);
        println!(
            "  {:34} {:>12} {:>12} {:>10} {:>8} {:>10}",
            row.variant,
            microseconds(row.write_ns),
            row.read_ns.map_or_else(String::new, microseconds),
            row.bytes,
            row.allocations,
            row.per_second.map_or_else(String::new, |rate| format!("{rate:.0}"))
        );
    }
}

/// Writes the rows; those of other stories stay.
pub(crate) fn save(mut rows: Vec<Row>) {
    let before = fs::read(figures::folder().join("stories.json")).ok();
    let before: Vec<Row> = before.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let kept: Vec<_> =
        before.into_iter().filter(|old| rows.iter().all(|new| new.story != old.story)).collect();
    rows.splice(0..0, kept);
    figures::save("stories", &rows);
}
