//! Where and with what it was measured.

use std::fs;
use std::process::Command;

/// What a reader must know to compare: the processor, the compiler, and what was compared with.
const PACKAGES: [&str; 9] =
    ["flate2", "zlib-rs", "zstd", "zstd-sys", "brotli", "snap", "tower-http", "hyper", "axum"];

pub(crate) fn describe() -> String {
    let mut lines = vec![
        format!("- {}, {} cores, shared with other work; {} of memory", processor(), cores(), memory()),
        format!("- Linux {}, {}", said("uname", &["-r"]), said("rustc", &["--version"])),
        format!("- {}", packages()),
    ];
    let tools: Vec<String> = [("nginx", "-v"), ("caddy", "version"), ("wrk", "-v")]
        .iter()
        .filter_map(|(tool, option)| version(tool, option))
        .collect();
    if !tools.is_empty() {
        lines.push(format!("- {}", tools.join("; ")));
    }
    lines.push(format!("- Measured on {}", said("date", &["+%Y-%m-%d"])));
    lines.join("\n")
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn memory() -> String {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = text.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    format!("{} GiB", kibibytes.unwrap_or(0).div_ceil(1 << 20))
}

/// What the lock file chose.
fn packages() -> String {
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    let version = |name: &str| {
        let start = format!("name = \"{name}\"\nversion = \"");
        // Of several the last one is the newest, and this package's own.
        let after = lock.rsplit_once(&start)?.1;
        Some(format!("{name} {}", after.split('"').next()?))
    };
    PACKAGES.iter().filter_map(|name| version(name)).collect::<Vec<_>>().join(", ")
}

/// The first line that a program prints.
fn said(program: &str, arguments: &[&str]) -> String {
    version_of(program, arguments).unwrap_or_else(|| format!("{program} unknown"))
}

fn version(tool: &str, option: &str) -> Option<String> {
    let line = version_of(tool, &[option])?;
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    Some(if line.contains(tool) { words.join(" ") } else { format!("{tool} {}", words[0]) })
}

fn version_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8(text).ok()?.lines().next().map(|line| line.trim().to_owned())
}
