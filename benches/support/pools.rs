//! A pool, against encoders that each thread keeps for itself.

use bytes::Bytes;
use cpu_time::ThreadTime;
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tower_compress::codec::{Codec, Encoder, Operation, Setup};
use tower_compress::engine::Compressor;
use tower_compress::{CompressionLevel, EncoderPool};

/// Encodes a whole message with an encoder of the pool.
pub(crate) fn pooled(pool: &EncoderPool, codec: &'static dyn Codec, body: &[u8]) -> Bytes {
    let compressor = Compressor::new(pool, codec, CompressionLevel::Default, Some(body.len() as u64));
    compressor.whole(body).expect("there is room").0
}

/// The same with a pool that no other thread can see.
pub(crate) fn local(codec: &'static dyn Codec, body: &[u8]) -> Bytes {
    type Shelf = Vec<(&'static str, Setup, Box<dyn Encoder>, Vec<u8>)>;
    thread_local! {
        static SHELF: RefCell<Shelf> = const { RefCell::new(Vec::new()) };
    }
    let setup = Setup {
        level: codec.level(CompressionLevel::Default),
        size_class: codec.size_class(Some(body.len() as u64)),
    };
    let found = SHELF.with_borrow_mut(|shelf| {
        let at = shelf.iter().rposition(|(name, of, ..)| *of == setup && *name == codec.name())?;
        Some(shelf.swap_remove(at))
    });
    let (name, setup, mut encoder, mut output) =
        found.unwrap_or_else(|| (codec.name(), setup, codec.encoder(setup).expect("memory"), Vec::new()));
    encoder.encode(body, Operation::Finish, &mut output).expect("there is room");
    let bytes = Bytes::copy_from_slice(&output);
    output.clear();
    assert!(encoder.reset());
    SHELF.with_borrow_mut(|shelf| shelf.push((name, setup, encoder, output)));
    bytes
}

/// CPU time of one thread for `runs`, the mean over all threads.
pub(crate) fn side_by_side<T>(threads: u32, runs: u64, work: impl Fn() -> T + Sync) -> Duration {
    let start = Barrier::new(threads as usize);
    let of_one = || {
        work();
        start.wait();
        let start = ThreadTime::now();
        for _ in 0..runs {
            black_box(work());
        }
        start.elapsed()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(of_one)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no one panics")).sum::<Duration>()
    }) / threads
}
