//! The items, in the order of their numbers.

/// The items of a module, and a test of the same name for each.
macro_rules! group {
    ($($name:ident),* $(,)?) => {
        pub(super) fn items() -> Vec<Item> {
            vec![$($name()),*]
        }

        #[cfg(test)]
        mod tests {
            $(
                #[test]
                fn $name() {
                    crate::conformance::holds(&super::$name());
                }
            )*
        }
    };
}

mod clients;
mod formats;
mod metadata;
mod methods;
mod negotiation;
mod observation;
mod refusal;
mod size;
mod streaming;
mod tags;

use super::Item;

/// All items.
pub(crate) fn items() -> Vec<Item> {
    let groups = [
        negotiation::items(),
        metadata::items(),
        tags::items(),
        refusal::items(),
        methods::items(),
        size::items(),
        streaming::items(),
        clients::items(),
        formats::items(),
        observation::items(),
    ];
    groups.into_iter().flatten().collect()
}
