//! The demo's data: the packages that this project is built from, as cargo describes them.

use crate::Result;
use serde_json::Value;
use std::process::Command;
use std::{env, ffi::OsString};

/// Asks cargo, whatever directory this runs in, and without the network if there is none.
pub(crate) fn load() -> Result<Vec<Value>> {
    let metadata = metadata(&[]).or_else(|first| {
        let offline = metadata(&["--offline"]);
        // What other platforms need may never have been downloaded.
        offline.or_else(|_| metadata(&["--offline", "--filter-platform", &host()?])).map_err(|_| first)
    })?;
    match serde_json::from_slice::<Value>(&metadata)?["packages"].take() {
        Value::Array(packages) if !packages.is_empty() => Ok(packages),
        _ => Err("cargo metadata lists no packages".into()),
    }
}

fn metadata(arguments: &[&str]) -> Result<Vec<u8>> {
    const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    // Cargo says which cargo it is to what it runs.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(&cargo);
    command.args(["metadata", "--format-version", "1", "--manifest-path", MANIFEST]).args(arguments);
    run(command)
}

/// This machine's target triple.
fn host() -> Result<String> {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
    command.arg("-vV");
    let version = String::from_utf8(run(command)?)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say which machine this is")?.to_owned())
}

fn run(mut command: Command) -> Result<Vec<u8>> {
    let output =
        command.output().map_err(|error| format!("{:?} does not run: {error}", command.get_program()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{:?} failed ({}):\n{}", command.get_program(), output.status, said.trim_end()).into())
}
