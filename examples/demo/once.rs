//! `--once`: fetches everything over a real connection, in every coding, and checks it byte for byte.

use crate::server::Demo;
use crate::{Result, meter};
use libdeflater::Decompressor;
use reqwest::Client;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use serde_json::Value;
use tokio::net::TcpListener;

const CODINGS: [&str; 4] = ["identity", "gzip", "deflate", "zstd"];

/// The layer's default: what is smaller passes as it is.
const MIN_SIZE: usize = 1024;

/// Events to fetch: enough to see that they do not wait for one another.
const EVENTS: usize = 5;

pub(crate) async fn run(demo: Demo, listener: TcpListener) -> Result<()> {
    tokio::spawn(demo.clone().serve(listener));
    let client = Client::new();
    let targets = ["/", "/packages.json", "/packages.ndjson", &format!("/events?n={EVENTS}"), "/stats"];
    println!(
        "{:<16} {:<9} {:<9} {:>9} {:>9} {:>7} {:>7} {:>6} {:>7}",
        "", "asked", "came", "bytes in", "bytes out", "out/in", "pieces", "calls", "CPU ms"
    );
    let mut wrong = 0;
    for target in targets {
        for coding in CODINGS {
            wrong += u32::from(!fetch(&demo, &client, target, coding).await?);
        }
    }
    if wrong > 0 {
        return Err(format!("{wrong} of {} bodies were wrong", targets.len() * CODINGS.len()).into());
    }
    println!(
        "All {} bodies came back byte for byte; those below {MIN_SIZE} bytes pass as they are.\n\
         Pieces are what the handler wrote; calls and CPU time are the encoder's.",
        targets.len() * CODINGS.len()
    );
    Ok(())
}

/// Fetches one body, checks it, and prints its row. `false` if it is wrong.
async fn fetch(demo: &Demo, client: &Client, target: &str, coding: &str) -> Result<bool> {
    let (pieces, before) = (demo.pieces(), meter::reading());
    let url = format!("http://{}{target}", demo.address());
    let response = client.get(url).header(ACCEPT_ENCODING, coding).send().await?.error_for_status()?;
    let said =
        response.headers().get(CONTENT_ENCODING).map_or("identity", |value| value.to_str().unwrap_or("?"));
    let said = said.to_owned();
    let body = response.bytes().await?;
    let (pieces, after) = (demo.pieces() - pieces, meter::reading());

    let expected = expected(demo, target);
    let due = if expected.len() < MIN_SIZE { "identity" } else { coding };
    let verdict = match decode(&said, &body, expected.len()) {
        _ if said != due => format!("WRONG: {due} was due"),
        Err(error) => format!("WRONG: {error}"),
        Ok(decoded) if decoded != expected => "WRONG: other bytes came back".to_owned(),
        Ok(_) => String::new(),
    };
    println!(
        "{target:<16} {coding:<9} {said:<9} {:>9} {:>9} {:>6.1}% {pieces:>7} {:>6} {:>7.2} {verdict}",
        expected.len(),
        body.len(),
        100.0 * body.len() as f64 / expected.len() as f64,
        after.calls - before.calls,
        (after.cpu - before.cpu).as_secs_f64() * 1e3,
    );
    Ok(verdict.is_empty())
}

/// What the body must be, made without the server's handlers but for `/stats`, whose numbers move.
fn expected(demo: &Demo, target: &str) -> Vec<u8> {
    let packages = demo.packages().iter();
    let text = match target {
        "/" => demo.page(),
        "/packages.json" => Value::Array(demo.packages().to_vec()).to_string(),
        "/packages.ndjson" => packages.map(|package| format!("{package}\n")).collect(),
        "/stats" => demo.said(),
        _ => packages.cycle().take(EVENTS).map(|package| format!("data: {package}\n\n")).collect(),
    };
    text.into_bytes()
}

/// Decodes with libdeflate and with zstd's own decoder: what the encoder wrote, others must be able to read.
fn decode(coding: &str, coded: &[u8], length: usize) -> Result<Vec<u8>> {
    let mut decoded = vec![0; length];
    let found = match coding {
        "identity" => return Ok(coded.to_vec()),
        "gzip" => Decompressor::new().gzip_decompress(coded, &mut decoded)?,
        "deflate" => Decompressor::new().zlib_decompress(coded, &mut decoded)?,
        "zstd" => return Ok(zstd::stream::decode_all(coded)?),
        other => return Err(format!("no decoder for {other}").into()),
    };
    decoded.truncate(found);
    Ok(decoded)
}
