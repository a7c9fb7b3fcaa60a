//! The values that the habits `loop` and `large` need.

use crate::Settings;

/// Runs until the host ends it.
pub fn endless() -> ! {
    let mut turns: u64 = 0;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

/// A text of that many KiB.
pub fn letters(settings: &Settings) -> String {
    "x".repeat(settings.size as usize * 1024)
}
