//! Seven kinds of text that servers send, seeded: the same bytes at every run.

use super::orders::{Format, Orders, orders};
use super::random::Random;
use std::fmt::Write as _;

/// A kind of body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Ndjson,
    Html,
    Csv,
    Xml,
    Protobuf,
    Logs,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] =
        [Self::Json, Self::Ndjson, Self::Html, Self::Csv, Self::Xml, Self::Protobuf, Self::Logs];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Xml => "xml",
            Self::Protobuf => "protobuf",
            Self::Logs => "logs",
        }
    }

    /// A body of this kind of at least `length` bytes, ending where an order or a line does.
    pub(crate) fn body(self, length: usize) -> Vec<u8> {
        if self == Self::Logs {
            return logs(length);
        }
        // An order is 150 to 600 bytes, so a few steps find the number.
        let mut count = length.div_ceil(600).max(1);
        loop {
            let body = self.write(&orders(count));
            if body.len() >= length {
                return body;
            }
            count += ((length - body.len()) * count / body.len()).max(1);
        }
    }

    fn write(self, orders: &Orders) -> Vec<u8> {
        let mut body = Vec::new();
        let format = match self {
            Self::Json => Format::Json,
            Self::Html => Format::Html,
            Self::Xml => Format::Xml,
            Self::Protobuf => Format::Protobuf,
            Self::Ndjson => return ndjson(orders),
            Self::Csv => return csv(orders),
            Self::Logs => return logs(0),
        };
        format.write(orders, &mut body).expect("memory takes every write");
        body
    }
}

/// One order to a line.
fn ndjson(orders: &Orders) -> Vec<u8> {
    let mut body = Vec::new();
    for order in &orders.order {
        serde_json::to_writer(&mut body, order).expect("memory takes every write");
        body.push(b'\n');
    }
    body
}

/// One line of an order to a row.
fn csv(orders: &Orders) -> Vec<u8> {
    let mut text = String::from("id,placed,customer,city,status,sku,product,quantity,cents\n");
    for order in &orders.order {
        for line in &order.lines {
            writeln!(
                text,
                "{},{},{},{},{},{},{},{},{}",
                order.id,
                order.placed,
                order.customer,
                order.city,
                order.status,
                line.sku,
                line.product,
                line.quantity,
                line.cents
            )
            .expect("a string takes all");
        }
    }
    text.into_bytes()
}

/// A service's log: requests with their ids, addresses and times.
fn logs(length: usize) -> Vec<u8> {
    const TARGETS: [&str; 4] = ["http.server", "orders.store", "payment.client", "cache"];
    const EVENTS: [&str; 4] =
        ["request finished", "row written", "retrying after timeout", "entry evicted, refilling"];
    let mut random = Random(77);
    let mut text = String::new();
    let mut milliseconds = 0;
    while text.len() < length {
        milliseconds += random.below(900);
        let (seconds, part) = (milliseconds / 1000, milliseconds % 1000);
        let which = random.below(EVENTS.len());
        writeln!(
            text,
            "2024-05-16T{:02}:{:02}:{:02}.{part:03}Z {} {}: {} request_id={:016x} peer=10.0.{}.{} status={} took={}us",
            seconds / 3600 % 24,
            seconds / 60 % 60,
            seconds % 60,
            random.pick(&["INFO", "INFO", "INFO", "DEBUG", "WARN"]),
            TARGETS[which],
            EVENTS[which],
            random.next(),
            random.below(8),
            random.below(256),
            random.pick(&["200", "200", "200", "201", "304", "404", "500"]),
            random.below(90_000),
        )
        .expect("a string takes all");
    }
    text.into_bytes()
}
