//! Runs the target `csv` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| syrch_fuzz::check("csv", input));
