//! What a message begins with: its buffer, its batches, and the class of its context.

use super::Compressor;
use crate::codec::Setup;
use crate::engine::sizing::{Expected, Sizing};
use crate::engine::write_buffer::WriteBuffer;

/// The length, in bytes, up to which messages share a context with smaller ones: 64 KiB.
const SHARED_AT_MOST: u64 = 64 * 1024;

impl Compressor {
    /// Limits an encoder call, and a poll, to `bytes` of input, below what the codec likes best.
    pub fn limit_batch(&mut self, bytes: usize) {
        for limited in [&mut self.first, &mut self.batch, &mut self.turn] {
            *limited = bytes.clamp(1, *limited);
        }
        self.buffer.set_limit(self.due());
    }

    /// Gathers messages of up to `bytes` bytes whole before the first call, so that they can still be
    /// [taken](Self::take_unbegun). Only before the first write.
    pub fn look_ahead(&mut self, bytes: usize) {
        self.ahead = Some(bytes);
        self.buffer.set_limit(self.due());
    }

    /// Makes the output `bytes` longer, if the codec has room for it, and returns by how much. Only before the
    /// first write.
    pub fn pad(&mut self, bytes: u16) -> usize {
        self.padding = if self.codec.pads() { bytes } else { 0 };
        usize::from(self.padding)
    }

    /// Begins with what was gathered before it was known that there would be a compressor.
    pub fn begin_with(&mut self, buffer: WriteBuffer) {
        self.buffer = buffer;
        self.buffer.set_limit(self.batch());
    }

    /// Begins with the sizes that `sizing` has said to be `expected`, and lets it learn from this message. Only before the
    /// first write, and before [`reserve`](Self::reserve).
    pub fn learn(&mut self, sizing: &Sizing, expected: Expected) {
        let longer = match self.pledged {
            Some(size) => size > self.first as u64,
            None => expected.is_longer_than(self.first),
        };
        if let Some(bytes) = expected.fixed {
            self.batch = bytes.clamp(1, self.turn);
            self.first = self.batch;
        } else if longer {
            // There is no end to wait for.
            self.first = self.batch;
        }
        self.buffer.set_limit(self.first);
        expected.size(&mut self.buffer, self.pledged);
        self.expected_output = expected.output();
        if let (None, Some(length)) = (self.pledged, expected.length()) {
            self.setup.size_class = self.codec.likely_class(length);
            self.share(length);
        }
        self.lesson = Some((sizing.clone(), expected.place()));
    }

    /// Shares a context with messages of up to `size` bytes, those that went before. Only before the first write, and only
    /// where all of them are looked at as a whole by default: contexts for what is longer hold more memory.
    ///
    /// What goes to and fro between contexts finds each of them cold: lists of 16 to 26 KB, in two classes of zstd's,
    /// cost 10 % more CPU time than in one.
    pub fn share(&mut self, size: u64) {
        if size > SHARED_AT_MOST {
            return;
        }
        self.shared = size;
        if let Some(pledged) = self.pledged {
            self.setup.size_class = self.class_of_whole(pledged);
        }
    }

    pub(super) fn class_of_whole(&self, length: u64) -> u8 {
        self.codec.size_class(Some(length.max(self.shared)))
    }

    /// Sets memory aside for the whole message, for codecs that cannot park. `false` at the pool's limit.
    ///
    /// Where there is not enough for a context of the message's size, one for messages of unknown size has to do if it
    /// holds less. It looks back less far.
    #[must_use]
    pub fn reserve(&mut self) -> bool {
        if self.codec.parks() || self.context.is_some() || self.reserved.is_some() {
            return true;
        }
        let any_size = Setup { size_class: self.codec.size_class(None), ..self.setup };
        let holds_less = |setup: &Setup| self.codec.memory(*setup) < self.codec.memory(self.setup);
        for setup in [Some(self.setup), Some(any_size).filter(holds_less)].into_iter().flatten() {
            self.reserved = self.pool.reserve(self.codec, setup);
            if self.reserved.is_some() {
                self.setup = setup;
                return true;
            }
        }
        false
    }
}
