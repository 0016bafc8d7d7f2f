//! What several tests need: a body that follows a script, seeded text, and decoders that are not ours.

pub(crate) mod channel;
pub(crate) mod connection;
pub(crate) mod corpus;
pub(crate) mod counting;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod failing;
pub(crate) mod incremental;
pub(crate) mod origin;
pub(crate) mod script;
pub(crate) mod serve;

pub(crate) use script::{Script, Step};
