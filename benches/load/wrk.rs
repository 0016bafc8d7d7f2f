//! The load generator, and what it says.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// What one run saw.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) requests: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Answers other than 2xx and 3xx, and broken connections.
    pub(crate) errors: u64,
}

/// One thread with 32 connections, each with one request at a time.
pub(crate) fn run(url: &str, seconds: u32) -> Run {
    let output = Command::new("wrk")
        .args(["-t1", "-c32", &format!("-d{seconds}s"), "--latency", "-H", "Accept-Encoding: gzip", url])
        .output()
        .expect("wrk is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    parse(&text).unwrap_or_else(|| panic!("wrk said: {text}"))
}

fn parse(text: &str) -> Option<Run> {
    let lines = || text.lines().map(str::trim);
    let after = |start: &str| lines().find_map(|line| line.strip_prefix(start)).map(str::trim);
    let requests = lines().find(|line| line.contains(" requests in "))?.split(' ').next()?.parse().ok()?;
    let errors = after("Non-2xx or 3xx responses:").and_then(|count| count.parse().ok()).unwrap_or(0)
        + u64::from(after("Socket errors:").is_some());
    Some(Run { requests, p50_us: microseconds(after("50%")?)?, p99_us: microseconds(after("99%")?)?, errors })
}

/// `1.25ms`, `310.00us` or `1.02s`.
fn microseconds(text: &str) -> Option<f64> {
    let (number, factor) = if let Some(number) = text.strip_suffix("us") {
        (number, 1.0)
    } else if let Some(number) = text.strip_suffix("ms") {
        (number, 1e3)
    } else {
        (text.strip_suffix('s')?, 1e6)
    };
    number.parse::<f64>().ok().map(|number| number * factor)
}

/// The length of the body as it was sent. Panics if it is not gzip, where it should be.
pub(crate) fn body_length(url: &str, coded: bool) -> u64 {
    let rest = url.strip_prefix("http://").expect("an HTTP URL");
    let (address, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let head = format!("GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    stream.write_all((head + "Accept-Encoding: gzip\r\n\r\n").as_bytes()).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server answers");
    let split = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
    let head = String::from_utf8_lossy(&answer[..split]).to_ascii_lowercase();
    assert_eq!(head.contains("content-encoding: gzip"), coded, "{url}: {head}");
    let body = &answer[split..];
    if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.len() as u64 }
}

fn unchunked(mut body: &[u8]) -> u64 {
    let mut length = 0;
    while let Some(end) = body.windows(2).position(|bytes| bytes == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).ok().and_then(|size| u64::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        length += size;
        body = &body[end + 2 + size as usize + 2..];
    }
    length
}
