//! Seeded orders, and the formats that servers write them in: the same bytes at every run.

use super::random::Random;
use prost::Message;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::io::{self, Write};

/// An order as an API would return it: 400 bytes of JSON in 150 writes.
#[derive(Clone, PartialEq, Serialize, Deserialize, Message)]
pub(crate) struct Order {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(string, tag = "2")]
    pub(crate) placed: String,
    #[prost(string, tag = "3")]
    pub(crate) customer: String,
    #[prost(string, tag = "4")]
    pub(crate) city: String,
    #[prost(string, tag = "5")]
    pub(crate) status: String,
    #[prost(message, repeated, tag = "6")]
    pub(crate) lines: Vec<Line>,
}

/// One line of an order.
#[derive(Clone, PartialEq, Serialize, Deserialize, Message)]
pub(crate) struct Line {
    #[prost(string, tag = "1")]
    pub(crate) sku: String,
    #[prost(string, tag = "2")]
    pub(crate) product: String,
    #[prost(uint32, tag = "3")]
    pub(crate) quantity: u32,
    #[prost(uint32, tag = "4")]
    pub(crate) cents: u32,
}

/// What a body of several orders is.
#[derive(Clone, PartialEq, Serialize, Deserialize, Message)]
pub(crate) struct Orders {
    #[prost(message, repeated, tag = "1")]
    pub(crate) order: Vec<Order>,
}

/// How orders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Html,
    Xml,
    Protobuf,
}

impl Format {
    pub(crate) const ALL: [Self; 4] = [Self::Json, Self::Html, Self::Xml, Self::Protobuf];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Html => "html",
            Self::Xml => "xml",
            Self::Protobuf => "protobuf",
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Html => "text/html; charset=utf-8",
            Self::Xml => "application/xml",
            Self::Protobuf => "application/x-protobuf",
        }
    }

    /// Writes the orders as the format's serializer does, with as many writes as that makes.
    pub(crate) fn write(self, orders: &Orders, output: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Json => serde_json::to_writer(output, &orders.order).map_err(io::Error::from),
            Self::Html => html(orders, output),
            Self::Xml => xml(orders, &mut quick_xml::Writer::new(output)),
            Self::Protobuf => {
                // Prost writes into memory only, so a stream of messages is the finest grain there is.
                let mut message = Vec::new();
                orders.order.iter().try_for_each(|order| {
                    message.clear();
                    order.encode_length_delimited(&mut message).map_err(io::Error::other)?;
                    output.write_all(&message)
                })
            }
        }
    }
}

/// A page with a table, written piece by piece as a template engine does.
fn html(orders: &Orders, output: &mut dyn Write) -> io::Result<()> {
    output.write_all(b"<!DOCTYPE html>\n<html><head><title>Orders</title></head>\n<body>\n<table>\n")?;
    for order in &orders.order {
        write!(
            output,
            "<tr class=\"order\" id=\"order-{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td><ul>",
            order.id, order.placed, order.customer, order.city, order.status
        )?;
        for line in &order.lines {
            let Line { sku, product, quantity, cents } = line;
            let (whole, part) = (cents / 100, cents % 100);
            write!(output, "<li title=\"{sku}\">{quantity} &times; {product}, {whole}.{part:02}</li>")?;
        }
        output.write_all(b"</ul></td></tr>\n")?;
    }
    output.write_all(b"</table>\n</body></html>\n")
}

/// Elements and text, event by event, as JAXB and other streaming writers do it.
fn xml(orders: &Orders, output: &mut quick_xml::Writer<&mut dyn Write>) -> io::Result<()> {
    element(output, "orders", |output| {
        orders.order.iter().try_for_each(|order| element(output, "order", |output| xml_order(order, output)))
    })
}

fn xml_order(order: &Order, output: &mut quick_xml::Writer<&mut dyn Write>) -> io::Result<()> {
    text(output, "id", &order.id.to_string())?;
    text(output, "placed", &order.placed)?;
    text(output, "customer", &order.customer)?;
    text(output, "city", &order.city)?;
    text(output, "status", &order.status)?;
    order.lines.iter().try_for_each(|line| {
        element(output, "lines", |output| {
            text(output, "sku", &line.sku)?;
            text(output, "product", &line.product)?;
            text(output, "quantity", &line.quantity.to_string())?;
            text(output, "cents", &line.cents.to_string())
        })
    })
}

fn text(output: &mut quick_xml::Writer<&mut dyn Write>, name: &str, text: &str) -> io::Result<()> {
    element(output, name, |output| output.write_event(Event::Text(BytesText::new(text))))
}

fn element<'a>(
    output: &mut quick_xml::Writer<&'a mut dyn Write>,
    name: &str,
    content: impl FnOnce(&mut quick_xml::Writer<&'a mut dyn Write>) -> io::Result<()>,
) -> io::Result<()> {
    output.write_event(Event::Start(BytesStart::new(name)))?;
    content(output)?;
    output.write_event(Event::End(BytesEnd::new(name)))
}

/// So many orders, always the same ones.
pub(crate) fn orders(count: usize) -> Orders {
    let mut random = Random(2024);
    Orders { order: (0..count).map(|_| order(&mut random)).collect() }
}

fn order(random: &mut Random) -> Order {
    let id = 1_000_000 + random.below(9_000_000) as u64;
    let mut placed = String::new();
    let (month, day, hour) = (1 + random.below(12), 1 + random.below(28), random.below(24));
    let (minute, second) = (random.below(60), random.below(60));
    write!(placed, "2024-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
        .expect("a string takes all");
    let customer = format!("{} {}", random.pick(&FIRST_NAMES), random.pick(&LAST_NAMES));
    let lines = (0..4).map(|_| line(random)).collect();
    Order {
        id,
        placed,
        customer,
        city: random.pick(&CITIES).into(),
        status: random.pick(&["open", "paid", "shipped", "returned"]).into(),
        lines,
    }
}

fn line(random: &mut Random) -> Line {
    Line {
        sku: format!("{}-{:04}", random.pick(&["KB", "MN", "CB", "LP", "CH", "DS"]), random.below(10_000)),
        product: random.pick(&PRODUCTS).into(),
        quantity: 1 + random.below(9) as u32,
        cents: 99 + random.below(100_000) as u32,
    }
}

const FIRST_NAMES: [&str; 8] = ["Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances", "Niklaus", "Radia"];
const LAST_NAMES: [&str; 8] =
    ["Lovelace", "Hopper", "Dijkstra", "Liskov", "Knuth", "Allen", "Wirth", "Perlman"];
const CITIES: [&str; 8] = ["Lisbon", "Oslo", "Nairobi", "Lima", "Kyoto", "Montreal", "Jakarta", "Ghent"];
const PRODUCTS: [&str; 8] =
    ["keyboard", "monitor arm", "usb cable", "desk lamp", "chair", "standing desk", "mouse", "headset"];
