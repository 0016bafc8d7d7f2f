//! codecs with another batch, or that do nothing.
use tower_compress::Error;
use tower_compress::codec::*;

#[derive(Debug)]
pub(crate) struct Batched {
    pub(crate) inner: &'static dyn Codec,
    pub(crate) batch: Option<usize>,
    pub(crate) null: bool,
}

impl Codec for Batched {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn level(&self, level: CompressionLevel) -> i32 {
        self.inner.level(level)
    }
    fn size_class(&self, size: Option<u64>) -> u8 {
        self.inner.size_class(size)
    }
    fn streams(&self) -> bool {
        self.inner.streams()
    }
    fn parks(&self) -> bool {
        self.inner.parks() && !self.null
    }
    fn batch(&self, level: i32) -> usize {
        self.batch.unwrap_or_else(|| self.inner.batch(level))
    }
    fn slice(&self, level: i32) -> usize {
        self.inner.slice(level).max(self.batch(level))
    }
    fn likely_class(&self, size: u64) -> u8 {
        self.inner.likely_class(size)
    }
    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        self.inner.level_for_batch(level, batch)
    }
    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }
    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        if self.null { Ok(Box::new(Null)) } else { self.inner.encoder(setup) }
    }
    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Null;
impl Encoder for Null {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        if operation != Operation::Encode && !input.is_empty() {
            output.push(0);
        }
        Ok(())
    }
    fn reset(&mut self) -> bool {
        true
    }
}
