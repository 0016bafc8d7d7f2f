//! Whether code runs inside a layer's service: an answer need not be coded then, the layer does it.
//!
//! An extension of the request would say so as well, and cost every request two allocations.

use std::cell::Cell;

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Polls a layer's service.
pub(super) fn within<T>(poll: impl FnOnce() -> T) -> T {
    /// Also after a panic: the thread may go on with other tasks.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            WITHIN.set(self.0);
        }
    }
    let _restore = Restore(WITHIN.replace(true));
    poll()
}

/// Whether a layer is around. A service that a layer calls on another task does not know; what it codes itself,
/// the layer passes.
pub(crate) fn is_within() -> bool {
    WITHIN.get()
}
