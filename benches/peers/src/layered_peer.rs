//! `http_compression`, which has services and bodies of its own; its contexts are pooled.

use super::Case;
use super::drain::{block_on, drain};
use super::measure::Contender;
use bytesbuf::BytesView;
use compressors::Level;
use compressors::format::Format;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http_body_util::BodyExt;
use http_compression::Compression;
use http_extensions::{HttpBodyBuilder, HttpBodyOptions, HttpRequest, HttpResponse, Result};
use layered::{Layer, Service};
use std::future::{Future, ready};
use std::sync::{Arc, Mutex};

pub(crate) fn contenders(case: &Case) -> Vec<Contender> {
    let builder = HttpBodyBuilder::new_fake();
    let layer = Compression::server(builder.clone())
        .compress_responses(&[Format::Gzip, Format::Zstd])
        // On the portable scale, which is 6 for gzip and 3 for zstd.
        .level(Level::DEFAULT);
    let (plain, coded) = (Handler::default(), Handler::default());
    vec![
        served("drain (http_extensions)", case, &builder, plain.clone(), plain, None),
        served("http_compression", case, &builder, coded.clone(), layer.layer(coded), Some(case.token)),
    ]
}

fn served<S>(
    name: &'static str,
    case: &Case,
    builder: &HttpBodyBuilder,
    handler: Handler,
    service: S,
    expected: Option<&'static str>,
) -> Contender
where
    S: Service<HttpRequest, Out = Result<HttpResponse>> + 'static,
{
    let (case, builder) = (case.clone(), builder.clone());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let next_requests = Arc::clone(&requests);
    let run = move || {
        let request = requests.lock().expect("no one panics").pop().expect("there is one for each run");
        let response = block_on(service.execute(request)).expect("the service never fails");
        let coding = response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        assert_eq!(coding, expected.map(str::as_bytes), "{name}");
        drain(response.into_body())
    };
    Contender::new(name, run).prepared_by(move |runs| {
        next_requests.lock().expect("no one panics").resize_with(runs as usize, || {
            let mut request = HttpRequest::new(builder.empty());
            request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(case.token));
            request
        });
        handler.0.lock().expect("no one panics").resize_with(runs as usize, || {
            let body = if case.tiny {
                let frames = case.body().map_frame(|frame| frame.map_data(BytesView::from));
                builder.body(frames, &HttpBodyOptions::default())
            } else {
                builder.bytes(case.writes.bytes.clone())
            };
            let mut response = HttpResponse::new(body);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        });
    })
}

/// A handler whose answers are there before it is asked.
#[derive(Clone, Default)]
struct Handler(Arc<Mutex<Vec<HttpResponse>>>);

impl Service<HttpRequest> for Handler {
    type Out = Result<HttpResponse>;

    fn execute(&self, _: HttpRequest) -> impl Future<Output = Self::Out> + Send {
        ready(Ok(self.0.lock().expect("no one panics").pop().expect("there is one for each request")))
    }
}
