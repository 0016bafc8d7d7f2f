//! What a handler answers, as data.

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use tower_compress::Compress;

/// What a body does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Data(Bytes),
    /// A data frame without bytes.
    Empty,
    /// Pending, and woken at once.
    Yield,
    /// Pending until the client has decoded so many bytes of the body.
    Until(usize),
    Trailers(Vec<(&'static str, &'static str)>),
    Error,
}

/// What the handler answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) steps: Vec<Step>,
    /// Whether the body says its exact size.
    pub(crate) sized: bool,
    pub(crate) wish: Option<Compress>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The same answer to every request.
    Fixed,
    /// A resource with an entity tag: it knows the conditional fields and `Range`, but nothing of codings.
    Resource,
    /// HEAD is answered with the length and without the body, as file servers do.
    FileServer,
    /// A tunnel that echoes.
    Tunnel,
}

impl Reply {
    /// 200 with this text, whose size is known.
    pub(crate) fn text(body: impl Into<Bytes>) -> Self {
        Self::of([Step::Data(body.into())]).sized()
    }

    /// 200 with a body of unknown length.
    pub(crate) fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            status: StatusCode::OK,
            fields: vec![("content-type", "text/plain".into())],
            steps: steps.into_iter().collect(),
            sized: false,
            wish: None,
            kind: Kind::Fixed,
        }
    }

    /// A body of unknown length in frames of this size.
    pub(crate) fn cut(body: &[u8], size: usize) -> Self {
        Self::of(body.chunks(size).map(|chunk| Step::Data(Bytes::copy_from_slice(chunk))))
    }

    pub(crate) fn empty() -> Self {
        Self::of([]).sized()
    }

    pub(crate) fn sized(self) -> Self {
        Self { sized: true, ..self }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status: StatusCode::from_u16(status).expect("a status"), ..self }
    }

    pub(crate) fn field(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    pub(crate) fn content_type(mut self, value: &str) -> Self {
        self.fields.retain(|(name, _)| *name != "content-type");
        self.field("content-type", value)
    }

    pub(crate) fn no_content_type(mut self) -> Self {
        self.fields.retain(|(name, _)| *name != "content-type");
        self
    }

    /// With the length in the head.
    pub(crate) fn with_length(self) -> Self {
        let length = self.bytes().len();
        self.field("content-length", length.to_string())
    }

    pub(crate) fn wish(self, wish: Compress) -> Self {
        Self { wish: Some(wish), ..self }
    }

    pub(crate) fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// All data, joined.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let data = self.steps.iter().filter_map(|step| match step {
            Step::Data(data) => Some(data.as_ref()),
            _ => None,
        });
        data.collect::<Vec<_>>().concat()
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        let field = |(name, value): &(&'static str, String)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).expect("a value"))
        };
        self.fields.iter().map(field).collect()
    }
}
