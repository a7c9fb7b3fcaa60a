//! Work on a stack that is large enough for any statement that the guard reads.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Texts up to here nest so little that any stack holds them.
const SMALL: usize = 512;
/// Bytes of the stack for longer ones. Only what is used of it takes memory.
const STACK: usize = 64 << 20;
/// Bytes of the stack for what is nested without operators: at most 200 levels of parentheses and
/// queries.
pub(crate) const BASE: usize = 2 << 20;
/// Bytes of the stack for one operator. A chain of operators is a tree as deep as the chain is
/// long.
pub(crate) const PER_OPERATOR: usize = 8 << 10;

/// Returns true if a text may be worked on where it is, whatever the stack.
pub(crate) fn is_small(text: &str) -> bool {
    text.len() <= SMALL
}

/// Works on a large stack, on the same thread: another would begin with empty memory. `None` if the
/// work panics. A stack of its own is only made for texts with more operators than the present one
/// has room for.
pub(crate) fn on_a_large_stack<T>(operators: usize, work: impl FnOnce() -> T) -> Option<T> {
    stacker::maybe_grow(BASE + operators * PER_OPERATOR, STACK, || {
        catch_unwind(AssertUnwindSafe(work)).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_stack_and_a_panic_are_held() {
        fn deep(levels: u32) -> u32 {
            let ballast = std::hint::black_box([levels; 256]);
            if levels == 0 { 0 } else { deep(levels - 1) + ballast[0] - levels + 1 }
        }
        assert_eq!(on_a_large_stack(10_000, || deep(10_000)), Some(10_000));
        assert_eq!(on_a_large_stack(1, || -> u32 { panic!("in the parser") }), None);
    }
}
