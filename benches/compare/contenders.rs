//! Everything that is measured on one workload.

use super::coding::Coding;
use super::drain::{block_on, drain};
use super::measure::{Contender, Output};
use super::writes::{Produced, Writes};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::Body;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::Write;
use std::rc::Rc;
use std::task::{Context, Poll};
use tower::{Layer, Service};
use tower_compress::codec::{Operation, Setup, by_name};
use tower_compress::{CompressionLayer, EncoderPool, WriterOptions};

/// How a body comes: in one frame that knows its size, or each write as a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Whole,
    Tiny,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Tiny => "tiny",
        }
    }

    /// The end of a workload's name.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "/whole",
            Self::Tiny => "/tiny",
        }
    }
}

/// One body, in one coding.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) writes: Writes,
    pub(crate) content_type: &'static str,
    pub(crate) shape: Shape,
    pub(crate) coding: Coding,
}

pub(crate) const LIMIT: &str = "limit";
pub(crate) const DRAIN: &str = "drain";
pub(crate) const OURS: &str = "tower-compress";
pub(crate) const WRITER: &str = "tower-compress writer";
pub(crate) const TOWER_HTTP: &str = "tower-http";

/// This crate's layer for a coding, with no minimum size.
pub(crate) fn layer(coding: Coding) -> CompressionLayer {
    let level = tower_compress::CompressionLevel::Precise(coding.level);
    let layer = CompressionLayer::new().min_size(0).quality(level);
    match coding.token {
        "br" => layer.br(true),
        "x-snappy-framed" => layer.snappy_framed(true),
        _ => layer,
    }
}

impl Case {
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        let mut contenders = vec![self.limit(), self.drain(), self.ours()];
        if self.coding.token != "x-snappy-framed" {
            contenders.push(self.tower_http());
        }
        match self.shape {
            Shape::Whole => contenders.push(self.in_slices()),
            Shape::Tiny => {
                contenders.push(self.writer());
                contenders.push(self.through_writer("writes into an encoder", 0));
                contenders.push(self.through_writer("BufWriter 8 KiB", 8 * 1024));
            }
        }
        contenders
    }

    /// Runs one contender alone, for a profiler.
    pub(crate) fn run(&self, name: &str, runs: u32) {
        let mut contenders = self.contenders();
        let contender = contenders.iter_mut().find(|contender| contender.name == name);
        let contender = contender.expect("a contender of this name");
        (0..runs).for_each(|_| contender.run(1));
    }

    fn limit(&self) -> Contender {
        let mut limit = self.coding.limit();
        let body = self.writes.bytes.clone();
        Contender::new(LIMIT, move || Output { bytes: limit(&body), frames: 1 })
    }

    /// The limit's encoder, with the input in the slices that a poll may encode at most: what a long body costs
    /// that must not hold up its thread.
    fn in_slices(&self) -> Contender {
        let codec = by_name(self.coding.token).expect("all codecs are compiled in");
        let level = codec.level(self.level());
        let body = self.writes.bytes.clone();
        let size = body.len() as u64;
        let setup = Setup { level, size_class: codec.size_class(Some(size)) };
        let mut encoder = codec.encoder(setup).expect("memory");
        let mut output = Vec::new();
        Contender::new("encoder in slices", move || {
            let (mut rest, mut bytes) = (&body[..], 0);
            encoder.pledge(size);
            while !rest.is_empty() {
                let (slice, after) = rest.split_at(rest.len().min(codec.turn(level)));
                let operation = if after.is_empty() { Operation::Finish } else { Operation::Encode };
                encoder.encode(slice, operation, &mut output).expect("there is room");
                bytes += output.len() as u64;
                output.clear();
                rest = after;
            }
            assert!(encoder.reset());
            Output { bytes, frames: 1 }
        })
    }

    fn level(&self) -> tower_compress::CompressionLevel {
        tower_compress::CompressionLevel::Precise(self.coding.level)
    }

    fn drain(&self) -> Contender {
        self.served(DRAIN, tower::layer::util::Identity::new(), None)
    }

    fn ours(&self) -> Contender {
        self.served(OURS, layer(self.coding), Some(self.coding.token))
    }

    fn tower_http(&self) -> Contender {
        let level = tower_http::CompressionLevel::Precise(self.coding.level);
        let layer = tower_http::compression::CompressionLayer::new().quality(level);
        self.served(TOWER_HTTP, layer, Some(self.coding.token))
    }

    /// The same writes into this crate's writer, and its body read to the end.
    fn writer(&self) -> Contender {
        let codec = by_name(self.coding.token).expect("all codecs are compiled in");
        let options = WriterOptions::new().coding(codec, self.level()).pool(EncoderPool::new());
        let writes = self.writes.clone();
        Contender::new(WRITER, move || {
            let mut writer = options.whole();
            for write in writes.iter() {
                writer.write_all(write).expect("memory takes every write");
            }
            drain(writer.finish().expect("memory takes every write"))
        })
    }

    fn through_writer(&self, name: &'static str, buffer: usize) -> Contender {
        let (writes, coding) = (self.writes.clone(), self.coding);
        Contender::new(name, move || {
            let bytes = coding.through_writer(writes.iter(), buffer).expect("memory takes every write");
            Output { bytes, frames: 1 }
        })
    }

    /// Responses of a service inside `layer`, read to their end. Their heads and the requests are there before.
    fn served<L, B>(&self, name: &'static str, layer: L, expected: Option<&'static str>) -> Contender
    where
        L: Layer<Handler>,
        L::Service: Service<Request<()>, Response = Response<B>, Error = Infallible> + 'static,
        B: Body<Data = Bytes>,
    {
        let case = self.clone();
        let length = self.writes.bytes.len() as u64;
        let requests = Rc::new(RefCell::new(Vec::new()));
        let responses = Rc::new(RefCell::new(Vec::new()));
        let (next_requests, next_responses) = (Rc::clone(&requests), Rc::clone(&responses));
        let mut service = layer.layer(Handler(responses));
        let run = move || {
            let request = requests.borrow_mut().pop().expect("there is one for each run");
            let response = match block_on(service.call(request)) {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let coding = response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
            let coded = coding.is_some();
            assert!(!coded || coding == expected.map(str::as_bytes));
            let output = drain(response.into_body());
            // What does not get smaller goes out as it was.
            assert!(coded == expected.is_some() || output.bytes == length);
            output
        };
        Contender::new(name, run).prepared_by(move |runs| {
            next_requests.borrow_mut().resize_with(runs as usize, || case.request());
            next_responses.borrow_mut().resize_with(runs as usize, || case.response());
        })
    }

    fn request(&self) -> Request<()> {
        let mut request = Request::new(());
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(self.coding.token));
        request
    }

    fn response(&self) -> Response<Produced> {
        let mut response = Response::new(match self.shape {
            Shape::Whole => self.writes.whole(),
            Shape::Tiny => self.writes.tiny(),
        });
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        response
    }

    /// Encoder calls and flushes of one response through this crate's layer.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let layer = layer(self.coding);
        let mut contender = self.served(OURS, layer.clone(), Some(self.coding.token));
        contender.run(1);
        let stats = layer.stats();
        (stats.encoder_calls, stats.flushes)
    }
}

/// A handler whose answers are there before it is asked.
#[derive(Debug)]
struct Handler(Rc<RefCell<Vec<Response<Produced>>>>);

impl Service<Request<()>> for Handler {
    type Response = Response<Produced>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Produced>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(self.0.borrow_mut().pop().expect("there is one for each request")))
    }
}
