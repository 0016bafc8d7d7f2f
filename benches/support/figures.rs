//! Figures against their bounds: printed, written for machines, and judged.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// One figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) figure: String,
    pub(crate) value: f64,
    pub(crate) unit: Cow<'static, str>,
    /// Such as `<= 1.05`.
    pub(crate) bound: String,
    pub(crate) holds: bool,
}

impl Figure {
    pub(crate) fn at_most(figure: impl Into<String>, value: f64, unit: &'static str, bound: f64) -> Self {
        Self {
            figure: figure.into(),
            value,
            unit: unit.into(),
            bound: format!("<= {bound}"),
            holds: value <= bound,
        }
    }

    pub(crate) fn at_least(figure: impl Into<String>, value: f64, unit: &'static str, bound: f64) -> Self {
        Self {
            figure: figure.into(),
            value,
            unit: unit.into(),
            bound: format!(">= {bound}"),
            holds: value >= bound,
        }
    }
}

/// Prints the figures, writes them to `target/tower-compress/<bench>.json`, and fails if a bound does not hold
/// and `check` is asked for.
pub(crate) fn conclude(bench: &str, figures: &[Figure], check: bool) -> ExitCode {
    save(bench, figures);
    judge(figures, check)
}

/// The same without writing: for a part of a bench, whose figures must not stand for all.
pub(crate) fn judge(figures: &[Figure], check: bool) -> ExitCode {
    println!("\n{:72} {:>9} {:8} {:10}", "figure", "value", "unit", "bound");
    for Figure { figure, value, unit, bound, holds } in figures {
        let verdict = if *holds { "holds" } else { "MISSED" };
        println!("{figure:72} {value:>9.3} {unit:8} {bound:10} {verdict}");
    }
    let missed = figures.iter().filter(|figure| !figure.holds).count();
    println!("{} of {} bounds hold", figures.len() - missed, figures.len());
    if check && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Writes `rows` to `target/tower-compress/<name>.json`.
pub(crate) fn save(name: &str, rows: &(impl Serialize + ?Sized)) {
    let path = folder().join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(rows).expect("rows are plain data");
    fs::create_dir_all(folder())
        .and_then(|()| fs::write(&path, text + "\n"))
        .expect("the target folder is writable");
}

/// Where results go.
pub(crate) fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    target.join("tower-compress")
}
