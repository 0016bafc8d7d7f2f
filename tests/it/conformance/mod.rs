//! What HTTP asks of response compression, item by item, as data.
//!
//! Each item in `items/` is a set-up (a request, the handler's answer, how the layer is set) and checks on what
//! arrives at the client. Each runs as a real exchange: hyper's server and client over a loopback connection,
//! with HTTP/1.1 and HTTP/2 where both apply. The tests here run the items against this crate; the example
//! `conformance` runs the same items against this crate and against tower-http's `CompressionLayer`.

pub(crate) mod app;
pub(crate) mod case;
pub(crate) mod check;
pub(crate) mod exchange;
mod frame_header;
mod items;
pub(crate) mod layers;
pub(crate) mod reply;
mod scripted;

pub(crate) use frame_header::frame_header;
pub(crate) use items::items;
pub(crate) use layers::Subject;

use case::Case;

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// A MUST of the cited text.
    Must,
    /// A SHOULD of the cited text.
    Should,
    /// Learned from failures between programs.
    Interop,
    /// This project's own choice.
    Policy,
}

/// One rule and the exchanges that show whether it holds.
pub(crate) struct Item {
    pub(crate) id: &'static str,
    pub(crate) source: Source,
    /// The section of RFC 9110, or of what is named.
    pub(crate) section: &'static str,
    pub(crate) expectation: &'static str,
    cases: Vec<Case>,
    /// An exchange that needs more than one request and its answer.
    special: Option<fn(Subject) -> Outcome>,
}

fn item(id: &'static str, source: Source, section: &'static str, expectation: &'static str) -> Item {
    Item { id, source, section, expectation, cases: Vec::new(), special: None }
}

impl Item {
    /// All of these must go well.
    fn cases(self, cases: impl IntoIterator<Item = Case>) -> Self {
        Self { cases: cases.into_iter().collect(), ..self }
    }

    fn special(self, special: fn(Subject) -> Outcome) -> Self {
        Self { special: Some(special), ..self }
    }
}

/// How an item went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Holds,
    /// With the first failure.
    Misses(String),
    /// The layer has no such feature, so there is nothing to judge.
    NotOffered,
}

/// Runs all exchanges of an item.
pub(crate) fn run(item: &Item, subject: Subject) -> Outcome {
    if let Some(special) = item.special {
        return special(subject);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut offered = false;
    for case in &item.cases {
        if !case.offered_by(subject) {
            continue;
        }
        offered = true;
        for protocol in case.protocols() {
            if let Err(failure) = runtime.block_on(case.run(subject, *protocol)) {
                return Outcome::Misses(failure);
            }
        }
    }
    if offered { Outcome::Holds } else { Outcome::NotOffered }
}

/// What the tests assert of each item.
#[cfg(test)]
fn holds(item: &Item) {
    match run(item, Subject::Ours) {
        Outcome::Holds => {}
        outcome => {
            panic!("{} ({:?}, {}) {}: {outcome:?}", item.id, item.source, item.section, item.expectation)
        }
    }
}

/// The same of exchanges that are no item.
#[cfg(test)]
pub(crate) fn all_hold(cases: impl IntoIterator<Item = Case>) {
    holds(&item("", Source::Interop, "", "").cases(cases));
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Subject, check, items, run};
    use crate::conformance::case::get;
    use crate::conformance::{Source, item};

    #[test]
    fn no_two_items_have_one_number() {
        let mut ids: Vec<_> = items().iter().map(|item| item.id).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn an_item_can_fail_for_both_layers() {
        let nobody = item("0", Source::Policy, "", "what nobody does")
            .cases([get("gzip").expect([check::coded("br")])]);
        for subject in [Subject::Ours, Subject::Theirs] {
            assert!(matches!(run(&nobody, subject), Outcome::Misses(_)), "{subject:?}");
        }
    }
}
