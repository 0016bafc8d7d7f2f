//! Content codings: what a codec is, what an encoder promises, and the registry of those compiled in.
//!
//! This room knows bytes alone: no HTTP, no tower, no polling. Adding a codec is one module here, one row
//! in [`CODECS`], one Cargo feature and one row in the tests.

#[cfg(any(feature = "gzip", feature = "deflate", feature = "zstd"))]
mod append;
#[cfg(feature = "brotli")]
mod brotli;
#[cfg(feature = "deflate")]
mod deflate;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod deflate_format;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod fixed_deflate;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod framed_deflate;
#[cfg(any(feature = "gzip", feature = "zstd", feature = "snappy"))]
mod gather;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod inflate;
mod level;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod small_deflate;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod zeroed;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(test)]
pub(crate) mod battery;

pub use level::{CompressionLevel, Levels};

use crate::error::Error;
use std::any::Any;
use std::fmt;

/// What an encoder does with the input beyond encoding it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Takes the input in; what comes out, and when, is the encoder's business.
    Encode,
    /// Also puts out all that is held back, so that the receiver can decode every byte given so far.
    Flush,
    /// Also ends the message. Only [`Encoder::reset`] is meaningful afterwards.
    Finish,
}

/// What an encoder's tables depend on. Two encoders of one codec with equal setups are interchangeable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Setup {
    /// The codec's own level, already clamped.
    pub level: i32,
    /// The codec's class for the message's size, from [`Codec::size_class`].
    pub size_class: u8,
}

/// What a decoder must not exceed, whatever its input declares.
///
/// Decoders of one codec with equal limits are interchangeable. The length of what is decoded is also
/// counted by the decoder's caller; here it bounds what is allocated because of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecodeLimits {
    /// The largest window, in bytes, where the format lets the sender choose it freely (zstd).
    pub max_window: u64,
    /// The largest decoded length, in bytes, that a message may declare.
    pub max_length: u64,
}

/// What a suspended stream keeps, so that another encoder of the same codec can go on with it.
///
/// The receiver cannot tell: what comes out before and after decodes as one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suspended {
    /// The running checksum of all input so far.
    pub checksum: u32,
    /// Bytes of input so far.
    pub length: u64,
    /// The last bytes of the input, to which coming data may refer back.
    pub tail: Vec<u8>,
}

/// A content coding: its names, its levels, and where its encoders and decoders come from.
pub trait Codec: Any + fmt::Debug + Send + Sync {
    /// The coding's token, as `Content-Encoding` says it (RFC 9110 section 8.4.1), in lower case.
    fn name(&self) -> &'static str;

    /// Other tokens that mean the same in `Accept-Encoding`, such as `x-gzip`.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The codec's own number for a level. Never fails: what is out of range is clamped.
    fn level(&self, level: CompressionLevel) -> i32;

    /// The class of contexts that suits a message of `size` bytes; `None` if the size is unknown.
    ///
    /// Contexts are pooled by class, so that a small message does not hold a large window.
    fn size_class(&self, size: Option<u64>) -> u8 {
        let _ = size;
        0
    }

    /// The class of contexts for a message of unknown size that is likely to be at most `size` bytes long, going
    /// by those before it. It may be longer all the same.
    fn likely_class(&self, size: u64) -> u8 {
        let _ = size;
        self.size_class(None)
    }

    /// Whether a message can be put out while it is still being written. Raw snappy cannot: it says the
    /// whole length first.
    fn streams(&self) -> bool {
        true
    }

    /// Whether encoders can be suspended ([`Encoder::suspend`]), so that an idle stream holds no context.
    fn parks(&self) -> bool {
        false
    }

    /// Whether the format has room for padding inside its one frame ([`Encoder::pad`]).
    fn pads(&self) -> bool {
        false
    }

    /// The bytes of input for one encoder call: what is gathered before an encoder at work is called again, and
    /// what a large write is cut into.
    ///
    /// As few as it works with at full speed, since each stream holds so much memory.
    fn batch(&self, level: i32) -> usize {
        let _ = level;
        BATCH
    }

    /// The bytes of input that one poll of a body encodes, in several calls. They take about 200 microseconds at this
    /// level.
    ///
    /// So much is gathered before the first call: a message that ends before that is coded in one, and its size is
    /// known.
    fn turn(&self, level: i32) -> usize {
        let _ = level;
        16 * 1024
    }

    /// The level for a stream whose flushed batches are only `batch` bytes long: at most `level`, or a number
    /// of the codec's own that [`level`](Codec::level) never gives.
    ///
    /// A small batch cannot pay for the work of a high level; see "Why do small batches change the encoder"
    /// in DESIGN.md.
    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        let _ = batch;
        level
    }

    /// The level for a message of `length` bytes that comes in one call: `level`, or a number of the codec's own that
    /// [`level`](Codec::level) never gives.
    ///
    /// A small message cannot pay for large tables; see "Why do small bodies change the encoder" in DESIGN.md.
    fn level_for_whole(&self, level: i32, length: usize) -> i32 {
        let _ = length;
        level
    }

    /// Bytes of heap that an encoder of this setup holds once it is at work; the pool's limit counts them.
    fn memory(&self, setup: Setup) -> usize;

    /// A new encoder.
    ///
    /// # Errors
    ///
    /// If the context cannot be allocated.
    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error>;

    /// A new decoder that keeps to `limits`.
    ///
    /// # Errors
    ///
    /// If the context cannot be allocated.
    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error>;
}

/// One message being encoded. Output is appended to a `Vec<u8>`.
///
/// After an error the encoder is of no use and must be dropped.
pub trait Encoder: Send + Sync {
    /// Takes all of `input` and carries out `operation`.
    ///
    /// The decoded bytes depend on the input alone, never on how it was cut. A [`Operation::Flush`] with
    /// nothing new since the last one puts nothing out.
    ///
    /// # Errors
    ///
    /// If the input breaks a promise ([`Encoder::pledge`]) or the context fails.
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error>;

    /// Promises that the message will be exactly `size` bytes long. Called before the first byte, if at all.
    fn pledge(&mut self, size: u64) {
        let _ = size;
    }

    /// Makes the encoder as new, or says with `false` that it cannot and must be dropped.
    fn reset(&mut self) -> bool;

    /// Makes a new or reset encoder one of another level. `false` if it cannot, and is as it was. Only tried
    /// where the level makes no difference to [`Codec::memory`].
    fn set_level(&mut self, level: i32) -> bool {
        let _ = level;
        false
    }

    /// Leaves the stream after a flush, so that the encoder can serve another one: what is returned goes on
    /// in any encoder of the codec through [`Encoder::resume`]. `None` if this codec cannot, or if there is
    /// unflushed input. Afterwards the encoder needs a [`reset`](Encoder::reset).
    fn suspend(&mut self) -> Option<Suspended> {
        None
    }

    /// Goes on with a suspended stream. `false` if it cannot; the encoder must then be dropped.
    /// Only meaningful on a new or reset encoder.
    fn resume(&mut self, suspended: Suspended) -> bool {
        let _ = suspended;
        false
    }

    /// Makes the message `bytes` longer in a way that every decoder ignores. Called before the first byte, if
    /// at all, and only where [`Codec::pads`].
    fn pad(&mut self, bytes: u16) {
        let _ = bytes;
    }
}

/// One message being decoded. Output is appended to a `Vec<u8>`.
///
/// After an error the decoder is of no use and must be dropped.
pub trait Decoder: Send + Sync {
    /// Decodes from `input`, appending at most `room` bytes, and returns how many bytes of input it took.
    ///
    /// It stops when the input is used up or `room` is filled; while it fills `room`, it may have more to
    /// give and is called again, with the rest of the input even if that is empty. Whatever is decodable from
    /// the input so far is put out. Messages made of several members or frames decode to their concatenation.
    /// The work is bounded by `input` and `room` together, since input need not decode to anything.
    ///
    /// # Errors
    ///
    /// [`Error::is_malformed`] if the input breaks the coding's rules, [`Error::is_limit`] if it declares
    /// more than is allowed; both before memory is taken.
    fn decode(&mut self, input: &[u8], room: usize, output: &mut Vec<u8>) -> Result<usize, Error>;

    /// Says that the input has ended, after [`decode`](Decoder::decode) has left some of its room unfilled.
    ///
    /// No input at all is an empty message in every coding: senders name a coding on messages that have no
    /// content.
    ///
    /// # Errors
    ///
    /// [`Error::is_truncated`] if this is not a place where the coding may end.
    fn finish(&mut self) -> Result<(), Error>;

    /// Makes the decoder as new, or says with `false` that it cannot and must be dropped.
    fn reset(&mut self) -> bool;

    /// Bytes of heap that the context holds; the pool's limit counts them.
    fn memory(&self) -> usize;
}

impl fmt::Debug for dyn Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encoder")
    }
}

impl fmt::Debug for dyn Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("memory", &self.memory()).finish_non_exhaustive()
    }
}

/// 4 KiB: by the sweep of the bench `adaptive`, over batches from 256 bytes to 1 MiB, gzip, deflate, zstd and brotli (from
/// level 3 on) gain nothing from there up to a turn; see "Why is a batch 4 KiB" in DESIGN.md.
const BATCH: usize = 4 * 1024;

/// The codecs compiled in, in the server's order of preference; see "Which levels, and which coding first" in DESIGN.md.
pub static CODECS: &[&dyn Codec] = &[
    #[cfg(feature = "zstd")]
    &zstd::Zstd,
    #[cfg(feature = "brotli")]
    &brotli::Brotli,
    #[cfg(feature = "gzip")]
    &gzip::Gzip,
    #[cfg(feature = "deflate")]
    &deflate::Deflate,
    #[cfg(feature = "snappy")]
    &snappy::Framed,
    #[cfg(feature = "snappy")]
    &snappy::Raw,
];

/// The compiled-in codec of this name or alias, compared without regard to case.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Codec> {
    CODECS.iter().copied().find(|codec| {
        codec.name().eq_ignore_ascii_case(name)
            || codec.aliases().iter().any(|alias| alias.eq_ignore_ascii_case(name))
    })
}
