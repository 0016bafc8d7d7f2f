//! What the figures must reach. Bounds are never loosened to pass; what is missed is explained in
//! `docs/benchmarks.md`.

use super::coding::{Coding, GZIP, ZSTD};
use super::contenders::{Case, DRAIN, LIMIT, OURS, Shape, TOWER_HTTP};
use super::figures::Figure;
use super::measure::{Measured, by_round};
use super::rows::Row;

/// The bounds of one size: for gzip, and for zstd.
type Bounds = [(&'static str, f64, f64)];

/// Whole bodies, against the limit.
const WHOLE: &Bounds = &[
    ("402B", 1.3, 1.3),
    ("1.6K", 1.15, 1.15),
    ("26K", 1.05, 1.05),
    ("416K", 1.05, 1.05),
    ("10M", 1.05, 1.05),
];

/// Whole bodies: how many times less CPU than tower-http.
const WHOLE_TOWER_HTTP: &Bounds = &[("402B", 1.3, 5.0), ("1.6K", 1.5, 3.0), ("26K", 1.5, 3.0)];

/// Tiny frames, net of what producing them costs, against the limit.
const TINY: &Bounds = &[("26K", 1.4, 1.6), ("416K", 1.4, 1.6)];

/// Tiny frames, net on both sides: how many times less CPU than tower-http.
const TINY_TOWER_HTTP: &Bounds = &[("26K", 7.0, 9.0), ("416K", 5.0, 6.0)];

/// Output, against the limit's.
const OUTPUT: f64 = 1.01;

/// Allocations of a whole small body.
const ALLOCATIONS: f64 = 4.0;

/// The figures of one case that there are bounds for.
pub(crate) fn of_case(workload: &str, case: &Case, measured: &[Measured], figures: &mut Vec<Figure>) {
    let Some(size) = workload.strip_prefix("json/").and_then(|rest| rest.strip_suffix(case.shape.suffix()))
    else {
        return;
    };
    let find = |name: &str| measured.iter().find(|measured| measured.name == name);
    let (Some(limit), Some(floor), Some(ours)) = (find(LIMIT), find(DRAIN), find(OURS)) else { return };
    let Some(peer) = find(TOWER_HTTP) else { return };
    let name = |what: &str| format!("{workload} {}: {what}", case.coding.label);
    let bound = |bounds: &Bounds| bound(bounds, size, case.coding);
    match case.shape {
        Shape::Whole => {
            if let Some(bound) = bound(WHOLE) {
                let ratio = by_round(&[ours, limit], |times| times[0] / times[1]);
                figures.push(Figure::at_most(name("CPU / limit"), ratio, "ratio", bound));
            }
            if let Some(bound) = bound(WHOLE_TOWER_HTTP) {
                let ratio = by_round(&[peer, ours], |times| times[0] / times[1]);
                figures.push(Figure::at_least(name("tower-http / CPU"), ratio, "ratio", bound));
                let allocations = ours.allocations as f64;
                figures.push(Figure::at_most(name("allocations"), allocations, "count", ALLOCATIONS));
            }
        }
        Shape::Tiny => {
            if let Some(bound) = bound(TINY) {
                let ratio = by_round(&[ours, floor, limit], |times| (times[0] - times[1]) / times[2]);
                figures.push(Figure::at_most(name("net CPU / limit"), ratio, "ratio", bound));
            }
            if let Some(bound) = bound(TINY_TOWER_HTTP) {
                let ratio =
                    by_round(&[peer, ours, floor], |times| (times[0] - times[2]) / (times[1] - times[2]));
                figures.push(Figure::at_least(name("net tower-http / net CPU"), ratio, "ratio", bound));
            }
        }
    }
}

/// The figures that all rows together give.
pub(crate) fn of_all(rows: &[Row], figures: &mut Vec<Figure>) {
    for ours in rows.iter().filter(|row| row.variant == OURS) {
        let mut same = rows.iter().filter(|row| row.workload == ours.workload && row.codec == ours.codec);
        let Some(limit) = same.find(|row| row.variant == LIMIT) else { continue };
        let name = format!("{} {}: bytes out / limit", ours.workload, ours.codec);
        let ratio = ours.bytes_out as f64 / limit.bytes_out as f64;
        figures.push(Figure::at_most(name, ratio, "ratio", OUTPUT));
    }
}

fn bound(bounds: &Bounds, size: &str, coding: Coding) -> Option<f64> {
    let (_, gzip, zstd) = bounds.iter().find(|(of, ..)| *of == size)?;
    match coding {
        GZIP => Some(*gzip),
        ZSTD => Some(*zstd),
        _ => None,
    }
}
