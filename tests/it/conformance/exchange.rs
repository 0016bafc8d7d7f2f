//! One exchange over a loopback connection, between hyper's server and hyper's client.

use super::app::{App, Seen};
use super::case::{Ask, Case};
use super::layers::{Setup, Stack, Subject};
use super::scripted::Progress;
use crate::support::decode::decode_prefix;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Which HTTP a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    H10,
    H11,
    H2,
}

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<String>,
    /// All that the server wrote to the connection.
    pub(crate) wire: Vec<u8>,
    /// What the handler saw; nothing if it was not called.
    pub(crate) seen: Option<Seen>,
    /// What came back through a tunnel.
    pub(crate) echo: Vec<u8>,
    /// What the handler's body was.
    pub(crate) original: Vec<u8>,
    /// The handler's head.
    pub(crate) original_headers: HeaderMap,
    /// The answer to the exchange before this one.
    pub(crate) before: Option<Box<Answer>>,
}

impl Answer {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.frames.concat()
    }

    /// The values of a field, line by line.
    pub(crate) fn lines(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.get_all(name).iter();
        lines.map(|value| value.to_str().unwrap_or("(not ASCII)")).collect()
    }

    /// The members of a field that is a list, in lower case.
    pub(crate) fn members(&self, name: &str) -> Vec<String> {
        let members = self.lines(name).into_iter().flat_map(|line| line.split(','));
        members.map(|member| member.trim().to_ascii_lowercase()).filter(|member| !member.is_empty()).collect()
    }

    pub(crate) fn coding(&self) -> String {
        let codings = self.members(CONTENT_ENCODING.as_str());
        if codings.is_empty() { "identity".to_owned() } else { codings.join(", ") }
    }
}

/// No exchange takes so long, unless something waits for what does not come.
const STUCK: Duration = Duration::from_secs(60);

/// Runs the exchanges of a case, each with what the one before it brought.
pub(crate) async fn exchange(case: &Case, subject: Subject, protocol: Protocol) -> Result<Answer, String> {
    let mut before: Option<Answer> = None;
    for ask in &case.asks {
        let reply = ask.reply.as_ref().unwrap_or(&case.reply);
        let app = App::new(reply.clone());
        let result =
            tokio::time::timeout(STUCK, one(&case.setup, ask, &app, subject, protocol, before.as_ref()));
        let mut answer = result.await.map_err(|_| "nothing more came".to_owned())??;
        answer.seen = app.seen.lock().expect("a lock").take();
        answer.original = reply.bytes();
        answer.original_headers = reply.headers();
        answer.before = before.map(Box::new);
        before = Some(answer);
    }
    before.ok_or_else(|| "no exchange".to_owned())
}

async fn one(
    setup: &Setup,
    ask: &Ask,
    app: &App,
    subject: Subject,
    protocol: Protocol,
    before: Option<&Answer>,
) -> Result<Answer, String> {
    let stack = setup.service(subject, app.clone());
    let (stream, wire) = connect(stack).await.map_err(|error| error.to_string())?;
    let request = ask.request(protocol, before);
    let response = match send(stream, request, protocol).await {
        Ok(response) => response,
        // Broken off before the head was out.
        Err(error) => return Ok(Answer { error: Some(error.to_string()), ..Answer::default() }),
    };
    let is_tunnel = response.status() == StatusCode::SWITCHING_PROTOCOLS
        || ask.method == Method::CONNECT && response.status().is_success();
    let mut answer = if is_tunnel { tunnel(response).await } else { receive(response, &app.progress).await };
    answer.wire = wire.lock().expect("a lock").clone();
    Ok(answer)
}

/// A server with one connection, and the client's end of that.
pub(crate) async fn connect(stack: Stack) -> io::Result<(Recorder, Arc<Mutex<Vec<u8>>>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        if let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            let service = TowerToHyperService::new(stack);
            // A connection that fails is what some of the items are about.
            let _ = server.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
        }
    });
    let wire = Arc::default();
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok((Recorder { stream, read: Arc::clone(&wire) }, wire))
}

async fn send(
    stream: Recorder,
    request: Request<Empty<Bytes>>,
    protocol: Protocol,
) -> hyper::Result<Response<Incoming>> {
    let io = TokioIo::new(stream);
    if protocol == Protocol::H2 {
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await?;
        tokio::spawn(connection);
        return sender.send_request(request).await;
    }
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await?;
    tokio::spawn(connection.with_upgrades());
    sender.send_request(request).await
}

async fn receive(response: Response<Incoming>, progress: &Progress) -> Answer {
    let mut answer =
        Answer { status: response.status(), headers: response.headers().clone(), ..Answer::default() };
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => {
                answer.frames.push(data);
                if progress.awaited {
                    progress.decoded(decoded_so_far(&answer));
                }
            }
            Ok(Err(other)) => answer.trailers = other.into_trailers().ok(),
            Err(error) => {
                answer.error = Some(error.to_string());
                break;
            }
        }
    }
    answer
}

/// What the client can read of the body by now.
fn decoded_so_far(answer: &Answer) -> usize {
    match answer.coding().as_str() {
        "identity" => answer.bytes().len(),
        coding => decode_prefix(coding, &answer.bytes()).len(),
    }
}

/// Sends a few bytes through a tunnel and reads what comes back.
async fn tunnel(response: Response<Incoming>) -> Answer {
    let mut answer =
        Answer { status: response.status(), headers: response.headers().clone(), ..Answer::default() };
    if let Ok(upgraded) = hyper::upgrade::on(response).await {
        let mut io = TokioIo::new(upgraded);
        answer.echo = vec![0; PING.len()];
        if io.write_all(PING).await.is_err() || io.read_exact(&mut answer.echo).await.is_err() {
            answer.echo.clear();
        }
    }
    answer
}

/// What goes through tunnels.
pub(crate) const PING: &[u8] = b"not HTTP at all";

/// A stream that keeps what was read from it.
pub(crate) struct Recorder {
    stream: TcpStream,
    read: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Recorder {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.read.lock().expect("a lock").extend_from_slice(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
