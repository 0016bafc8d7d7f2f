//! The rows of `target/tower-compress/load.json`.

pub(crate) use super::results::Loaded as Row;
use super::wrk::Run;

impl Row {
    /// The row of this server and body, new if need be.
    pub(crate) fn find<'a>(rows: &'a mut Vec<Self>, server: &str, body: &str) -> &'a mut Self {
        let found = rows.iter().position(|row| row.server == server && row.body == body);
        let index = found.unwrap_or_else(|| {
            rows.push(Self {
                server: server.to_owned(),
                body: body.to_owned(),
                coded_bytes: 0,
                requests: 0,
                cpu_seconds: 0.0,
                requests_per_cpu_second: Vec::new(),
                p50_us: f64::INFINITY,
                p99_us: f64::INFINITY,
                errors: 0,
            });
            rows.len() - 1
        });
        &mut rows[index]
    }

    pub(crate) fn add(&mut self, run: &Run, cpu_seconds: f64, coded_bytes: u64) {
        self.coded_bytes = coded_bytes;
        self.requests += run.requests;
        self.cpu_seconds += cpu_seconds;
        self.requests_per_cpu_second.push(run.requests as f64 / cpu_seconds);
        self.p50_us = self.p50_us.min(run.p50_us);
        self.p99_us = self.p99_us.min(run.p99_us);
        self.errors += run.errors;
    }

    /// The median of the rounds.
    pub(crate) fn per_cpu_second(&self) -> f64 {
        let mut rounds = self.requests_per_cpu_second.clone();
        rounds.sort_by(f64::total_cmp);
        rounds.get(rounds.len() / 2).copied().unwrap_or(0.0)
    }
}

pub(crate) fn print(rows: &[Row]) {
    println!(
        "{:12} {:16} {:>12} {:>10} {:>10} {:>12} {:>8}",
        "body", "server", "req/CPU s", "p50 us", "p99 us", "coded bytes", "errors"
    );
    for row in rows {
        println!(
            "{:12} {:16} {:>12.0} {:>10.0} {:>10.0} {:>12} {:>8}",
            row.body,
            row.server,
            row.per_cpu_second(),
            row.p50_us,
            row.p99_us,
            row.coded_bytes,
            row.errors
        );
    }
}
