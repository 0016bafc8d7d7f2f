//! Real HTTP connections, in memory.

use http::header::ACCEPT_ENCODING;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tower::ServiceBuilder;
use tower_compress::predicate::Predicate;
use tower_compress::{BoxError, CompressionLayer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

pub(crate) const VERSIONS: [Version; 2] = [Version::Http1, Version::Http2];

/// Bytes that are under way in either direction at most.
const IN_FLIGHT: usize = 16 * 1024;

/// Answers the connection's one request with `response`, through `layer`.
fn serve<P, B>(
    layer: &CompressionLayer<P>,
    version: Version,
    response: Response<B>,
    io: DuplexStream,
) -> tokio::task::JoinHandle<Result<(), hyper::Error>>
where
    P: Predicate + Send + Sync + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let response = Arc::new(Mutex::new(Some(response)));
    let service =
        ServiceBuilder::new().layer(layer.clone()).service(tower::service_fn(move |_: Request<Incoming>| {
            let response = response.lock().unwrap().take().expect("one request");
            async move { Ok::<_, Infallible>(response) }
        }));
    let service = TowerToHyperService::new(service);
    let io = TokioIo::new(io);
    match version {
        Version::Http1 => {
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service))
        }
        Version::Http2 => tokio::spawn(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(io, service),
        ),
    }
}

/// What a client gets that accepts one coding.
pub(crate) async fn get<P, B>(
    layer: &CompressionLayer<P>,
    version: Version,
    accept: &str,
    response: Response<B>,
) -> Response<Incoming>
where
    P: Predicate + Send + Sync + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (client, server) = tokio::io::duplex(IN_FLIGHT);
    serve(layer, version, response, server);
    let request = Request::get("http://example.org/")
        .header(ACCEPT_ENCODING, accept)
        .body(Empty::<&[u8]>::new())
        .unwrap();
    let io = TokioIo::new(client);
    match version {
        Version::Http1 => {
            let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await.unwrap()
        }
        Version::Http2 => {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await.unwrap()
        }
    }
}

/// The client's end of an HTTP/1.1 connection whose request is on its way, for reading the wire.
pub(crate) async fn raw<P, B>(
    layer: &CompressionLayer<P>,
    accept: &str,
    response: Response<B>,
) -> (DuplexStream, tokio::task::JoinHandle<Result<(), hyper::Error>>)
where
    P: Predicate + Send + Sync + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (mut client, server) = tokio::io::duplex(IN_FLIGHT);
    let connection = serve(layer, Version::Http1, response, server);
    let request = format!("GET / HTTP/1.1\r\nhost: example.org\r\naccept-encoding: {accept}\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    (client, connection)
}
