//! What the package of peers measures. One binary has one flate2 backend, so they need another one.

use super::rows::Row;
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// The peers' rows; of those whose build fails here, none.
pub(crate) fn run() -> Vec<Row> {
    [&[][..], &["--no-default-features"]].into_iter().flat_map(run_with).collect()
}

fn run_with(features: &[&str]) -> Vec<Row> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--manifest-path"])
        .arg(manifest)
        .args(features)
        // The bench's own folder may be locked by the cargo that runs it.
        .env_remove("CARGO_TARGET_DIR")
        .stderr(Stdio::inherit())
        .output();
    let rows = output.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok());
    rows.unwrap_or_else(|| {
        eprintln!("the peers do not build here with {features:?}: their rows are left out");
        Vec::new()
    })
}
