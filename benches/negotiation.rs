//! What reading `Accept-Encoding` costs, in instructions: `cargo bench --bench negotiation [-- --check]`.
//!
//! The bench runs itself under callgrind, which counts the instructions spent inside `negotiate` while requests
//! go through a layer. The same count comes out at every run, whatever else the machine does. Allocations are
//! instructions too, and callgrind names their functions, so that not one can hide.

use http::header::ACCEPT_ENCODING;
use http::{Request, Response};
use std::collections::HashSet;
use std::convert::Infallible;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use tower::{Layer, Service, service_fn};
use tower_compress::CompressionLayer;

/// What browsers send, and the bound that goes with it: instructions for one field.
const BROWSER: &str = "gzip, deflate, br, zstd";
const BOUND: u64 = 1000;

/// Other fields, for comparison: without a bound.
const OTHERS: &[&str] =
    &["", "gzip", "*", "identity", "gzip;q=0.5, zstd;q=0.8, *;q=0", "br;q=1.0, gzip;q=0.8, *;q=0.1"];

/// Requests per run: enough that what happens once does not show.
const REQUESTS: u64 = 1000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--requests", accept] => {
            send(accept);
            ExitCode::SUCCESS
        }
        _ => report(arguments.iter().any(|argument| argument == "--check")),
    }
}

/// What callgrind looks at.
fn send(accept: &str) {
    let service = service_fn(|_: Request<()>| async { Ok::<_, Infallible>(Response::new(String::new())) });
    let mut service = CompressionLayer::new().layer(service);
    for _ in 0..REQUESTS {
        let request = Request::get("/").header(ACCEPT_ENCODING, accept).body(()).expect("a valid request");
        drop(black_box(service.call(request)));
    }
}

fn report(check: bool) -> ExitCode {
    let mut lines = Vec::new();
    for accept in [BROWSER].iter().chain(OTHERS) {
        let Some(Count { instructions, allocations }) = count(accept) else {
            eprintln!("valgrind is needed for this bench");
            return if check { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        };
        println!("{instructions:>6} instructions, {allocations} allocations: `{accept}`");
        if *accept == BROWSER {
            lines.push(line(accept, "instructions", instructions, BOUND));
            lines.push(line(accept, "allocations", allocations, 0));
        }
    }
    let holds = lines.iter().all(|line| line.contains("\"holds\":true"));
    println!(
        "bound for `{BROWSER}`: under {BOUND} instructions, no allocation: {}",
        if holds { "holds" } else { "MISSED" }
    );
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tower-compress");
    let written = std::fs::create_dir_all(directory).and_then(|()| {
        std::fs::write(format!("{directory}/negotiation.json"), format!("[{}]\n", lines.join(",")))
    });
    if let Err(error) = written {
        eprintln!("{directory}: {error}");
    }
    if check && !holds { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn line(accept: &str, unit: &str, value: u64, bound: u64) -> String {
    let holds = value < bound || value == 0;
    format!(
        "{{\"figure\":\"negotiation of {accept}\",\"value\":{value},\"unit\":\"{unit}\",\"bound\":{bound},\"holds\":{holds}}}"
    )
}

struct Count {
    instructions: u64,
    allocations: u64,
}

/// One run under callgrind. `None` if there is none.
fn count(accept: &str) -> Option<Count> {
    let profile = std::env::temp_dir().join(format!("negotiation.{}.out", std::process::id()));
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*policy::accept::negotiate*"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(std::env::current_exe().ok()?)
        .args(["--requests", accept])
        .output()
        .ok()?;
    let told = String::from_utf8_lossy(&run.stderr);
    let collected =
        told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<u64>().ok())?;
    let functions = std::fs::read_to_string(&profile).ok()?;
    let _ = std::fs::remove_file(&profile);
    Some(Count { instructions: collected / REQUESTS, allocations: allocations(&functions) })
}

/// Calls of the allocator in a profile, per request. A function's name stands only where its number is first used.
fn allocations(profile: &str) -> u64 {
    let mut allocators = HashSet::new();
    let mut callee = "";
    let mut calls = 0;
    for line in profile.lines() {
        if let Some(function) = line.strip_prefix("cfn=").or_else(|| line.strip_prefix("fn=")) {
            let (number, name) = function.split_once(' ').unwrap_or((function, ""));
            if name.contains("alloc") {
                allocators.insert(number);
            }
            callee = number;
        } else if let Some(count) = line.strip_prefix("calls=") {
            let count = count.split(' ').next().and_then(|count| count.parse::<u64>().ok());
            calls += count.filter(|_| allocators.contains(callee)).unwrap_or(0);
        }
    }
    calls.div_ceil(REQUESTS)
}
