use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
pub struct Counting;
thread_local! {
    static BUFFERS: Cell<usize> = const { Cell::new(0) };
    static REALLOCS: Cell<u64> = const { Cell::new(0) };
}
pub(crate) fn buffers() -> usize {
    BUFFERS.with(Cell::get)
}
pub(crate) fn reallocs() -> u64 {
    REALLOCS.with(Cell::get)
}
fn is(layout: Layout) -> bool {
    layout.align() == 1 && layout.size() >= 512
}
fn add(n: usize, m: usize) {
    let _ = BUFFERS.try_with(|c| c.set(c.get().wrapping_add(n).wrapping_sub(m)));
}
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is(layout) {
            add(layout.size(), 0)
        }
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is(layout) {
            add(layout.size(), 0)
        }
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() == 1 {
            let _ = REALLOCS.try_with(|c| c.set(c.get() + 1));
            add(if size >= 512 { size } else { 0 }, if layout.size() >= 512 { layout.size() } else { 0 });
        }
        unsafe { System.realloc(at, layout, size) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if is(layout) {
            add(0, layout.size())
        }
        unsafe { System.dealloc(at, layout) }
    }
}
