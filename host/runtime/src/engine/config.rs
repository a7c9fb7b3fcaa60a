//! The settings of an engine: the resources that guests may use, and the compilation. The build
//! script of `host/app` uses this file, too: it compiles the built-in plugins ahead of time, and
//! their code fits only an engine of the same settings.

use wasmtime::{Config, Strategy};

/// The settings of an engine whose guests have a stack of so many bytes. Proposals that guests of
/// the usual languages do not need are off, and so is whatever could differ between machines.
/// Components within components, such as those of JavaScript, need several memories for their
/// adapters, and their runtimes tail calls.
pub(crate) fn config(wasm_stack: usize) -> Config {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .wasm_component_model(true)
        .epoch_interruption(true)
        .max_wasm_stack(wasm_stack)
        .async_stack_size(wasm_stack.saturating_mul(4))
        .parallel_compilation(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(true)
        .wasm_tail_call(true)
        .cranelift_nan_canonicalization(true)
        // What a memory begins with is some ten pages: copying them is cheaper than mapping them
        // and then faulting on each.
        .memory_init_cow(false)
        .generate_address_map(false)
        // Only wasmtime reads a guest's frames, and it does not need this.
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None);
    config
}
