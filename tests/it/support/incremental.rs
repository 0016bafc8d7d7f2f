//! Decoders that are fed as bytes arrive, from the codecs' own crates.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

/// What a receiver has decoded so far.
pub(crate) struct Incremental {
    decoder: Box<dyn Write + Send>,
    decoded: Sink,
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Incremental {
    pub(crate) fn new(coding: &str) -> Self {
        let decoded = Sink::default();
        let sink = decoded.clone();
        let decoder: Box<dyn Write + Send> = match coding {
            "gzip" => Box::new(flate2::write::GzDecoder::new(sink)),
            "deflate" => Box::new(flate2::write::ZlibDecoder::new(sink)),
            "zstd" => Box::new(zstd::stream::write::Decoder::new(sink).unwrap()),
            // It hands on what fits into its buffer, however much more there is.
            "br" => Box::new(brotli::DecompressorWriter::new(sink, 1 << 20)),
            "x-snappy-framed" => Box::new(Chunks { coded: Vec::new(), sink }),
            other => panic!("{other} does not stream"),
        };
        Self { decoder, decoded }
    }

    /// Takes what has arrived, and says how much is decoded in all.
    pub(crate) fn feed(&mut self, coded: &[u8]) -> usize {
        self.decoder.write_all(coded).unwrap();
        // What is decoded must not sit in the decoder's own buffer.
        self.decoder.flush().unwrap();
        self.decoded.0.lock().unwrap().len()
    }

    pub(crate) fn decoded(&self) -> Vec<u8> {
        self.decoded.0.lock().unwrap().clone()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Snappy's frames, whole chunks at a time: its crate has no decoder to write to.
struct Chunks {
    coded: Vec<u8>,
    sink: Sink,
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        const IDENTIFIER: &[u8] = b"\xff\x06\x00\x00sNaPpY";
        self.coded.extend_from_slice(bytes);
        while let [_, a, b, c, ..] = self.coded[..] {
            let length = 4 + u32::from_le_bytes([a, b, c, 0]) as usize;
            if self.coded.len() < length {
                break;
            }
            let chunk: Vec<u8> = self.coded.drain(..length).collect();
            if chunk != IDENTIFIER {
                let framed = [IDENTIFIER, &chunk].concat();
                let mut decoded = Vec::new();
                snap::read::FrameDecoder::new(&framed[..]).read_to_end(&mut decoded)?;
                self.sink.write_all(&decoded)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
