//! The wasmtime engine: what the sandbox switches on and off, and the ticker behind the CPU limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use syrch_core::Limits;
use wasmtime::{Config, Engine};

/// How often CPU limits are looked at.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Builds the engine. Proposals that guests of the usual languages do without are off, as is what could differ between machines.
pub(crate) fn engine(limits: &Limits) -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .strategy(wasmtime::Strategy::Cranelift)
        .wasm_component_model(true)
        .epoch_interruption(true)
        .max_wasm_stack(limits.wasm_stack)
        .async_stack_size(limits.wasm_stack.saturating_mul(4))
        .parallel_compilation(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .cranelift_nan_canonicalization(true)
        .generate_address_map(false)
        .wasm_backtrace_max_frames(None);
    Engine::new(&config)
}

/// A thread that advances the engine's epoch until it is dropped.
pub(crate) struct Ticker {
    stop: Arc<AtomicBool>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (weak, seen) = (engine.weak(), Arc::clone(&stop));
        std::thread::Builder::new().name("epoch".into()).spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                match weak.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Self { stop })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
