//! Line and scatter plots as SVG, drawn by hand: a few hundred bytes of text per curve and nothing to depend on.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// A plot: curves over two axes, a legend beside them.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

/// One axis: what it shows and how it is spaced.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    label: String,
    scale: Scale,
    write: fn(f64) -> String,
    /// The least range that is shown, widened by the data.
    range: Option<(f64, f64)>,
}

/// How an axis is spaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Logarithmic, with a tick at each power of the base.
    Log(f64),
}

/// One curve, or one cloud of points.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    /// One for each point, or none.
    labels: Vec<String>,
    line: bool,
    dashed: bool,
    heavy: bool,
}

impl Plot {
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    /// Adds a series. Colours follow the order of adding.
    pub(crate) fn add(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Writes the plot to a file, making its folder if need be.
    pub(crate) fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, self.svg())
    }

    /// The plot as a complete SVG document.
    pub(crate) fn svg(&self) -> String {
        let x = self.x.placed(self.points().map(|point| point.0), LEFT, RIGHT);
        let y = self.y.placed(self.points().map(|point| point.1), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
        );
        text(&mut svg, (LEFT, 24.0), "font-size=\"15\" font-weight=\"bold\"", &self.title);
        self.axes(&mut svg, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            series.draw(&mut svg, COLOURS[index % COLOURS.len()], &x, &y);
            series.legend(&mut svg, COLOURS[index % COLOURS.len()], TOP + 8.0 + 20.0 * index as f64);
        }
        svg += "</svg>\n";
        svg
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.series.iter().flat_map(|series| series.points.iter().copied())
    }

    fn axes(&self, svg: &mut String, x: &Placed, y: &Placed) {
        for tick in x.ticks() {
            let at = x.place(tick);
            line(svg, (at, BOTTOM), (at, TOP), GRID);
            text(svg, (at, BOTTOM + 18.0), "text-anchor=\"middle\"", &(self.x.write)(tick));
        }
        for tick in y.ticks() {
            let at = y.place(tick);
            line(svg, (LEFT, at), (RIGHT, at), GRID);
            text(svg, (LEFT - 8.0, at + 4.0), "text-anchor=\"end\"", &(self.y.write)(tick));
        }
        let middle = f64::midpoint(LEFT, RIGHT);
        text(svg, (middle, HEIGHT - 14.0), "text-anchor=\"middle\"", &self.x.label);
        let middle = f64::midpoint(TOP, BOTTOM);
        let turned = format!("text-anchor=\"middle\" transform=\"rotate(-90 16 {middle})\"");
        text(svg, (16.0, middle), &turned, &self.y.label);
    }
}

impl Axis {
    pub(crate) fn new(label: impl Into<String>, scale: Scale, write: fn(f64) -> String) -> Self {
        Self { label: label.into(), scale, write, range: None }
    }

    /// Shows at least this range, whatever the data.
    pub(crate) fn showing(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    fn placed(&self, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Placed {
        let shown = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let known = self.range.map(|(low, high)| [low, high]);
        let (mut low, mut high) = values
            .filter(shown)
            .chain(known.into_iter().flatten())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (1.0, 2.0);
        }
        match self.scale {
            Scale::Linear => {
                let step = step(high - low);
                (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
                if low == high {
                    high = low + step;
                }
            }
            Scale::Log(base) if low == high => high = low * base,
            Scale::Log(_) => {}
        }
        Placed { scale: self.scale, low, high, start, end }
    }
}

/// An axis with its range and its place in the picture.
#[derive(Debug)]
struct Placed {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Placed {
    fn place(&self, value: f64) -> f64 {
        let part = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log(_) => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.start + part * (self.end - self.start)
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = step(self.high - self.low);
                let count = ((self.high - self.low) / step).round() as usize;
                (0..=count).map(|tick| self.low + tick as f64 * step).collect()
            }
            Scale::Log(base) => {
                // A hair's breadth, so that a range's own ends are not lost to rounding.
                let first = ((self.low.ln() / base.ln()) - 1e-9).ceil() as i32;
                let last = ((self.high.ln() / base.ln()) + 1e-9).floor() as i32;
                (first..=last).map(|power| base.powi(power)).collect()
            }
        }
    }
}

/// A round distance that cuts `range` into four to ten.
fn step(range: f64) -> f64 {
    if range <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf((range / 4.0).log10().floor());
    let rounds = [5.0, 2.0, 1.0];
    rounds.into_iter().map(|round| round * power).find(|step| range / step >= 4.0).unwrap_or(power)
}

impl Series {
    /// A curve through these points.
    pub(crate) fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, labels: Vec::new(), line: true, dashed: false, heavy: false }
    }

    /// Points on their own, each with its label.
    pub(crate) fn scatter(name: impl Into<String>, points: Vec<((f64, f64), String)>) -> Self {
        let (points, labels) = points.into_iter().unzip();
        Self { name: name.into(), points, labels, line: false, dashed: false, heavy: false }
    }

    /// Names each point of a curve.
    pub(crate) fn labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Draws the curve dashed.
    pub(crate) fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }

    /// Draws the curve thick, so that it stands out.
    pub(crate) fn heavy(mut self) -> Self {
        self.heavy = true;
        self
    }

    fn draw(&self, svg: &mut String, colour: &str, x: &Placed, y: &Placed) {
        let placed: Vec<_> = self.points.iter().map(|&(across, up)| (x.place(across), y.place(up))).collect();
        if self.line {
            let path: String = placed.iter().fold(String::new(), |mut path, (across, up)| {
                write!(path, "{across:.1},{up:.1} ").expect("a string takes all");
                path
            });
            let style = self.style(colour);
            writeln!(svg, "<polyline fill=\"none\" {style} points=\"{}\"/>", path.trim_end())
                .expect("a string takes all");
        }
        for (index, (across, up)) in placed.iter().enumerate() {
            writeln!(svg, "<circle cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"3\" fill=\"{colour}\"/>")
                .expect("a string takes all");
            if let Some(label) = self.labels.get(index) {
                text(svg, (across + 5.0, up - 5.0), &format!("font-size=\"10\" fill=\"{colour}\""), label);
            }
        }
    }

    fn legend(&self, svg: &mut String, colour: &str, at: f64) {
        if self.line {
            line(svg, (RIGHT + 14.0, at), (RIGHT + 38.0, at), &self.style(colour));
        }
        writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{at:.1}\" r=\"3\" fill=\"{colour}\"/>", RIGHT + 26.0)
            .expect("a string takes all");
        text(svg, (RIGHT + 44.0, at + 4.0), "", &self.name);
    }

    fn style(&self, colour: &str) -> String {
        let width = if self.heavy { 3.0 } else { 1.5 };
        let dashes = if self.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        format!("stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}")
    }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
        from.0, from.1, to.0, to.1
    )
    .expect("a string takes all");
}

fn text(svg: &mut String, at: (f64, f64), style: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" {style}>{text}</text>", at.0, at.1)
        .expect("a string takes all");
}

/// A plain number, with as many decimals as it needs.
pub(crate) fn number(value: f64) -> String {
    let decimals = if value.fract().abs() < 1e-9 || value.abs() >= 100.0 { 0 } else { 2 };
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A number of bytes in binary units.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        ..1024.0 => format!("{} B", number(value)),
        ..1_048_576.0 => format!("{} KiB", number(value / 1024.0)),
        _ => format!("{} MiB", number(value / 1_048_576.0)),
    }
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 400.0;

const GRID: &str = "stroke=\"#e3e3e3\"";

/// Colours that also the colour-blind can tell apart (Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"];
