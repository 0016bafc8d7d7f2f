//! The tables, as Markdown.

use crate::figures::Figure;
use crate::plot;
use crate::reading::{FIGURES, compared, cpu, find, rows};
use crate::results::{Compared, Held, Loaded, Told};
use std::fmt::Write as _;

pub(crate) const SIZES: [&str; 5] = ["402B", "1.6K", "26K", "416K", "10M"];
pub(crate) const LIMIT: &str = "limit";
pub(crate) const DRAIN: &str = "drain";
pub(crate) const OURS: &str = "tower-compress";
pub(crate) const TOWER_HTTP: &str = "tower-http";

/// A table; numbers stand to the right.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|", head.join(" | "));
    head.iter().enumerate().for_each(|(index, _)| text += if index == 0 { "---|" } else { "--:|" });
    for row in rows {
        write!(text, "\n| {} |", row.join(" | ")).expect("a string takes all");
    }
    text
}

/// Microseconds, with three digits at least.
fn micros(nanoseconds: f64) -> String {
    match nanoseconds / 1e3 {
        small if small < 10.0 => format!("{small:.2}"),
        middling if middling < 1000.0 => format!("{middling:.1}"),
        large => grouped(large.round() as u64),
    }
}

fn ratio(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// With a comma for every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whole bodies in one coding: the limit, this crate, tower-http.
pub(crate) fn whole(codec: &str) -> Result<String, String> {
    let all = compared()?;
    let row = |size: &str| {
        let workload = format!("json/{size}/whole");
        let of = |variant| find(&all, &workload, codec, variant);
        let (limit, ours, peer) = (of(LIMIT)?, of(OURS)?, of(TOWER_HTTP)?);
        Some(vec![
            grouped(ours.bytes_in),
            micros(limit.cpu_ns),
            micros(ours.cpu_ns),
            micros(peer.cpu_ns),
            ratio(ours.cpu_ns / limit.cpu_ns),
            ratio(peer.cpu_ns / ours.cpu_ns),
            ratio(peer.cpu_ns / limit.cpu_ns),
            format!("{:+.2} %", (ours.bytes_out as f64 / limit.bytes_out as f64 - 1.0) * 100.0),
            format!("{} / {}", ours.allocations, peer.allocations),
            format!("±{:.0} %", ours.spread * 100.0),
        ])
    };
    let head = [
        "bytes",
        "limit, us",
        "tower-compress, us",
        "tower-http, us",
        "ours / limit",
        "tower-http / ours",
        "tower-http / limit",
        "output / limit",
        "allocations, ours / tower-http",
        "spread",
    ];
    Ok(table(&head, SIZES.iter().filter_map(|size| row(size))))
}

/// Bodies in a serializer's writes, in one coding; net of what producing the frames costs.
pub(crate) fn tiny(codec: &str) -> Result<String, String> {
    let all = compared()?;
    let row = |size: &str| {
        let workload = format!("json/{size}/tiny");
        let of = |variant| find(&all, &workload, codec, variant);
        let (limit, drain, ours, peer) = (of(LIMIT)?, of(DRAIN)?, of(OURS)?, of(TOWER_HTTP)?);
        let net = |row: &Compared| row.cpu_ns - drain.cpu_ns;
        let of = |variant| cpu(&all, &workload, codec, variant).map_or_else(String::new, micros);
        Some(vec![
            grouped(ours.bytes_in),
            grouped(ours.writes),
            micros(limit.cpu_ns),
            micros(drain.cpu_ns),
            micros(net(ours)),
            micros(net(peer)),
            ratio(net(ours) / limit.cpu_ns),
            ratio(net(peer) / net(ours)),
            of("tower-compress writer"),
            of("BufWriter 8 KiB"),
            of("writes into an encoder"),
            ours.encoder_calls.map_or_else(String::new, grouped),
        ])
    };
    let head = [
        "bytes",
        "frames",
        "limit, us",
        "drain, us",
        "tower-compress, net us",
        "tower-http, net us",
        "ours / limit",
        "tower-http / ours",
        "our writer, us",
        "BufWriter ahead, us",
        "encoder alone, us",
        "our encoder calls",
    ];
    Ok(table(&head, SIZES.iter().filter_map(|size| row(size))))
}

/// Other formats and codings: this crate against the limit and against tower-http, whole.
pub(crate) fn others(size: &str) -> Result<String, String> {
    let all = compared()?;
    let mut lines = Vec::new();
    for format in ["json", "html", "xml", "protobuf"] {
        for codec in ["gzip-6", "deflate-6", "zstd-3", "brotli-4", "snappy-framed"] {
            let workload = format!("{format}/{size}/whole");
            let of = |variant| find(&all, &workload, codec, variant);
            let (Some(limit), Some(ours)) = (of(LIMIT), of(OURS)) else { continue };
            let peer = of(TOWER_HTTP).map_or_else(|| "-".into(), |peer| ratio(peer.cpu_ns / ours.cpu_ns));
            lines.push(vec![
                format!("{format}, {codec}"),
                grouped(ours.bytes_in),
                grouped(ours.bytes_out),
                micros(ours.cpu_ns),
                ratio(ours.cpu_ns / limit.cpu_ns),
                peer,
                grouped(ours.frames),
            ]);
        }
    }
    let head =
        ["body", "bytes", "coded", "tower-compress, us", "ours / limit", "tower-http / ours", "frames"];
    Ok(table(&head, lines))
}

/// What the package of peers measured, by the names that it gives its variants: a layer, and what draining costs
/// with the same kind of body.
const PEERS: [(&str, &str, &str); 5] = [
    ("tower-compress", "tower-compress (together)", "drain (together)"),
    ("tower-http on zlib-rs", "tower-http (together)", "drain (together)"),
    ("tower-http on miniz_oxide, its default", "tower-http (miniz)", "drain (miniz)"),
    ("http-response-compression", "http-response-compression (together)", "drain (together)"),
    ("http_compression", "http_compression (together)", "drain (http_extensions) (together)"),
];

pub(crate) fn peers() -> Result<String, String> {
    let all = compared()?;
    let first = PEERS[0].1;
    let lines: Vec<_> = all
        .iter()
        .filter(|row| row.variant == first)
        .map(|ours| {
            let of = |variant| cpu(&all, &ours.workload, &ours.codec, variant);
            let net = |variant, drain| Some(micros(of(variant)? - of(drain)?));
            let nets = PEERS.map(|(_, variant, drain)| net(variant, drain).unwrap_or_else(|| "-".into()));
            std::iter::once(format!("{}, {}", ours.workload, ours.codec)).chain(nets).collect()
        })
        .collect();
    if lines.is_empty() {
        return Err("cargo bench --bench compare".into());
    }
    let head: Vec<_> = std::iter::once("net CPU, us").chain(PEERS.map(|(name, ..)| name)).collect();
    Ok(table(&head, lines))
}

/// All figures of one bench.
pub(crate) fn figures(bench: &str) -> Result<String, String> {
    let (_, command) =
        FIGURES.iter().find(|(name, _)| *name == bench).expect("the template knows the benches");
    let all: Vec<Figure> = rows(bench, command)?;
    let lines = all.into_iter().map(|figure| {
        let verdict = if figure.holds { "holds" } else { "**missed**" };
        let value = format!("{} {}", three_digits(figure.value), unit(&figure.unit));
        vec![figure.figure, value.trim_end().to_owned(), figure.bound, verdict.to_owned()]
    });
    Ok(table(&["figure", "measured", "bound", ""], lines))
}

/// Three decimals, where they count.
fn three_digits(value: f64) -> String {
    if value.abs() >= 100.0 || value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    format!("{value:.3}").trim_end_matches('0').to_owned()
}

/// Ratios and counts speak for themselves.
fn unit(unit: &str) -> &str {
    if ["ratio", "x", "count"].contains(&unit) { "" } else { unit }
}

/// The bounds that do not hold, of all benches, and how many do.
pub(crate) fn missed() -> Result<String, String> {
    let mut text = String::new();
    for (bench, command) in FIGURES {
        let Ok(all) = rows::<Figure>(bench, command) else {
            writeln!(text, "- `{command}`: not measured yet").expect("a string takes all");
            continue;
        };
        let (held, missed): (Vec<_>, Vec<_>) = all.iter().partition(|figure| figure.holds);
        writeln!(text, "- `{command}`: {} of {} hold", held.len(), all.len()).expect("a string takes all");
        for figure in missed {
            let value = three_digits(figure.value);
            writeln!(text, "  - {}: {value}, bound {}", figure.figure, figure.bound)
                .expect("a string takes all");
        }
    }
    Ok(text.trim_end().to_owned())
}

/// One of the four stories.
pub(crate) fn story(name: &str) -> Result<String, String> {
    let command = format!("cargo bench --bench stories -- {name}");
    let all: Vec<Told> = rows("stories", &command)?;
    let mut lines = Vec::new();
    for row in all.iter().filter(|row| row.story == name) {
        lines.push(vec![
            format!("{}, {}", row.workload, row.codec),
            row.variant.clone(),
            micros(row.write_ns),
            row.read_ns.map_or_else(|| "-".into(), micros),
            grouped(row.bytes),
            grouped(row.allocations),
            row.per_second.map_or_else(|| "-".into(), |rate| grouped(rate as u64)),
        ]);
    }
    if lines.is_empty() {
        return Err(command);
    }
    Ok(table(&["workload", "way", "write, us", "read, us", "bytes", "allocations", "per second"], lines))
}

/// Servers under load.
pub(crate) fn load() -> Result<String, String> {
    let all: Vec<Loaded> = rows("load", "benches/load.sh")?;
    let lines = all.iter().map(|row| {
        let mut rounds = row.requests_per_cpu_second.clone();
        rounds.sort_by(f64::total_cmp);
        let (least, most) = (rounds[0], rounds[rounds.len() - 1]);
        vec![
            row.body.clone(),
            row.server.clone(),
            grouped(rounds[rounds.len() / 2] as u64),
            format!("{} to {}", grouped(least as u64), grouped(most as u64)),
            grouped(row.p50_us as u64),
            grouped(row.p99_us as u64),
            grouped(row.coded_bytes),
        ]
    });
    let head = ["body", "server", "requests a CPU second", "over the rounds", "p50, us", "p99, us", "coded"];
    Ok(table(&head, lines))
}

/// What idle streams hold.
pub(crate) fn memory() -> Result<String, String> {
    let all: Vec<Held> = rows("streams-memory", "cargo bench --bench streams")?;
    let lines = all.iter().map(|row| {
        vec![
            row.contender.clone(),
            grouped(row.streams as u64),
            plot::bytes((row.bytes as f64 / row.streams as f64).round()),
            plot::bytes(row.bytes as f64),
        ]
    });
    Ok(table(&["layer", "idle streams", "memory each", "of all"], lines))
}
