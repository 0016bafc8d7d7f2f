//! Tables.

/// On the heap from the start: an array of such a size would overflow a small stack.
pub(super) fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    match vec![T::default(); N].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it has the length that was asked for"),
    }
}
