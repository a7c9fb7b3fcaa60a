//! Runs the target `component` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| syrch_fuzz::check("component", input));
