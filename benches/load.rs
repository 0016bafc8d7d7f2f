//! Servers under load over loopback: axum with this crate, axum with tower-http, nginx and caddy.
//!
//! `benches/load.sh` installs what is missing and runs it; without nginx, caddy or wrk it says so and ends. All
//! serve the same bodies over HTTP/1.1 with gzip at level 6, each with one worker thread, to the same load
//! generator. What counts is the CPU time of the server: the machine is too busy with the load generator for
//! the rate alone to mean much.

#[path = "support/figures.rs"]
#[allow(dead_code)]
mod figures;
#[path = "support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "support/random.rs"]
mod random;
#[path = "support/results.rs"]
#[allow(dead_code, reason = "shared with the other benches")]
mod results;
#[path = "load/row.rs"]
mod row;
#[path = "load/servers.rs"]
mod servers;
#[path = "load/wrk.rs"]
mod wrk;

use figures::Figure;
use orders::{Format, orders};
use row::Row;
use servers::{Running, Server};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

/// The bodies, by the names of their files, in orders.
const BODIES: [(&str, usize); 4] =
    [("402B.json", 1), ("1.6K.json", 4), ("26K.json", 64), ("416K.json", 1024)];

/// Sizes that the bound is about.
const BOUNDED: [&str; 3] = ["402B.json", "1.6K.json", "26K.json"];

/// Rounds, in which the servers take turns.
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [serve, kind, port, folder] = &args[..] {
        if serve == "serve" {
            servers::serve(kind, port.parse().expect("a port"), folder.as_ref());
            return ExitCode::SUCCESS;
        }
    }
    let seconds = args.iter().skip_while(|arg| *arg != "--seconds").nth(1);
    let seconds: u32 = seconds.map_or(3, |seconds| seconds.parse().expect("a number of seconds"));
    if let Some(missing) = ["nginx", "caddy", "wrk"].into_iter().find(|tool| !servers::is_installed(tool)) {
        eprintln!("{missing} is not installed: run benches/load.sh");
        return ExitCode::SUCCESS;
    }
    let folder = write_bodies();
    let rows = measure(&folder, seconds);
    row::print(&rows);
    figures::save("load", &rows);
    figures::conclude("load-bounds", &bounds(&rows), args.iter().any(|arg| arg == "--check"))
}

fn write_bodies() -> PathBuf {
    let folder = figures::folder().join("load");
    fs::create_dir_all(&folder).expect("the target folder is writable");
    for (name, count) in BODIES {
        let mut body = Vec::new();
        Format::Json.write(&orders(count), &mut body).expect("memory takes it");
        fs::write(folder.join(name), body).expect("the target folder is writable");
    }
    folder.canonicalize().expect("it was just made")
}

fn measure(folder: &std::path::Path, seconds: u32) -> Vec<Row> {
    let running: Vec<Running> = Server::ALL.into_iter().map(|server| server.start(folder)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (body, _) in BODIES {
        for _ in 0..ROUNDS {
            for server in &running {
                let url = format!("http://127.0.0.1:{}/{body}", server.port);
                let before = server.cpu();
                let run = wrk::run(&url, seconds);
                let cpu = server.cpu() - before;
                let row = Row::find(&mut rows, server.server.name(), body);
                row.add(&run, cpu, wrk::body_length(&url, server.server != Server::Uncoded));
            }
        }
    }
    rows
}

fn is_rival(server: &str) -> bool {
    ![Server::TowerCompress.name(), Server::Uncoded.name()].contains(&server)
}

/// More requests for each second of CPU than every other server, for bodies up to 26 KB.
fn bounds(rows: &[Row]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for ours in rows.iter().filter(|row| row.server == Server::TowerCompress.name()) {
        let others = rows.iter().filter(|row| row.body == ours.body && is_rival(&row.server));
        for other in others.filter(|row| BOUNDED.contains(&row.body.as_str())) {
            let name = format!("{}: requests per CPU second, against {}", ours.body, other.server);
            figures.push(Figure::at_least(
                name,
                ours.per_cpu_second() / other.per_cpu_second(),
                "ratio",
                1.0,
            ));
        }
    }
    figures
}
