//! The servers, each with one worker.

use axum::Router;
use axum::extract::{Path as Name, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use bytes::Bytes;
use std::collections::HashMap;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    TowerCompress,
    TowerHttp,
    Nginx,
    Caddy,
    /// axum with no layer: what the other two of its kind cost without compression.
    Uncoded,
}

/// A server at work; it ends when this is dropped.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) port: u16,
    process: Child,
}

impl Server {
    pub(crate) const ALL: [Self; 5] =
        [Self::TowerCompress, Self::TowerHttp, Self::Nginx, Self::Caddy, Self::Uncoded];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TowerCompress => "tower-compress",
            Self::TowerHttp => "tower-http",
            Self::Nginx => "nginx",
            Self::Caddy => "caddy",
            Self::Uncoded => "axum uncoded",
        }
    }

    /// Starts it on a port of its own, serving the files of `folder`.
    pub(crate) fn start(self, folder: &Path) -> Running {
        let port = 18_080 + self as u16;
        let mut command = match self {
            Self::TowerCompress | Self::TowerHttp | Self::Uncoded => {
                let mut command = Command::new(std::env::current_exe().expect("this binary"));
                command.args(["serve", self.name(), &port.to_string()]).arg(folder);
                command
            }
            Self::Nginx => {
                let file = folder.join("nginx.conf");
                fs::write(&file, nginx(port, folder)).expect("the target folder is writable");
                let mut command = Command::new("nginx");
                command.arg("-c").arg(file);
                command
            }
            Self::Caddy => {
                let file = folder.join("Caddyfile");
                fs::write(&file, caddy(port, folder)).expect("the target folder is writable");
                let mut command = Command::new("caddy");
                command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
                command.env("GOMAXPROCS", "1").env("HOME", folder);
                command
            }
        };
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is installed");
        let running = Running { server: self, port, process };
        running.wait();
        running
    }
}

impl Running {
    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "{} does not listen", self.server.name());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// CPU seconds of the process and of those that it started.
    pub(crate) fn cpu(&self) -> f64 {
        let root = self.process.id();
        let all: Vec<_> = fs::read_dir("/proc")
            .expect("a Linux")
            .flatten()
            .filter_map(|entry| stat(&entry.path()))
            .collect();
        let ticks = all.iter().filter(|stat| stat.id == root || stat.parent == root).map(|stat| stat.ticks);
        ticks.sum::<u64>() as f64 / TICKS_PER_SECOND
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Workers end with their master, if that is asked politely.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

/// `USER_HZ`, which is 100 on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

struct Stat {
    id: u32,
    parent: u32,
    ticks: u64,
}

/// What `/proc/<id>/stat` says.
fn stat(process: &Path) -> Option<Stat> {
    let id = process.file_name()?.to_str()?.parse().ok()?;
    let text = fs::read_to_string(process.join("stat")).ok()?;
    // The name before may have spaces; behind its bracket come the state and the parent.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
    Some(Stat { id, parent: u32::try_from(number(1)?).ok()?, ticks: number(11)? + number(12)? })
}

pub(crate) fn is_installed(tool: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/usr/local/bin"].iter().any(|folder| Path::new(folder).join(tool).exists())
}

/// Serves `folder` from memory with axum, until it is killed.
pub(crate) fn serve(kind: &str, port: u16, folder: &Path) {
    let read = |name: &str| Bytes::from(fs::read(folder.join(name)).expect("the driver wrote it"));
    let bodies: HashMap<String, Bytes> =
        super::BODIES.iter().map(|(name, _)| ((*name).to_owned(), read(name))).collect();
    let router = Router::new().route("/{name}", axum::routing::get(body)).with_state(Arc::new(bodies));
    let router = match kind {
        "tower-compress" => {
            let level = tower_compress::CompressionLevel::Precise(6);
            router.layer(tower_compress::CompressionLayer::new().min_size(0).quality(level))
        }
        "tower-http" => {
            let level = tower_http::CompressionLevel::Precise(6);
            router.layer(tower_http::compression::CompressionLayer::new().quality(level))
        }
        _ => router,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
        // As nginx and caddy do. Without it a large answer waits for a delayed acknowledgement, 40 ms.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a TCP stream"));
        axum::serve(listener, router).await.expect("it serves until it is killed");
    });
}

async fn body(Name(name): Name<String>, State(bodies): State<Arc<HashMap<String, Bytes>>>) -> Response {
    match bodies.get(&name) {
        Some(body) => ([(CONTENT_TYPE, "application/json")], body.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn nginx(port: u16, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  types {{ application/json json; }}
  open_file_cache max=16;
  keepalive_requests 1000000000;
  gzip on;
  gzip_comp_level 6;
  gzip_min_length 0;
  gzip_types application/json;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"
    )
}

fn caddy(port: u16, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "{{
  admin off
  auto_https off
}}
http://127.0.0.1:{port} {{
  root * {folder}
  encode {{
    gzip 6
    minimum_length 1
    match {{
      header Content-Type application/json*
    }}
  }}
  file_server
}}
"
    )
}
