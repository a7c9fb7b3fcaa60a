//! Extism's side: the same plugin, compiled once, with the host's limits where Extism has them, and
//! a fresh instance for each call.

use std::path::Path;

use extism::{CompiledPlugin, Manifest, Plugin, PluginBuilder, Wasm};
use syrch_core::{Limits, Signals};
use wasmtime::{Config, PoolingAllocationConfig};

use crate::Outcome;
use crate::STEPS;

/// Bytes of a page of WebAssembly's memory.
const PAGE: usize = 64 << 10;

/// The source of the memory of an instance in wasmtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// From the system, for each instance anew: what Extism does.
    OnDemand,
    /// From a pool, as our host: Extism takes such a configuration.
    Pooling,
}

/// The plugin as Extism has compiled it.
pub(crate) struct Theirs(CompiledPlugin);

impl Theirs {
    /// Compiles the core module, with our limits of memory and time.
    pub(crate) fn load(file: &Path, allocator: Allocator) -> Outcome<Self> {
        let limits = Limits::default();
        // By its path: bytes in the manifest would be copied in each call.
        let manifest = Manifest::new([Wasm::file(file)])
            .with_memory_max(u32::try_from(limits.memory / PAGE)?)
            .with_timeout(limits.cpu_per_call)
            .with_config_key("steps", STEPS);
        let mut builder = PluginBuilder::new(manifest).with_wasi(false).with_cache_disabled();
        if allocator == Allocator::Pooling {
            let mut config = Config::new();
            config.allocation_strategy(pool(&limits));
            builder = builder.with_wasmtime_config(config);
        }
        Ok(Self(builder.compile()?))
    }

    /// One call: a store, links, an instance, and the call. The claims go in and the probabilities
    /// come out as JSON.
    pub(crate) fn calibrate(&self, claims: &[(f64, Signals)]) -> Outcome<Vec<f64>> {
        let mut plugin = Plugin::new_from_compiled(&self.0)?;
        let output: &[u8] = plugin.call("calibrate", serde_json::to_vec(claims)?)?;
        Ok(serde_json::from_slice(output)?)
    }
}

/// The version of Extism, and of the wasmtime that it stands on.
pub(crate) fn versions() -> String {
    format!("extism {} on wasmtime 43", extism::extism_version().trim_end_matches('\0'))
}

/// A pool whose memories stay mapped, as that of our host.
fn pool(limits: &Limits) -> PoolingAllocationConfig {
    const RESIDENT: usize = 2 << 20;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_memories(64)
        .max_memory_size(limits.memory)
        .linear_memory_keep_resident(RESIDENT)
        .table_keep_resident(RESIDENT);
    pool
}
