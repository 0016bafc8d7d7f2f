//! Streams as clients see them, on the wire.

use super::{events, layer, streaming};
use crate::support::channel::channel;
use crate::support::connection::{VERSIONS, Version, get, raw};
use crate::support::corpus::{event, json};
use crate::support::decode::decode;
use crate::support::incremental::Incremental;
use crate::support::serve::text;
use crate::support::{Script, Step};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Reads chunked content up to where it says that a chunk ends and nothing more has come.
async fn read_head(client: &mut tokio::io::DuplexStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    head
}

async fn read_chunk(client: &mut tokio::io::DuplexStream) -> Vec<u8> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(client.read_u8().await.unwrap());
    }
    let size = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
    let mut chunk = vec![0; size + 2];
    client.read_exact(&mut chunk).await.unwrap();
    chunk.truncate(size);
    chunk
}

#[tokio::test(start_paused = true)]
async fn an_event_is_one_chunk_that_decodes_while_the_next_is_not_sent() {
    // A01, raw.
    for codec in streaming() {
        let (sender, body) = channel();
        sender.send("data: 1\n\n".into()).unwrap();
        let (mut client, connection) = raw(&layer(), codec.name(), events(body)).await;
        let mut receiver = Incremental::new(codec.name());
        let within = Duration::from_secs(1);
        let head = tokio::time::timeout(within, read_head(&mut client)).await.unwrap();
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains(&format!("content-encoding: {}\r\n", codec.name())), "{head}");
        let chunk = tokio::time::timeout(within, read_chunk(&mut client)).await.unwrap();
        assert_eq!(receiver.feed(&chunk), 9, "{}", codec.name());
        sender.send("data: 2\n\n".into()).unwrap();
        let chunk = tokio::time::timeout(within, read_chunk(&mut client)).await.unwrap();
        assert_eq!(receiver.feed(&chunk), 18, "{}", codec.name());
        drop(sender);
        let end = tokio::time::timeout(within, read_chunk(&mut client)).await.unwrap();
        assert!(end.is_empty() || read_chunk(&mut client).await.is_empty(), "{}", codec.name());
        assert_eq!(receiver.decoded(), b"data: 1\n\ndata: 2\n\n");
        drop(client);
        connection.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_body_that_fails_never_looks_complete() {
    // L01.
    for codec in streaming() {
        // hyper throws away what it has not written yet, so the pause is long enough for it to write.
        let pause = std::iter::repeat_n(Step::Yield, 10);
        let steps: Vec<_> = [Step::data(json(5000))]
            .into_iter()
            .chain(pause)
            .chain([Step::data(json(5000)), Step::Error("db")])
            .collect();
        let response = || text(Script::new(steps.clone()));
        let (mut client, connection) = raw(&layer(), codec.name(), response()).await;
        read_head(&mut client).await;
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        // RFC 9112 section 8: without the last chunk the message is incomplete.
        assert!(!rest.is_empty() && !rest.ends_with(b"0\r\n\r\n"), "{} {:?}", codec.name(), rest.len());
        assert!(connection.await.unwrap().is_err());

        for version in VERSIONS {
            let mut body = get(&layer(), version, codec.name(), response()).await.into_body();
            let mut coded = Vec::new();
            let error = loop {
                match body.frame().await.expect("an error, not an end") {
                    Ok(frame) => coded.extend_from_slice(frame.data_ref().unwrap()),
                    Err(error) => break error,
                }
            };
            // HTTP/2 resets the stream (RFC 9113 section 5.4.2), HTTP/1.1 breaks off.
            let how = if version == Version::Http2 { "Reset" } else { "UnexpectedEof" };
            assert!(format!("{error:?}").contains(how), "{error:?}");
            // Snappy's format has no end that could be missing.
            assert!(codec.name() == "x-snappy-framed" || decode(codec.name(), &coded).is_err());
            assert!(Incremental::new(codec.name()).feed(&coded) <= 10_000);
        }
    }
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_stream() {
    for version in VERSIONS {
        let layer = layer();
        let (sender, body) = channel();
        let response = get(&layer, version, "gzip", events(body)).await;
        sender.send(event(0).into()).unwrap();
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        // The server learns of it when it writes, at the latest.
        while !sender.is_closed() {
            let _ = sender.send(event(1).into());
            tokio::task::yield_now().await;
        }
        let pool = layer.stats().pool;
        assert_eq!((pool.idle, pool.parked), (1, 0), "{version:?}");
    }
}
