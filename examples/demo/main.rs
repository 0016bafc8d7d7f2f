//! A server to try compression on. Its data is what `cargo metadata` says of this project.
//!
//! ```sh
//! cargo run --release --example demo                          # serves on 127.0.0.1:3000
//! cargo run --release --example demo -- --addr 127.0.0.1:8080
//! cargo run --release --example demo -- --once                # fetches everything itself, checks it, and ends
//! ```

mod meter;
mod once;
mod packages;
mod server;

use std::process::ExitCode;
use std::{env, io};
use tokio::net::TcpListener;

const USAGE: &str = "usage: demo [--addr HOST:PORT] [--once]";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let arguments = Arguments::read(env::args().skip(1))?;
    if arguments.help {
        println!("{USAGE}");
        return Ok(());
    }
    let address = arguments.address.as_deref().unwrap_or(if arguments.once { ANY_PORT } else { DEFAULT });
    let listener = listen(address).await?;
    let demo = server::Demo::new(packages::load()?, listener.local_addr()?);
    if arguments.once {
        return once::run(demo, listener).await;
    }
    println!("http://{} says what to try; Ctrl-C ends it.", demo.address());
    Ok(demo.serve(listener).await?)
}

const DEFAULT: &str = "127.0.0.1:3000";
const ANY_PORT: &str = "127.0.0.1:0";

async fn listen(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "something listens there already; another port will do: --addr 127.0.0.1:3001"
            }
            io::ErrorKind::PermissionDenied => {
                "ports below 1024 are the administrator's: --addr 127.0.0.1:3001"
            }
            _ => "--addr takes a host of this machine and a port, such as 127.0.0.1:3001",
        };
        format!("cannot listen on {address}: {error}\n{hint}").into()
    })
}

#[derive(Default)]
struct Arguments {
    address: Option<String>,
    once: bool,
    help: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut arguments = Self::default();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--once" => arguments.once = true,
                "--help" | "-h" => arguments.help = true,
                "--addr" => {
                    arguments.address = Some(words.next().ok_or("--addr needs a host and a port after it")?);
                }
                other => return Err(format!("what is {other:?}?\n{USAGE}").into()),
            }
        }
        Ok(arguments)
    }
}
