//! The codecs behind the names that a layer was set up with.

use crate::codec::{self, Codec};

/// Codecs of the registry, and from outside the crate, which go before those with the same name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codings {
    foreign: Vec<&'static dyn Codec>,
    enabled: Vec<&'static dyn Codec>,
}

impl Codings {
    /// Makes a codec from outside known. It is not enabled by that.
    pub(crate) fn add(&mut self, codec: &'static dyn Codec) {
        self.foreign.retain(|known| known.name() != codec.name());
        self.foreign.push(codec);
    }

    /// Enables these codings, in this order. What is not compiled in is left out.
    pub(crate) fn enable(&mut self, names: impl Iterator<Item = &'static str>) {
        self.enabled = names.filter_map(|name| self.find(name)).collect();
    }

    /// The enabled codecs, in their order.
    pub(crate) fn enabled(&self) -> &[&'static dyn Codec] {
        &self.enabled
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.enabled.iter().map(|codec| codec.name()).collect()
    }

    fn find(&self, name: &str) -> Option<&'static dyn Codec> {
        self.foreign.iter().copied().find(|codec| codec.name() == name).or_else(|| codec::by_name(name))
    }
}
