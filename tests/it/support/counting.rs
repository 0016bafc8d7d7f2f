//! A codec from outside the crate that watches one inside: how many calls, with how much, doing what.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use tower_compress::Error;
use tower_compress::codec::{
    Codec, CompressionLevel, DecodeLimits, Decoder, Encoder, Operation, Setup, Suspended, by_name,
};

/// One call of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) bytes: usize,
    pub(crate) operation: Operation,
    /// Where the input was: tells whether it was copied on its way.
    pub(crate) address: usize,
}

/// A codec with the name and the format of one in the registry.
#[derive(Debug)]
pub(crate) struct Counting {
    inner: &'static dyn Codec,
    calls: Arc<Mutex<Vec<Call>>>,
    built: Arc<Mutex<usize>>,
    gate: Arc<Gate>,
}

/// What holds encoders up until it is opened, and the threads that came by.
#[derive(Debug, Default)]
struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
    threads: Mutex<HashSet<ThreadId>>,
}

impl Gate {
    fn pass(&self) {
        self.threads.lock().unwrap().insert(std::thread::current().id());
        drop(self.opened.wait_while(self.closed.lock().unwrap(), |closed| *closed).unwrap());
    }
}

impl Counting {
    /// Leaked, since layers want codecs that last: a few bytes a test.
    pub(crate) fn new(name: &str) -> &'static Self {
        let inner = by_name(name).unwrap();
        Box::leak(Box::new(Self {
            inner,
            calls: Arc::default(),
            built: Arc::default(),
            gate: Arc::default(),
        }))
    }

    /// Holds encoders up before their next call, or lets them go on.
    pub(crate) fn hold(&self, closed: bool) {
        *self.gate.closed.lock().unwrap() = closed;
        self.gate.opened.notify_all();
    }

    /// The threads that encoders were called on.
    pub(crate) fn threads(&self) -> HashSet<ThreadId> {
        self.gate.threads.lock().unwrap().clone()
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Bytes given to encoders.
    pub(crate) fn bytes(&self) -> usize {
        self.calls.lock().unwrap().iter().map(|call| call.bytes).sum()
    }

    pub(crate) fn built(&self) -> usize {
        *self.built.lock().unwrap()
    }

    pub(crate) fn flushes(&self) -> usize {
        self.calls().iter().filter(|call| call.operation == Operation::Flush).count()
    }
}

impl Codec for Counting {
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
        self.inner.parks()
    }

    fn batch(&self, level: i32) -> usize {
        self.inner.batch(level)
    }

    fn likely_class(&self, size: u64) -> u8 {
        self.inner.likely_class(size)
    }

    fn turn(&self, level: i32) -> usize {
        self.inner.turn(level)
    }

    fn level_for_batch(&self, level: i32, batch: usize) -> i32 {
        self.inner.level_for_batch(level, batch)
    }

    fn level_for_whole(&self, level: i32, length: usize) -> i32 {
        self.inner.level_for_whole(level, length)
    }

    fn memory(&self, setup: Setup) -> usize {
        self.inner.memory(setup)
    }

    fn encoder(&self, setup: Setup) -> Result<Box<dyn Encoder>, Error> {
        *self.built.lock().unwrap() += 1;
        Ok(Box::new(Watched {
            inner: self.inner.encoder(setup)?,
            calls: Arc::clone(&self.calls),
            gate: Arc::clone(&self.gate),
        }))
    }

    fn decoder(&self, limits: DecodeLimits) -> Result<Box<dyn Decoder>, Error> {
        self.inner.decoder(limits)
    }
}

struct Watched {
    inner: Box<dyn Encoder>,
    calls: Arc<Mutex<Vec<Call>>>,
    gate: Arc<Gate>,
}

impl Encoder for Watched {
    fn encode(&mut self, input: &[u8], operation: Operation, output: &mut Vec<u8>) -> Result<(), Error> {
        self.gate.pass();
        self.calls.lock().unwrap().push(Call {
            bytes: input.len(),
            operation,
            address: input.as_ptr() as usize,
        });
        self.inner.encode(input, operation, output)
    }

    fn pledge(&mut self, size: u64) {
        self.inner.pledge(size);
    }

    fn reset(&mut self) -> bool {
        self.inner.reset()
    }

    fn set_level(&mut self, level: i32) -> bool {
        self.inner.set_level(level)
    }

    fn suspend(&mut self) -> Option<Suspended> {
        self.inner.suspend()
    }

    fn resume(&mut self, suspended: Suspended) -> bool {
        self.inner.resume(suspended)
    }

    fn pad(&mut self, bytes: u16) {
        self.inner.pad(bytes);
    }
}
