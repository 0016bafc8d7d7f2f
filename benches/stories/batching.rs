//! The first story: JAXB wrote XML straight into a `GZIPOutputStream`, and 24 ms became 400; on the server's side
//! and on the client's.
//!
//! Here a serializer writes the same orders as XML and as JSON; what differs is what stands between it and gzip
//! at level 6. The time includes the serializer's, which is the first line.

use super::drain::{block_on, drain};
use super::measure::{Contender, Output, interleave};
use super::orders::{Format, Orders, orders};
use super::row::Row;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use std::convert::Infallible;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;
use tower::{Layer, Service, service_fn};
use tower_compress::codec::{Codec, by_name};
use tower_compress::{
    BoxError, CompressionLayer, CompressionLevel, RequestCompressionLayer, WriterBody, WriterOptions,
};

pub(crate) fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for format in [Format::Xml, Format::Json] {
        for (size, count) in [("1.6K", 4), ("26K", 64), ("416K", 1024)] {
            let work = Work { format, orders: Arc::new(orders(count)) };
            for (side, mut contenders) in [("server", work.server()), ("client", work.client())] {
                let measured = interleave(&mut contenders, Duration::from_millis(100));
                let workload = format!("{side}/{}/{size}", format.name());
                rows.extend(measured.iter().map(|row| Row::new("batching", &workload, "gzip-6", row)));
            }
        }
    }
    rows
}

/// What is serialized, and how.
#[derive(Clone)]
struct Work {
    format: Format,
    orders: Arc<Orders>,
}

impl Work {
    fn server(&self) -> Vec<Contender> {
        let layer = CompressionLayer::new();
        let (streamed, whole) = (layer.clone(), layer);
        let mut contenders = self.without_this_crate();
        contenders.extend([
            self.contender("this crate's writer", |work| {
                let mut writer = WriterOptions::new().coding(gzip(), CompressionLevel::Default).whole();
                work.write(&mut writer);
                drain(writer.finish().expect("memory takes it")).bytes
            }),
            self.contender("BodyWriter under the layer", move |work| respond(&streamed, work.written())),
            self.contender("into memory, under the layer", move |work| respond(&whole, work.in_memory())),
        ]);
        contenders
    }

    fn client(&self) -> Vec<Contender> {
        let layer = RequestCompressionLayer::new().coding("gzip");
        let (streamed, whole) = (layer.clone(), layer);
        let mut contenders = self.without_this_crate();
        contenders.extend([
            self.contender("BodyWriter under the layer", move |work| request(&streamed, work.written())),
            self.contender("into memory, under the layer", move |work| request(&whole, work.in_memory())),
        ]);
        contenders
    }

    /// The same on both sides.
    fn without_this_crate(&self) -> Vec<Contender> {
        vec![
            self.contender("serializer alone", |work| {
                let mut bytes = 0;
                work.write(&mut Count(&mut bytes));
                bytes
            }),
            self.contender("straight into the encoder", |work| {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
                work.write(&mut encoder);
                encoder.finish().expect("memory takes it").len() as u64
            }),
            self.contender("8 KiB BufWriter ahead of it", |work| {
                let encoder = GzEncoder::new(Vec::new(), Compression::new(6));
                let mut buffered = BufWriter::with_capacity(8 * 1024, encoder);
                work.write(&mut buffered);
                let encoder = buffered.into_inner().expect("memory takes it");
                encoder.finish().expect("memory takes it").len() as u64
            }),
        ]
    }

    fn contender(&self, name: &'static str, through: impl Fn(&Self) -> u64 + 'static) -> Contender {
        let work = self.clone();
        Contender::new(name, move || Output { bytes: through(&work), frames: 1 })
    }

    fn write(&self, output: &mut dyn Write) {
        self.format.write(&self.orders, output).expect("memory takes it");
    }

    /// A body that is written into.
    fn written(&self) -> WriterBody {
        // All of it may wait: the reader comes afterwards, on the same thread.
        let (mut writer, body) = WriterOptions::new().capacity(64 << 20).channel();
        self.write(&mut writer);
        writer.finish().expect("the body is there");
        body
    }

    fn in_memory(&self) -> Full<Bytes> {
        let mut body = Vec::new();
        self.write(&mut body);
        Full::new(Bytes::from(body))
    }
}

fn respond<B>(layer: &CompressionLayer, body: B) -> u64
where
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<BoxError>,
{
    let mut body = Some(body);
    let mut service = layer.layer(service_fn(move |_: Request<()>| {
        let mut response = Response::new(body.take().expect("it is asked once"));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        std::future::ready(Ok::<_, Infallible>(response))
    }));
    let mut request = Request::new(());
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    match block_on(service.call(request)) {
        Ok(response) => drain(response.into_body()).bytes,
        Err(never) => match never {},
    }
}

fn request<B>(layer: &RequestCompressionLayer, body: B) -> u64
where
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<BoxError>,
{
    let mut client = layer.layer(service_fn(|request: Request<_>| {
        std::future::ready(Ok::<_, Infallible>(Response::new(drain(request.into_body()).bytes)))
    }));
    let mut request = Request::post("http://localhost/orders").body(body).expect("a valid request");
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match block_on(client.call(request)) {
        Ok(response) => response.into_body(),
        Err(never) => match never {},
    }
}

fn gzip() -> &'static dyn Codec {
    by_name("gzip").expect("gzip is compiled in")
}

/// Counts what is written.
struct Count<'a>(&'a mut u64);

impl Write for Count<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
