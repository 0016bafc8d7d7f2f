//! Writes `docs/benchmarks.md` and its plots from what the other benches left in `target/tower-compress`.
//!
//! ```text
//! cargo bench --bench report
//! ```
//!
//! The words are in `benches/report/benchmarks.md`; each `{{name}}` in it becomes a table, a plot or a list. What a
//! bench has not measured yet is named in its place, with the command that does.

#[path = "support/figures.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod figures;
#[path = "report/machine.rs"]
mod machine;
#[path = "support/plot.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod plot;
#[path = "report/plots.rs"]
mod plots;
#[path = "report/reading.rs"]
mod reading;
#[path = "support/results.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod results;
#[path = "report/tables.rs"]
mod tables;

use std::fs;
use std::process::ExitCode;

const TEMPLATE: &str = include_str!("report/benchmarks.md");
const REPORT: &str = "docs/benchmarks.md";

fn main() -> ExitCode {
    let mut report = String::new();
    let mut missing = Vec::new();
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("what is opened is closed");
        report += before;
        report += &part(name).unwrap_or_else(|command| {
            let text = format!("*Not measured yet: `{command}`*");
            missing.push(command);
            text
        });
        rest = after;
    }
    report += rest;
    fs::write(REPORT, report).expect("docs is writable");
    missing.iter().for_each(|command| println!("missing: {command}"));
    println!("{REPORT} is written");
    ExitCode::SUCCESS
}

/// What one name in the template stands for; if it was not measured, the command that does.
fn part(name: &str) -> Result<String, String> {
    let (kind, of) = name.split_once(' ').unwrap_or((name, ""));
    match kind {
        "machine" => Ok(machine::describe()),
        "whole" => tables::whole(of),
        "tiny" => tables::tiny(of),
        "others" => tables::others(of),
        "peers" => tables::peers(),
        "figures" => tables::figures(of),
        "missed" => tables::missed(),
        "story" => tables::story(of),
        "load" => tables::load(),
        "memory" => tables::memory(),
        "plot" => plots::draw(of),
        _ => panic!("the template asks for {name}"),
    }
}
