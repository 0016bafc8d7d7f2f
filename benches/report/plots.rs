//! The plots, under `docs/`.

use crate::plot::{self, Axis, Plot, Scale, Series};
use crate::reading::{compared, cpu, rows};
use crate::results::{Compared, Held};
use crate::tables::{DRAIN, LIMIT, OURS, SIZES, TOWER_HTTP};
use std::path::Path;

/// Draws a plot, or takes what another bench has drawn, and returns the Markdown that shows it.
pub(crate) fn draw(name: &str) -> Result<String, String> {
    let plot = match name {
        "cpu-by-size" => by_size(&compared()?),
        "cpu-by-frame" => by_frame(&compared()?),
        "memory-by-streams" => by_streams(&rows("streams-memory", "cargo bench --bench streams")?),
        drawn => {
            let there = Path::new("docs").join(drawn).with_extension("svg").exists();
            return if there { Ok(shown(drawn)) } else { Err("cargo bench --bench adaptive".into()) };
        }
    };
    plot.save(format!("docs/{name}.svg")).expect("docs is writable");
    Ok(shown(name))
}

fn shown(name: &str) -> String {
    format!("![{}]({name}.svg)", name.replace('-', " "))
}

/// CPU time against body size, in a serializer's writes and whole.
fn by_size(all: &[Compared]) -> Plot {
    let x = Axis::new("bytes of JSON", Scale::Log(4.0), plot::bytes);
    let y = Axis::new("CPU time / limit, net of the producer's", Scale::Log(2.0), plot::number);
    let mut plot =
        Plot::new("CPU time by body size, against one call on the whole body", x, y.showing(1.0, 16.0));
    for codec in ["gzip-6", "zstd-3"] {
        for variant in [OURS, TOWER_HTTP] {
            for shape in ["tiny", "whole"] {
                let points = SIZES.iter().filter_map(|size| {
                    let workload = format!("json/{size}/{shape}");
                    let bytes = all.iter().find(|row| row.workload == workload)?.bytes_in;
                    Some((bytes as f64, net(all, &workload, codec, variant)?))
                });
                let shape_name = if shape == "tiny" { "in writes" } else { "whole" };
                let curve = Series::line(format!("{variant}, {codec}, {shape_name}"), points.collect());
                plot.add(styled(curve, variant, shape == "whole"));
            }
        }
    }
    plot
}

/// CPU time against frame size.
fn by_frame(all: &[Compared]) -> Plot {
    let x = Axis::new("bytes in a frame", Scale::Log(4.0), plot::bytes);
    let y = Axis::new("CPU time / limit, net of the producer's", Scale::Log(2.0), plot::number);
    let mut plot = Plot::new("CPU time by frame size, 392 KB of JSON", x, y.showing(1.0, 4.0));
    for codec in ["gzip-6", "zstd-3"] {
        for variant in [OURS, TOWER_HTTP] {
            let mut points: Vec<_> = all
                .iter()
                .filter(|row| (&*row.codec, &*row.variant) == (codec, variant))
                .filter_map(|row| {
                    let bytes: f64 = row.workload.strip_prefix("json/416K/frames-")?.parse().ok()?;
                    Some((bytes, net(all, &row.workload, codec, variant)?))
                })
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            plot.add(styled(Series::line(format!("{variant}, {codec}"), points), variant, false));
        }
    }
    plot
}

/// Less what producing the frames costs, against the limit.
fn net(all: &[Compared], workload: &str, codec: &str, variant: &str) -> Option<f64> {
    let of = |variant| cpu(all, workload, codec, variant);
    Some((of(variant)? - of(DRAIN)?) / of(LIMIT)?)
}

fn styled(curve: Series, variant: &str, dashed: bool) -> Series {
    let curve = if variant == OURS { curve.heavy() } else { curve };
    if dashed { curve.dashed() } else { curve }
}

/// Memory against idle streams.
fn by_streams(all: &[Held]) -> Plot {
    let x = Axis::new("idle event streams", Scale::Log(10.0), plot::number);
    let y = Axis::new("resident memory of all", Scale::Log(4.0), plot::bytes);
    let mut plot = Plot::new("Memory of idle event streams", x, y);
    let mut names: Vec<&str> = Vec::new();
    all.iter().for_each(|row| {
        if !names.contains(&&*row.contender) {
            names.push(&row.contender);
        }
    });
    for name in names {
        let of = all.iter().filter(|row| row.contender == name);
        let mut points: Vec<_> = of.map(|row| (row.streams as f64, row.bytes as f64)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ours = !name.starts_with("tower-http") && name != "no layer";
        let shown = if ours { format!("tower-compress, {name}") } else { name.to_owned() };
        let curve = Series::line(shown, points);
        plot.add(if ours { curve.heavy() } else { curve });
    }
    plot
}
