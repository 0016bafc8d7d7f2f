//! The codec crates' own decoders, fed from the same bodies, their contexts and outputs reused: as warm as it gets.

use bytes::{Buf, Bytes};
use std::hint::black_box;
use std::io::Read;

/// A codec crate's own decoder, its context and its output reused, as warm as it gets.
pub(crate) enum Bare {
    Gzip { context: flate2::Decompress, crc: flate2::Crc, output: Vec<u8> },
    Zlib { context: flate2::Decompress, output: Vec<u8> },
    Zstd { context: zstd::zstd_safe::DCtx<'static>, output: Vec<u8> },
    Brotli { output: Vec<u8> },
    Framed { output: Vec<u8> },
    Raw { gathered: Vec<u8>, output: Vec<u8> },
}

/// What the bare decoders write into, again and again.
const OUTPUT: usize = 32 * 1024;

impl Bare {
    pub(crate) fn new(coding: &str, length: usize) -> Self {
        let output = vec![0; OUTPUT];
        match coding {
            "gzip" => Self::Gzip { context: flate2::Decompress::new(false), crc: flate2::Crc::new(), output },
            "deflate" => Self::Zlib { context: flate2::Decompress::new(true), output },
            "zstd" => Self::Zstd { context: zstd::zstd_safe::DCtx::create(), output },
            "br" => Self::Brotli { output },
            "x-snappy-framed" => Self::Framed { output },
            _ => Self::Raw { gathered: Vec::new(), output: vec![0; length] },
        }
    }

    pub(crate) fn run(&mut self, mut frames: impl Iterator<Item = Bytes>) -> usize {
        match self {
            Self::Gzip { context, crc, output } => gunzip(context, crc, output, frames),
            Self::Zlib { context, output } => {
                context.reset(true);
                for frame in frames {
                    inflate(context, &frame, output, |_| ());
                }
                context.total_out() as usize
            }
            Self::Zstd { context, output } => unzstd(context, output, frames),
            Self::Brotli { output } => unbrotli(output, frames),
            Self::Framed { output } => {
                let mut decoder = snap::read::FrameDecoder::new(Reader { frames, frame: Bytes::new() });
                let mut length = 0;
                loop {
                    match decoder.read(output).unwrap() {
                        0 => return length,
                        read => length += black_box(&output[..read]).len(),
                    }
                }
            }
            // One slice: the crate has no other way.
            Self::Raw { gathered, output } => {
                let first = frames.next().unwrap_or_default();
                let coded = match frames.next() {
                    None => &first[..],
                    Some(second) => {
                        gathered.clear();
                        gathered.extend_from_slice(&first);
                        gathered.extend_from_slice(&second);
                        frames.for_each(|frame| gathered.extend_from_slice(&frame));
                        gathered
                    }
                };
                black_box(snap::raw::Decoder::new().decompress(coded, output).unwrap())
            }
        }
    }
}

/// What the crate's own gzip reader does, but with a context that is kept: `Decompress` can be made for gzip, and
/// then be reset for the other formats only.
fn gunzip(
    context: &mut flate2::Decompress,
    crc: &mut flate2::Crc,
    output: &mut [u8],
    frames: impl Iterator<Item = Bytes>,
) -> usize {
    /// Without optional fields, as the encoder writes it.
    const HEADER: usize = 10;
    context.reset(false);
    crc.reset();
    for (index, frame) in frames.enumerate() {
        let input = if index == 0 { &frame[HEADER..] } else { &frame[..] };
        inflate(context, input, output, |data| crc.update(data));
    }
    black_box(crc.sum());
    context.total_out() as usize
}

fn inflate(
    context: &mut flate2::Decompress,
    mut input: &[u8],
    output: &mut [u8],
    mut sink: impl FnMut(&[u8]),
) {
    loop {
        let (before_in, before_out) = (context.total_in(), context.total_out());
        context.decompress(input, output, flate2::FlushDecompress::None).unwrap();
        input = &input[(context.total_in() - before_in) as usize..];
        let written = (context.total_out() - before_out) as usize;
        sink(black_box(&output[..written]));
        if written < output.len() {
            return;
        }
    }
}

fn unzstd(
    context: &mut zstd::zstd_safe::DCtx<'static>,
    output: &mut [u8],
    frames: impl Iterator<Item = Bytes>,
) -> usize {
    use zstd::zstd_safe::{InBuffer, OutBuffer, ResetDirective};
    context.reset(ResetDirective::SessionOnly).unwrap();
    let mut length = 0;
    for frame in frames {
        let mut input = InBuffer::around(&frame);
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

fn unbrotli(output: &mut [u8], frames: impl Iterator<Item = Bytes>) -> usize {
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
                &frame,
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
struct Reader<F> {
    frames: F,
    /// What is left of the current one.
    frame: Bytes,
}

impl<F: Iterator<Item = Bytes>> Read for Reader<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.frame.is_empty() {
            match self.frames.next() {
                Some(frame) => self.frame = frame,
                None => return Ok(0),
            }
        }
        let n = self.frame.len().min(buffer.len());
        self.frame.copy_to_slice(&mut buffer[..n]);
        Ok(n)
    }
}
