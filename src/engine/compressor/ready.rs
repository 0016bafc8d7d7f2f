//! Which context a call gets: of which class and level, and whether a waiting stream finds its own.

use super::{Compressor, Phase};
use crate::codec::{Operation, Setup, Suspended};
use crate::engine::context::{Context, Key};
use crate::engine::slot::Place;
use crate::error::{Error, Kind};

/// Flushes in a row that must agree before the level changes in the middle of a stream: a change costs a
/// priming, which one odd batch does not pay for.
const DISSENT: u8 = 2;

impl Compressor {
    /// The context to encode with: the one at hand, the one put down, or one from the pool.
    pub(super) fn ready(&mut self, length: usize, operation: Operation) -> Result<Box<Context>, Error> {
        let mut suspended = None;
        let mut at_hand = self.context.take();
        if at_hand.is_none() {
            match self.slot.as_ref().map(|slot| self.pool.resume(slot)) {
                Some(Place::Waiting(context)) => at_hand = Some(context),
                Some(Place::Suspended { stream, output }) => suspended = Some((stream, output)),
                Some(Place::Empty) | None => {}
            }
        }
        match self.phase {
            Phase::New => self.first(length, operation),
            Phase::Begun => {
                let current = at_hand.as_ref().map(|context| context.key.setup.level);
                let level = self.choose_level(current, length, operation);
                match (at_hand, suspended) {
                    (Some(context), _) if context.key.setup.level == level => Ok(context),
                    (Some(context), _) => self.change_level(context, level),
                    (None, Some((stream, output))) => self.go_on(stream, &output, level),
                    (None, None) => Err(Error::new(Kind::Encode)),
                }
            }
            Phase::Finished | Phase::Failed => Err(Error::new(Kind::Encode)),
        }
    }

    pub(super) fn first(&mut self, length: usize, operation: Operation) -> Result<Box<Context>, Error> {
        let level = match operation {
            Operation::Flush => self.codec.level_for_batch(self.setup.level, length),
            Operation::Finish => self.codec.level_for_whole(self.setup.level, length),
            Operation::Encode => self.setup.level,
        };
        let mut pledged = self.pledged;
        if operation == Operation::Finish && pledged.is_none() {
            // The only call: now the size is known after all.
            pledged = Some(length as u64);
            self.change_class(self.class_of_whole(length as u64));
        }
        let key = self.key(level);
        // Whole messages never wait.
        if self.codec.parks() && operation != Operation::Finish {
            self.keeps = self.pool.may_keep(&key, &mut self.lacked);
        }
        let mut context = self.pool.take(key, self.reserved.as_mut())?;
        // One that was in use has what its streams needed.
        if context.output.capacity() < self.expected_output {
            context.output.reserve_exact(self.expected_output);
        }
        self.phase = Phase::Begun;
        self.buffer.set_limit(self.batch);
        if let Some(size) = pledged {
            context.encoder.pledge(size);
        }
        if self.padding > 0 {
            context.encoder.pad(self.padding);
        }
        Ok(context)
    }

    /// Takes another class of contexts, unless that needs more memory than was set aside.
    fn change_class(&mut self, size_class: u8) {
        let setup = Setup { size_class, ..self.setup };
        let holds_more = self.codec.memory(setup) > self.codec.memory(self.setup);
        if setup != self.setup && !(holds_more && self.reserved.is_some()) {
            self.setup = setup;
            self.reserved = None;
        }
    }

    /// The level for the next call: that of the user for what is large, another for small flushed batches.
    fn choose_level(&mut self, current: Option<i32>, length: usize, operation: Operation) -> i32 {
        let liked = match operation {
            Operation::Encode => self.setup.level,
            Operation::Flush | Operation::Finish => self.codec.level_for_batch(self.setup.level, length),
        };
        let Some(current) = current else { return liked };
        // The end of a stream is worth a change only if there is much in it.
        let last = operation == Operation::Finish && liked != self.setup.level;
        if liked == current || self.held_back || last {
            self.dissent = 0;
            return current;
        }
        self.dissent += 1;
        // A full batch settles it: there is much to come.
        if operation != Operation::Flush || self.dissent >= DISSENT {
            self.dissent = 0;
            return liked;
        }
        current
    }

    fn change_level(&mut self, mut context: Box<Context>, level: i32) -> Result<Box<Context>, Error> {
        let Some(stream) = context.encoder.suspend() else { return Ok(context) };
        let output = std::mem::take(&mut context.output);
        if !context.adopt(self.key(level)) {
            self.pool.give(context);
            context = self.pool.take(self.key(level), None)?;
        }
        context.output = output;
        resume(context, stream)
    }

    fn go_on(&mut self, stream: Suspended, output: &[u8], level: i32) -> Result<Box<Context>, Error> {
        self.tally.resumed += 1;
        // Whoever took the context away has flushed it.
        self.held_back = false;
        let key = self.key(level);
        self.keeps = self.pool.may_keep(&key, &mut self.lacked);
        let mut context = resume(self.pool.take(key, None)?, stream)?;
        context.output.extend_from_slice(output);
        Ok(context)
    }

    fn key(&self, level: i32) -> Key {
        Key { codec: self.codec, setup: Setup { level, ..self.setup } }
    }
}

/// Goes on with a stream in a clean context.
fn resume(mut context: Box<Context>, stream: Suspended) -> Result<Box<Context>, Error> {
    if context.encoder.resume(stream) { Ok(context) } else { Err(Error::new(Kind::Encode)) }
}
