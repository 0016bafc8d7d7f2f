//! What a message has cost.

/// What a message has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Bytes given to the encoder.
    pub bytes_in: u64,
    /// Bytes that came out.
    pub bytes_out: u64,
    /// Writes gathered.
    pub writes: u64,
    /// Calls of the encoder.
    pub encoder_calls: u64,
    /// Flushes among the calls.
    pub flushes: u64,
    /// Times that the stream gave its context up for lack of memory and went on in another.
    pub resumed: u64,
}
