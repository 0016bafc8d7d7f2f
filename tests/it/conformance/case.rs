//! A set-up and its checks, as data.

use super::app::App;
use super::check::Check;
use super::exchange::{Answer, Protocol, exchange};
use super::layers::{OurLayer, Setup, Stack, Subject};
use super::reply::Reply;
use crate::support::corpus::json;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HOST, HeaderName, HeaderValue};
use http::{Method, Request, Version};
use http_body_util::Empty;
use tower_compress::Compress;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    fields: Vec<(&'static str, Value)>,
    /// What the handler answers to this one, if not what it answers to the others.
    pub(super) reply: Option<Reply>,
}

#[derive(Debug, Clone)]
enum Value {
    Given(Vec<u8>),
    /// What this field of the answer before said.
    Received(&'static str),
}

impl Ask {
    pub(super) fn request(&self, protocol: Protocol, before: Option<&Answer>) -> Request<Empty<Bytes>> {
        let uri = match (protocol, &self.method) {
            (_, &Method::CONNECT) => "localhost:80",
            (Protocol::H2, _) => "http://localhost/",
            _ => "/",
        };
        let mut request = Request::new(Empty::new());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri.parse().expect("a URI");
        if protocol != Protocol::H2 {
            request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        }
        if protocol == Protocol::H10 {
            *request.version_mut() = Version::HTTP_10;
        }
        for (name, value) in &self.fields {
            let value = match value {
                Value::Given(bytes) => Some(HeaderValue::from_bytes(bytes).expect("a value")),
                Value::Received(name) => before.and_then(|before| before.headers.get(*name).cloned()),
            };
            if let Some(value) = value {
                request.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        request
    }
}

/// One or more requests to one handler behind one layer, and what must come back from the last of them.
pub(crate) struct Case {
    pub(super) setup: Setup,
    pub(super) asks: Vec<Ask>,
    pub(super) reply: Reply,
    over: &'static [Protocol],
    only_ours: bool,
    checks: Vec<Check>,
}

/// A GET that accepts these codings, of 64 KiB of text that the handler has in memory.
pub(crate) fn get(accept: impl AsRef<[u8]>) -> Case {
    plain_get().request_field("accept-encoding", accept)
}

/// The same without `Accept-Encoding`.
pub(crate) fn plain_get() -> Case {
    Case {
        setup: Setup::default(),
        asks: vec![Ask { method: Method::GET, fields: Vec::new(), reply: None }],
        reply: Reply::text(json(64 * 1024)),
        over: &[Protocol::H11, Protocol::H2],
        only_ours: false,
        checks: Vec::new(),
    }
}

impl Case {
    pub(crate) fn method(mut self, method: Method) -> Self {
        self.ask().method = method;
        self
    }

    pub(crate) fn request_field(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.ask().fields.push((name, Value::Given(value.as_ref().to_vec())));
        self
    }

    /// A request field with the value that a field of the answer before had.
    pub(crate) fn received(mut self, name: &'static str, from: &'static str) -> Self {
        self.ask().fields.push((name, Value::Received(from)));
        self
    }

    /// Another request with the same `Accept-Encoding`; the checks are about its answer.
    pub(crate) fn then(mut self, method: Method) -> Self {
        let accept = |(name, _): &&(&'static str, Value)| *name == ACCEPT_ENCODING.as_str();
        let fields = self.ask().fields.iter().find(accept).cloned().into_iter().collect();
        self.asks.push(Ask { method, fields, reply: None });
        self
    }

    /// The same request again, to a handler that answers this.
    pub(crate) fn then_reply(mut self, reply: Reply) -> Self {
        let again = Ask { reply: Some(reply), ..self.ask().clone() };
        self.asks.push(again);
        self
    }

    /// The same request so many times.
    pub(crate) fn times(mut self, count: usize) -> Self {
        let again = self.ask().clone();
        self.asks.resize(self.asks.len() + count - 1, again);
        self
    }

    /// The same with another `Accept-Encoding`.
    pub(crate) fn accept(mut self, accept: &str) -> Self {
        self.ask().fields.retain(|(name, _)| *name != ACCEPT_ENCODING.as_str());
        self.request_field("accept-encoding", accept)
    }

    pub(crate) fn reply(self, reply: Reply) -> Self {
        Self { reply, ..self }
    }

    /// Changes the handler's answer.
    pub(crate) fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.reply = self.reply.field(name, value);
        self
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.reply = self.reply.status(status);
        self
    }

    pub(crate) fn content_type(mut self, value: &str) -> Self {
        self.reply = self.reply.content_type(value);
        self
    }

    /// What the handler wants of this crate's layer; the other knows nothing of it.
    pub(crate) fn wish(mut self, wish: Compress) -> Self {
        self.reply = self.reply.wish(wish);
        self.only_ours = true;
        self
    }

    pub(crate) fn min_size(mut self, bytes: u16) -> Self {
        self.setup.min_size = bytes;
        self
    }

    pub(crate) fn offering(mut self, codings: &'static [&'static str]) -> Self {
        self.setup.codings = codings;
        self
    }

    /// Another layer around this one.
    pub(crate) fn inside(mut self, codings: &'static [&'static str]) -> Self {
        self.setup.outer = Some(codings);
        self
    }

    pub(crate) fn level(mut self, level: i32) -> Self {
        self.setup.level = Some(level);
        self
    }

    /// A setting that only this crate's layer has. The other one does as it always does.
    pub(crate) fn ours(mut self, layer: fn(OurLayer, App) -> Stack) -> Self {
        self.setup.ours = Some(layer);
        self
    }

    /// A rule about something that only this crate's layer has.
    pub(crate) fn only_ours(self) -> Self {
        Self { only_ours: true, ..self }
    }

    pub(crate) fn over(self, over: &'static [Protocol]) -> Self {
        Self { over, ..self }
    }

    pub(crate) fn expect(mut self, checks: impl IntoIterator<Item = Check>) -> Self {
        self.checks.extend(checks);
        self
    }

    pub(super) fn offered_by(&self, subject: Subject) -> bool {
        // tower-http has no snappy.
        let snappy = self.setup.codings.iter().any(|coding| coding.contains("snappy"));
        subject == Subject::Ours || !self.only_ours && !snappy
    }

    pub(super) fn protocols(&self) -> &'static [Protocol] {
        self.over
    }

    /// Runs the exchange; what failed, in words.
    pub(super) async fn run(&self, subject: Subject, protocol: Protocol) -> Result<(), String> {
        let told = |failure: String| format!("{protocol:?} {}: {failure}", self.describe());
        let answer = exchange(self, subject, protocol).await.map_err(told)?;
        for check in &self.checks {
            check.test(&answer).map_err(|failure| told(format!("expected {check}; {failure}")))?;
        }
        Ok(())
    }

    /// The request and what is special about the answer, in short.
    fn describe(&self) -> String {
        let ask = self.asks.last().expect("a request");
        let fields = ask.fields.iter().map(|(name, value)| match value {
            Value::Given(bytes) => format!(" {name}: {:.60}", String::from_utf8_lossy(bytes)),
            Value::Received(from) => format!(" {name}: (received {from})"),
        });
        let reply = self.reply.fields.iter().map(|(name, value)| format!(" {name}: {value}"));
        format!(
            "{}{} -> {}{}",
            ask.method,
            fields.collect::<String>(),
            self.reply.status.as_u16(),
            reply.collect::<String>()
        )
    }

    fn ask(&mut self) -> &mut Ask {
        self.asks.last_mut().expect("a request")
    }
}
