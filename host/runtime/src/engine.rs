//! The wasmtime engine: the features of the sandbox, and the ticker behind the CPU limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use syrch_core::Limits;
use wasmtime::{Enabled, Engine, PoolingAllocationConfig};

use crate::capacity::Size;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod code;
mod config;

use config::config;

/// The interval at which guests are interrupted, to compare their CPU time with the limits and to
/// let other tasks run.
const TICK: Duration = Duration::from_millis(2);

/// Slots that stay reserved for a plugin after its guest has ended. Without images of memories one
/// slot is as good as another.
const WARM: u32 = 8;

/// Builds the engine with a pool of what stores need, or where the machine lacks the address space,
/// without one.
pub(crate) fn engine(limits: &Limits) -> wasmtime::Result<Engine> {
    let mut config = config(limits.wasm_stack);
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    config.with_custom_code_memory(Some(Arc::new(code::Executable)));
    Engine::new(config.clone().allocation_strategy(pool(limits))).or_else(|_| Engine::new(&config))
}

/// Builds the engine of a process that compiles and runs nothing: without a pool and with one
/// thread. Its code fits [`engine`].
pub(crate) fn compiler(limits: &Limits) -> wasmtime::Result<Engine> {
    let mut config = config(limits.wasm_stack);
    config.parallel_compilation(false);
    Engine::new(&config)
}

/// The pool of stores. A guest may use all that its limits allow. When it ends, its memory is reset
/// but stays mapped: unmapping its pages and mapping others costs more than most calls do.
fn pool(limits: &Limits) -> PoolingAllocationConfig {
    const RESIDENT: usize = 2 << 20;
    fn pool_size(limit: usize) -> u32 {
        u32::try_from(limit).unwrap_or(u32::MAX)
    }
    let mut pool = PoolingAllocationConfig::new();
    let all = Size::for_searches(limits.searches).all();
    // Memories are what is scarce: each takes addresses for all that it could grow to. Of the rest
    // there is as much as calls with one memory may have.
    pool.total_component_instances(all)
        .total_stacks(all)
        .total_core_instances(all.saturating_mul(pool_size(limits.instances)))
        .total_memories(all)
        .total_tables(all.saturating_mul(pool_size(limits.tables)))
        .max_memory_size(limits.memory)
        .table_elements(limits.table_elements)
        .max_memories_per_module(pool_size(limits.memories))
        .max_tables_per_module(pool_size(limits.tables))
        .linear_memory_keep_resident(RESIDENT)
        .table_keep_resident(RESIDENT)
        .async_stack_keep_resident(RESIDENT)
        .pagemap_scan(Enabled::Auto)
        .max_unused_warm_slots(WARM);
    pool
}

/// A thread that advances the engine's epoch until this is dropped.
pub(crate) struct Ticker {
    stop: Arc<AtomicBool>,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let weak = engine.weak();
        let seen = Arc::clone(&stop);
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

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store};

    use super::*;

    /// A module whose memory is larger than what stays resident, and starts with a word.
    const GUEST: &str = r#"(module
        (memory 48)
        (data (i32.const 8) "started")
        (func (export "soil") (memory.fill (i32.const 0) (i32.const 90) (i32.const 3145728)))
        (func (export "sum") (result i32) (local $at i32) (local $sum i32)
            (loop $next
                (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const 3145728))))
            (local.get $sum)))"#;

    #[tokio::test]
    async fn a_slot_holds_nothing_of_the_guest_before() {
        let engine = engine(&Limits::default()).unwrap();
        let module = Module::new(&engine, wat::parse_str(GUEST).unwrap()).unwrap();
        let started = i32::try_from("started".bytes().map(u32::from).sum::<u32>()).unwrap();
        for round in 0..3 * WARM {
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(u64::MAX / 2);
            let instance = Instance::new_async(&mut store, &module, &[]).await.unwrap();
            let sum = instance.get_typed_func::<(), i32>(&mut store, "sum").unwrap();
            assert_eq!(sum.call_async(&mut store, ()).await.unwrap(), started, "round {round}");
            let soil = instance.get_typed_func::<(), ()>(&mut store, "soil").unwrap();
            soil.call_async(&mut store, ()).await.unwrap();
        }
    }

    /// More guests at once than there are slots of one kind, each with a memory.
    #[tokio::test]
    async fn there_is_room_for_a_guest_in_each_slot() {
        let engine = engine(&Limits::default()).unwrap();
        let module = Module::new(&engine, wat::parse_str(GUEST).unwrap()).unwrap();
        let mut stores = Vec::new();
        for _ in 0..Size::for_searches(Limits::default().searches).all() {
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(u64::MAX / 2);
            Instance::new_async(&mut store, &module, &[]).await.unwrap();
            stores.push(store);
        }
    }
}
