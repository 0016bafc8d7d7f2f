//! What HTTP asks of a compressing server, and what the user chose: pure functions and plain data.
//!
//! This room sees heads, and of a codec only its name; it never touches a body's bytes, an encoder or a task.
//! Each module is one question:
//!
//! | module | question |
//! |---|---|
//! | `accept` | which coding does the client want? |
//! | [`predicate`] | is this response worth coding? |
//! | `eligible` | does HTTP allow coding it? |
//! | `decode` | does it allow decoding it, and from what? |
//! | `headers`, `etag` | what does its head say then? |
//! | `config`, [`Compress`], [`FlushPolicy`], [`EtagPolicy`] | what did the user choose? |

mod accept;
mod compress;
mod config;
mod decode;
mod eligible;
mod etag;
mod fields;
mod flush;
mod headers;
mod list;
mod media;
pub mod predicate;
mod reason;

pub use compress::Compress;
pub use etag::EtagPolicy;
pub use flush::FlushPolicy;
pub use reason::Reason;

pub(crate) use accept::{Negotiated, Offer, negotiate};
pub(crate) use config::Config;
pub(crate) use decode::{accept, listed_codings, may_decode};
pub(crate) use eligible::{RequestFacts, decide, decide_request, no_transform};
pub(crate) use etag::MappedTags;
pub(crate) use headers::{
    add_vary, remove_digests, rewrite_coded, rewrite_coded_request, rewrite_coded_trailers, rewrite_decoded,
    rewrite_decoded_trailers, rewrite_unknown,
};
pub(crate) use media::is_event_stream;
