//! The limits of single things, which hold from the first call. What a whole search may spend is in [`crate::ledger::Budgets`]. The defaults
//! of both are the table of `host/README.md`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// All limits. Counts are inclusive: the limit itself is still allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a component file.
    pub component_bytes: u64,
    /// Time to compile one.
    pub compile: Duration,
    /// CPU time to compile one in a process of its own.
    pub compile_cpu: Duration,
    /// Bytes of memory to compile one in a process of its own.
    pub compile_memory: u64,
    /// Bytes of linear memory of one store, summed over its memories.
    pub memory: usize,
    /// Linear memories of one store.
    pub memories: usize,
    /// Tables of one store.
    pub tables: usize,
    /// Instances of one store.
    pub instances: usize,
    /// Table elements of one store, summed.
    pub table_elements: usize,
    /// Bytes of wasm stack.
    pub wasm_stack: usize,
    /// CPU time of one role call.
    pub cpu_per_call: Duration,
    /// How long a guest may neither run nor wait in a port.
    pub idle: Duration,
    /// Bytes lifted and lowered in one call.
    pub hostcall_bytes: usize,
    /// Resource handles of one store.
    pub handles: usize,
    /// Bytes of results and requests that the handles of one store hold in the host, summed.
    pub held_bytes: usize,
    /// Bytes of one log line.
    pub log_line: usize,
    /// Bytes of one prompt, all messages together.
    pub prompt_bytes: usize,
    /// Bytes of one reply.
    pub reply_bytes: usize,
    /// Model calls under way at once.
    pub llm_in_flight: usize,
    /// Statements under way at once.
    pub sql_in_flight: usize,
    /// Time of one statement.
    pub sql_deadline: Duration,
    /// Bytes of one statement.
    pub sql_bytes: usize,
    /// Rows kept of a result.
    pub rows: u64,
    /// Bytes kept of a result.
    pub result_bytes: usize,
    /// Bytes of one cell.
    pub cell_bytes: usize,
    /// Tasks of a graph, those made while it runs included.
    pub tasks: usize,
    /// Edges of a graph.
    pub edges: usize,
    /// Longest chain of dependencies, and of parents.
    pub depth: usize,
    /// Candidates that one solver call may return.
    pub candidates: usize,
    /// Candidates that the trace of one search tells of.
    pub traced: usize,
    /// Role calls that other roles wait for, under way at once in one search.
    pub nested: usize,
    /// Searches under way at once on one host.
    pub searches: usize,
    /// Questions that one clarifier call may return.
    pub questions: usize,
    /// Bytes of one id.
    pub id_bytes: usize,
    /// Bytes of one text: a task's words, a rationale, an answer.
    pub text_bytes: usize,
    /// Bytes of one JSON document.
    pub json_bytes: usize,
    /// Nesting of one JSON document.
    pub json_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            component_bytes: 64 << 20,
            compile: Duration::from_secs(120),
            compile_cpu: Duration::from_secs(30),
            compile_memory: 1_500_000_000,
            memory: 256 << 20,
            memories: 8,
            tables: 16,
            instances: 64,
            table_elements: 100_000,
            wasm_stack: 512 << 10,
            cpu_per_call: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            hostcall_bytes: 16 << 20,
            handles: 4_096,
            held_bytes: 256 << 20,
            log_line: 2 << 10,
            prompt_bytes: 256 << 10,
            reply_bytes: 256 << 10,
            llm_in_flight: 8,
            sql_in_flight: 4,
            sql_deadline: Duration::from_secs(30),
            sql_bytes: 64 << 10,
            rows: 10_000,
            result_bytes: 16 << 20,
            cell_bytes: 1 << 20,
            tasks: 256,
            edges: 2_048,
            depth: 16,
            candidates: 256,
            traced: 2_048,
            nested: 16,
            searches: 64,
            questions: 16,
            id_bytes: 64,
            text_bytes: 64 << 10,
            json_bytes: 256 << 10,
            json_depth: 64,
        }
    }
}
