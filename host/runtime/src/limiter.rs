//! The limit on a store's allocations, summed over all of its memories and tables: wasmtime's own
//! limiter counts each one alone.

use wasmtime::ResourceLimiter;

/// Sums up a store's memory and table elements.
#[derive(Debug)]
pub(crate) struct SumLimiter {
    memory_limit: usize,
    element_limit: usize,
    memories: usize,
    tables: usize,
    instances: usize,
    memory: usize,
    elements: usize,
    peak: usize,
    refused: Option<&'static str>,
}

impl SumLimiter {
    pub(crate) fn new(limits: &syrch_core::Limits) -> Self {
        Self {
            memory_limit: limits.memory,
            element_limit: limits.table_elements,
            memories: limits.memories,
            tables: limits.tables,
            instances: limits.instances,
            memory: 0,
            elements: 0,
            peak: 0,
            refused: None,
        }
    }

    /// The most linear memory that the store has had, in bytes.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// The limit that refused an allocation, if one did, and its value.
    pub(crate) fn refusal(&self) -> Option<(&'static str, String)> {
        let limit = self.refused?;
        let value = match limit {
            "memory" => format!("{} MiB", self.memory_limit >> 20),
            _ => self.element_limit.to_string(),
        };
        Some((limit, value))
    }
}

impl ResourceLimiter for SumLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let sum = self.memory.saturating_sub(current).saturating_add(desired);
        if sum > self.memory_limit {
            self.refused = Some("memory");
            return Ok(false);
        }
        self.memory = sum;
        self.peak = self.peak.max(sum);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let sum = self.elements.saturating_sub(current).saturating_add(desired);
        if sum > self.element_limit {
            self.refused = Some("table-elements");
            return Ok(false);
        }
        self.elements = sum;
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.tables
    }

    fn memories(&self) -> usize {
        self.memories
    }
}
