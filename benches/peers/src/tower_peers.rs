//! Peers that are tower layers.

use super::Case;
use super::drain::{block_on, drain};
use super::measure::Contender;
use super::writes::Produced;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body::Body;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::rc::Rc;
use std::task::{Context, Poll};
use tower::{Layer, Service};

pub(crate) fn contenders(case: &Case) -> Vec<Contender> {
    let level = if case.token == "gzip" { 6 } else { 3 };
    let tower_http = tower_http::compression::CompressionLayer::new()
        .quality(tower_http::CompressionLevel::Precise(level));
    vec![
        served("drain", case, tower::layer::util::Identity::new(), None),
        #[cfg(feature = "together")]
        served("tower-compress", case, tower_compress::CompressionLayer::new().min_size(0), Some(case.token)),
        served("tower-http", case, tower_http, Some(case.token)),
        #[cfg(feature = "together")]
        served(
            "http-response-compression",
            case,
            http_response_compression::CompressionLayer::new().min_size(0),
            Some(case.token),
        ),
    ]
}

fn served<L, B>(name: &'static str, case: &Case, layer: L, expected: Option<&'static str>) -> Contender
where
    L: Layer<Handler>,
    L::Service: Service<Request<()>, Response = Response<B>, Error = Infallible> + 'static,
    B: Body<Data = Bytes>,
{
    let case = case.clone();
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
        assert_eq!(coding, expected.map(str::as_bytes), "{name}");
        drain(response.into_body())
    };
    Contender::new(name, run).prepared_by(move |runs| {
        next_requests.borrow_mut().resize_with(runs as usize, || request(case.token));
        next_responses.borrow_mut().resize_with(runs as usize, || {
            let mut response = Response::new(case.body());
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        });
    })
}

fn request(token: &'static str) -> Request<()> {
    let mut request = Request::new(());
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(token));
    request
}

/// A handler whose answers are there before it is asked.
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
