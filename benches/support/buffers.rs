//! A global allocator that follows buffers of bytes: how much they hold, and how often one had to move.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts each thread's byte buffers. Other allocations pass unseen.
#[derive(Debug)]
pub(crate) struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static REALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Bytes of heap in this thread's buffers.
pub(crate) fn held() -> usize {
    HELD.get()
}

/// Times that one of this thread's buffers was reallocated.
pub(crate) fn reallocations() -> u64 {
    REALLOCATIONS.get()
}

/// What a buffer of so many bytes counts. Smaller ones are header values and paths.
pub(crate) fn counted(bytes: usize) -> usize {
    if bytes >= 256 { bytes } else { 0 }
}

/// Only bytes have an alignment of one.
fn size_of(layout: Layout) -> usize {
    if layout.align() == 1 { counted(layout.size()) } else { 0 }
}

fn change(more: usize, less: usize) {
    // A thread that is being torn down has no counter left, and nobody asks for it any more.
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(more).wrapping_sub(less)));
}

// Counting needs the one trait that is unsafe to implement; every call goes to the system's allocator as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(size_of(layout), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        change(size_of(layout), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size_of(layout) > 0 {
            let _ = REALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        }
        if let Ok(new) = Layout::from_size_align(size, layout.align()) {
            change(size_of(new), size_of(layout));
        }
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        change(0, size_of(layout));
        unsafe { System.dealloc(at, layout) }
    }
}
