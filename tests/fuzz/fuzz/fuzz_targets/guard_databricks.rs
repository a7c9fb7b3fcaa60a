//! Runs the target `guard_databricks` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| syrch_fuzz::check("guard_databricks", input));
