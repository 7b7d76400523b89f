//! The allocator of the commands: mimalloc. It lives in this crate because it needs unsafe
//! code.
//!
//! The `mimalloc` crate requests every allocation with its alignment, which takes three
//! times as many instructions as requesting it by size alone. Almost every allocation has
//! the alignment of a word, as all memory of mimalloc does.

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// Minimum alignment of every mimalloc block, however small.
const WORD: usize = 8;

/// mimalloc, for `#[global_allocator]`.
pub struct Allocator;

// SAFETY: all memory comes from mimalloc and goes back to it, and has the size and the
// alignment that was requested.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size will do, and alignments are powers of two.
        unsafe {
            match layout.align() {
                ..=WORD => mi_malloc(layout.size()).cast(),
                align => mi_malloc_aligned(layout.size(), align).cast(),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match layout.align() {
                ..=WORD => mi_zalloc(layout.size()).cast(),
                align => mi_zalloc_aligned(layout.size(), align).cast(),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: the caller has it from here.
        unsafe { mi_free(memory.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller has it from here, with this alignment.
        unsafe {
            match layout.align() {
                ..=WORD => mi_realloc(memory.cast(), size).cast(),
                align => mi_realloc_aligned(memory.cast(), size, align).cast(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Allocator = Allocator;

    #[test]
    fn memory_is_aligned_and_keeps_what_is_in_it() {
        for size in (1..300).chain([4096, 70_000, 3 << 20]) {
            for align in (0..8).map(|bit| 1 << bit) {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: no layout has the size zero, and all memory is freed once with
                // the layout that it has.
                unsafe {
                    let zeroed = ALLOCATOR.alloc_zeroed(layout);
                    assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0));
                    let memory = ALLOCATOR.alloc(layout);
                    memory.write_bytes(7, size);
                    let larger = ALLOCATOR.realloc(memory, layout, 3 * size);
                    assert!(std::slice::from_raw_parts(larger, size).iter().all(|byte| *byte == 7));
                    assert_eq!((zeroed.addr() % align, larger.addr() % align), (0, 0));
                    ALLOCATOR.dealloc(larger, Layout::from_size_align(3 * size, align).unwrap());
                    ALLOCATOR.dealloc(zeroed, layout);
                }
            }
        }
    }
}
