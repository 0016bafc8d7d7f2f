//! What has gone wrong in other people's software, case by case: the letter and number of each are its name.
//!
//! Most are exchanges over real connections, built as the conformance items are.

mod bodies;
mod deciding;
mod errors;
mod flushing;
mod metadata;
mod methods;
mod negotiation;
mod wire;
