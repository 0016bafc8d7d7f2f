//! The codings compared, each at the level that most servers use.

use std::io::{self, BufWriter, Write};
use tower_compress::CompressionLevel;
use tower_compress::codec::{self, Operation, Setup};

/// A coding at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coding {
    pub(crate) token: &'static str,
    pub(crate) level: i32,
    /// The name in tables.
    pub(crate) label: &'static str,
}

pub(crate) const GZIP: Coding = Coding { token: "gzip", level: 6, label: "gzip-6" };
pub(crate) const DEFLATE: Coding = Coding { token: "deflate", level: 6, label: "deflate-6" };
pub(crate) const ZSTD: Coding = Coding { token: "zstd", level: 3, label: "zstd-3" };
pub(crate) const BROTLI: Coding = Coding { token: "br", level: 4, label: "brotli-4" };
pub(crate) const SNAPPY: Coding = Coding { token: "x-snappy-framed", level: 0, label: "snappy-framed" };

pub(crate) const ALL: [Coding; 5] = [GZIP, DEFLATE, ZSTD, BROTLI, SNAPPY];

/// The limit: encodes a whole body from one slice, in one call, in a context that is warm, into a vector that
/// has room. What the codec's own library does, with nothing of this crate around it, where it can be reused.
pub(crate) type Limit = Box<dyn FnMut(&[u8]) -> u64>;

impl Coding {
    pub(crate) fn limit(self) -> Limit {
        match self.token {
            "gzip" => {
                let level = flate2::Compression::new(self.level.unsigned_abs());
                deflate(flate2::Compress::new_gzip(level, 15))
            }
            "deflate" => {
                let level = flate2::Compression::new(self.level.unsigned_abs());
                deflate(flate2::Compress::new(level, true))
            }
            "zstd" => {
                let mut context = zstd::bulk::Compressor::new(self.level).expect("a level that zstd has");
                let mut output = Vec::new();
                Box::new(move |body| {
                    output.clear();
                    output.reserve(zstd::zstd_safe::compress_bound(body.len()));
                    context.compress_to_buffer(body, &mut output).expect("there is room") as u64
                })
            }
            // Neither library has a context that could be reused; this crate's encoders are what there is.
            token => {
                let codec = codec::by_name(token).expect("all codecs are compiled in");
                let level = codec.level(CompressionLevel::Precise(self.level));
                let mut output = Vec::new();
                Box::new(move |body| {
                    let setup = Setup { level, size_class: codec.size_class(Some(body.len() as u64)) };
                    let mut encoder = codec.encoder(setup).expect("memory");
                    output.clear();
                    encoder.encode(body, Operation::Finish, &mut output).expect("there is room");
                    output.len() as u64
                })
            }
        }
    }

    /// Writes into an encoder made for this one message, as programs without a pool do; `buffer` bytes are
    /// gathered ahead of it, if any.
    pub(crate) fn through_writer<'a>(
        self,
        writes: impl Iterator<Item = &'a [u8]>,
        buffer: usize,
    ) -> io::Result<u64> {
        let sink = Vec::new();
        match self.token {
            "gzip" => {
                let level = flate2::Compression::new(self.level.unsigned_abs());
                replay(writes, buffer, flate2::write::GzEncoder::new(sink, level), |encoder| encoder.finish())
            }
            "deflate" => {
                let level = flate2::Compression::new(self.level.unsigned_abs());
                replay(writes, buffer, flate2::write::ZlibEncoder::new(sink, level), |encoder| {
                    encoder.finish()
                })
            }
            "zstd" => {
                let encoder = zstd::stream::write::Encoder::new(sink, self.level)?;
                replay(writes, buffer, encoder, |encoder| encoder.finish())
            }
            "br" => {
                let encoder = brotli::CompressorWriter::new(sink, 4096, self.level.unsigned_abs(), 22);
                replay(writes, buffer, encoder, |encoder| Ok(encoder.into_inner()))
            }
            _ => {
                let encoder = snap::write::FrameEncoder::new(sink);
                replay(writes, buffer, encoder, |encoder| encoder.into_inner().map_err(|e| e.into_error()))
            }
        }
    }
}

fn deflate(mut context: flate2::Compress) -> Limit {
    let mut output: Vec<u8> = Vec::new();
    Box::new(move |body| {
        context.reset();
        output.clear();
        output.reserve(body.len() + body.len() / 1000 + 64);
        let status = context.compress_vec(body, &mut output, flate2::FlushCompress::Finish);
        assert!(matches!(status, Ok(flate2::Status::StreamEnd)));
        output.len() as u64
    })
}

fn replay<'a, W: Write>(
    writes: impl Iterator<Item = &'a [u8]>,
    buffer: usize,
    mut encoder: W,
    finish: impl FnOnce(W) -> io::Result<Vec<u8>>,
) -> io::Result<u64> {
    if buffer > 0 {
        let mut buffered = BufWriter::with_capacity(buffer, encoder);
        for write in writes {
            buffered.write_all(write)?;
        }
        encoder = buffered.into_inner().map_err(|error| error.into_error())?;
    } else {
        for write in writes {
            encoder.write_all(write)?;
        }
    }
    Ok(finish(encoder)?.len() as u64)
}
