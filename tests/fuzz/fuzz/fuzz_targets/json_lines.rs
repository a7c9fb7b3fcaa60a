//! Runs the target `json_lines` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| syrch_fuzz::check("json_lines", input));
