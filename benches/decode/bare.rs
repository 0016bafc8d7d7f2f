//! The codec crates' own decoders, their contexts and outputs reused: as warm as it gets.

use bytes::Bytes;
use std::hint::black_box;
use std::io::Read;

/// A codec crate's own decoder, its context and its output reused, as warm as it gets.
pub(crate) enum Bare {
    Deflate { context: flate2::Decompress, gzip: bool, output: Vec<u8> },
    Zstd { context: zstd::zstd_safe::DCtx<'static>, output: Vec<u8> },
    Brotli { output: Vec<u8> },
    Framed { output: Vec<u8> },
    Raw { output: Vec<u8> },
}

/// What the bare decoders write into, again and again.
const OUTPUT: usize = 32 * 1024;

impl Bare {
    pub(crate) fn new(coding: &str, length: usize) -> Self {
        let output = vec![0; OUTPUT];
        match coding {
            "gzip" => Self::Deflate { context: flate2::Decompress::new_gzip(15), gzip: true, output },
            "deflate" => Self::Deflate { context: flate2::Decompress::new(true), gzip: false, output },
            "zstd" => Self::Zstd { context: zstd::zstd_safe::DCtx::create(), output },
            "br" => Self::Brotli { output },
            "x-snappy-framed" => Self::Framed { output },
            _ => Self::Raw { output: vec![0; length] },
        }
    }

    pub(crate) fn run(&mut self, frames: &[Bytes]) -> usize {
        match self {
            Self::Deflate { context, gzip, output } => inflate(context, *gzip, output, frames),
            Self::Zstd { context, output } => unzstd(context, output, frames),
            Self::Brotli { output } => unbrotli(output, frames),
            Self::Framed { output } => {
                let mut decoder = snap::read::FrameDecoder::new(Chunks { frames, at: 0 });
                let mut length = 0;
                loop {
                    match decoder.read(output).unwrap() {
                        0 => return length,
                        read => length += black_box(&output[..read]).len(),
                    }
                }
            }
            // One slice: the crate has no other way.
            Self::Raw { output } => {
                let coded = frames.concat();
                black_box(snap::raw::Decoder::new().decompress(&coded, output).unwrap())
            }
        }
    }
}

fn inflate(context: &mut flate2::Decompress, gzip: bool, output: &mut [u8], frames: &[Bytes]) -> usize {
    if gzip {
        *context = flate2::Decompress::new_gzip(15);
    } else {
        context.reset(true);
    }
    for frame in frames {
        let mut input = &frame[..];
        loop {
            let (before_in, before_out) = (context.total_in(), context.total_out());
            context.decompress(input, output, flate2::FlushDecompress::None).unwrap();
            input = &input[(context.total_in() - before_in) as usize..];
            let written = (context.total_out() - before_out) as usize;
            black_box(&output[..written]);
            if written < output.len() {
                break;
            }
        }
    }
    context.total_out() as usize
}

fn unzstd(context: &mut zstd::zstd_safe::DCtx<'static>, output: &mut [u8], frames: &[Bytes]) -> usize {
    use zstd::zstd_safe::{InBuffer, OutBuffer, ResetDirective};
    context.reset(ResetDirective::SessionOnly).unwrap();
    let mut length = 0;
    for frame in frames {
        let mut input = InBuffer::around(frame);
        loop {
            let mut sink = OutBuffer::around(&mut *output);
            context.decompress_stream(&mut sink, &mut input).unwrap();
            let written = sink.pos();
            black_box(&output[..written]);
            length += written;
            if written < output.len() {
                break;
            }
        }
    }
    length
}

fn unbrotli(output: &mut [u8], frames: &[Bytes]) -> usize {
    use brotli::{BrotliDecompressStream, BrotliState, enc::StandardAlloc};
    let alloc = StandardAlloc::default;
    let mut state = Box::new(BrotliState::new(alloc(), alloc(), alloc()));
    let mut total = 0;
    for frame in frames {
        let (mut left, mut taken) = (frame.len(), 0);
        loop {
            let (mut room, mut written) = (output.len(), 0);
            BrotliDecompressStream(
                &mut left,
                &mut taken,
                frame,
                &mut room,
                &mut written,
                output,
                &mut total,
                &mut state,
            );
            black_box(&output[..written]);
            if room > 0 {
                break;
            }
        }
    }
    total
}

/// The frames as a reader.
struct Chunks<'a> {
    frames: &'a [Bytes],
    at: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some((first, rest)) = self.frames.split_first() {
            let left = &first[self.at..];
            if !left.is_empty() {
                let n = left.len().min(buffer.len());
                buffer[..n].copy_from_slice(&left[..n]);
                self.at += n;
                return Ok(n);
            }
            (self.frames, self.at) = (rest, 0);
        }
        Ok(0)
    }
}
