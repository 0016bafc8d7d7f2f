//! A codec defined outside the crate: run-length coding, passed to the layer through the public traits.
//!
//! ```sh
//! cargo run --example foreign_codec
//! ```

use bytes::Bytes;
use futures_util::stream;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use std::convert::Infallible;
use tower::{Layer, ServiceExt, service_fn};
use tower_compress::codec::{Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup};
use tower_compress::{BoxError, CompressionLayer, Error};

/// Each run of equal bytes becomes its length, 1 to 255, and the byte. A length of 0 ends the message.
#[derive(Debug)]
struct RunLength;

impl Codec for RunLength {
    fn name(&self) -> &'static str {
        "x-run-length"
    }

    /// There are no levels.
    fn level(&self, _level: CompressionLevel) -> i32 {
        0
    }

    /// Nothing on the heap.
    fn memory(&self, _setup: Setup) -> usize {
        0
    }

    fn encoder(&self, _setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        Ok(Box::new(Runs::default()))
    }

    fn decoder(&self, _limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        Ok(Box::new(Unroll::default()))
    }
}

/// The encoder holds back the run that the next byte may go on with.
#[derive(Default)]
struct Runs {
    length: u8,
    byte: u8,
}

impl Runs {
    fn put_out(&mut self, output: &mut Vec<u8>) {
        if self.length > 0 {
            output.extend([self.length, self.byte]);
            self.length = 0;
        }
    }
}

impl Encoder for Runs {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        for &byte in input {
            if byte != self.byte || self.length == u8::MAX {
                self.put_out(output);
            }
            self.byte = byte;
            self.length += 1;
        }
        if operation != Operation::Encode {
            self.put_out(output);
        }
        if operation == Operation::Finish {
            output.push(0);
        }
        Ok(())
    }

    fn reset(&mut self) -> bool {
        *self = Self::default();
        true
    }
}

#[derive(Default)]
enum Unroll {
    /// Nothing has come yet.
    #[default]
    Start,
    Length,
    Byte {
        length: u8,
    },
    Run {
        length: u8,
        byte: u8,
    },
    End,
}

impl Decoder for Unroll {
    fn decode(&mut self, input: &[u8], mut room: usize, output: &mut Vec<u8>) -> Result<usize, Error> {
        let mut taken = 0;
        loop {
            if let Self::Run { length, byte } = *self {
                let written = room.min(length.into());
                output.resize(output.len() + written, byte);
                room -= written;
                *self = match length - written as u8 {
                    0 => Self::Length,
                    length => Self::Run { length, byte },
                };
            }
            let (false, Some(&next)) = (matches!(self, Self::Run { .. }), input.get(taken)) else {
                return Ok(taken);
            };
            taken += 1;
            *self = match *self {
                Self::Byte { length } => Self::Run { length, byte: next },
                Self::End => return Err(Error::malformed("there is something behind the end")),
                _ if next == 0 => Self::End,
                _ => Self::Byte { length: next },
            };
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        if matches!(self, Self::Start | Self::End) { Ok(()) } else { Err(Error::truncated()) }
    }

    fn reset(&mut self) -> bool {
        *self = Self::default();
        true
    }

    fn memory(&self) -> usize {
        0
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let layer = CompressionLayer::new().codec(&RunLength);

    // One large piece: the layer knows the whole and says its length.
    let image = circle(200);
    let whole = ask(&layer, Full::new(image.clone())).await?;

    // The same in one-line pieces, four times over, which is more than the layer looks ahead.
    let rows: Vec<_> = image.chunks(200).cycle().take(800).map(Bytes::copy_from_slice).collect();
    let long = rows.concat();
    let rows = stream::iter(rows.into_iter().map(|row| Ok::<_, Infallible>(Frame::data(row))));
    let streamed = ask(&layer, StreamBody::new(rows)).await?;

    for (sent, coded) in [(&image[..], whole), (&long[..], streamed)] {
        assert_eq!(decode(&coded)?, sent);
        assert!(decode(&coded[..coded.len() - 1]).is_err_and(|error| error.is_truncated()));
        println!("{} bytes became {} and came back", sent.len(), coded.len());
    }
    let stats = layer.stats();
    println!("{} pieces were gathered into {} encoder calls", stats.writes, stats.encoder_calls);
    assert_eq!((stats.coded, stats.coded_whole, stats.writes), (2, 1, 801));
    Ok(())
}

/// The coded body of the layer's answer, when the service's own has `body`.
async fn ask<B>(layer: &CompressionLayer, body: B) -> Result<Bytes, BoxError>
where
    B: http_body::Body<Data = Bytes> + Clone,
    B::Error: Into<BoxError>,
{
    let service = service_fn(move |_: Request<()>| {
        let response = Response::new(body.clone());
        async move { Ok::<_, Infallible>(response) }
    });
    let request = Request::get("/circle").header(ACCEPT_ENCODING, "x-run-length, gzip;q=0.5").body(())?;
    let response = layer.layer(service).oneshot(request).await?;
    assert_eq!(response.headers()[CONTENT_ENCODING], "x-run-length");
    Ok(response.into_body().collect().await?.to_bytes())
}

fn decode(mut coded: &[u8]) -> Result<Vec<u8>, Error> {
    let mut decoder = RunLength.decoder(DecodeLimits { max_window: 0, max_length: u64::MAX })?;
    let mut decoded = Vec::new();
    while !coded.is_empty() {
        let taken = decoder.decode(coded, 4096, &mut decoded)?;
        coded = &coded[taken..];
    }
    decoder.finish()?;
    Ok(decoded)
}

/// A black disc on white, one byte a pixel.
fn circle(size: i32) -> Bytes {
    let inside = |at: i32| {
        let (x, y) = (at % size - size / 2, at / size - size / 2);
        x * x + y * y < size * size / 5
    };
    (0..size * size).map(|at| if inside(at) { 0 } else { 255 }).collect()
}
