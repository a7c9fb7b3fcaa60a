//! The limits of single calls and values. What a whole search may spend is in
//! [`crate::ledger::Budgets`]. `docs/limits.md` has the defaults of both as a table.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// All limits. They are inclusive: the limit itself is still allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a component file.
    pub component_bytes: u64,
    /// Wall time to compile a component in the host's own process: 120 s by default, and 360 s in a
    /// debug build. A process of its own, which is bounded by its CPU time, is ended after 15 times
    /// as long.
    pub compile: Duration,
    /// CPU time to compile a component in a process of its own: 30 s by default, and 90 s in a
    /// debug build, whose compiler takes three times as long.
    pub compile_cpu: Duration,
    /// Bytes of memory to compile a component in a process of its own.
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
    /// The time for which a guest may be idle: neither running nor waiting in a port.
    pub idle: Duration,
    /// The length of one pause that a guest asks for.
    pub pause: Duration,
    /// The length of all pauses of one role call together.
    pub pauses: Duration,
    /// The number of bytes that are lifted and lowered in one call.
    pub hostcall_bytes: usize,
    /// The number of resource handles of one store.
    pub handles: usize,
    /// The sum of the bytes of results and requests that the host holds for the handles of one
    /// store.
    pub held_bytes: usize,
    /// Bytes of one log line.
    pub log_line: usize,
    /// Bytes of one prompt, all messages together.
    pub prompt_bytes: usize,
    /// Bytes of one reply.
    pub reply_bytes: usize,
    /// Model calls in flight at once.
    pub llm_in_flight: usize,
    /// Statements in flight at once.
    pub sql_in_flight: usize,
    /// Wall time of one statement.
    pub sql_deadline: Duration,
    /// Bytes of one statement.
    pub sql_bytes: usize,
    /// Rows of a result; further rows are cut.
    pub rows: u64,
    /// Bytes of a result; further rows are cut.
    pub result_bytes: usize,
    /// Bytes of one cell.
    pub cell_bytes: usize,
    /// Tasks of a graph, those included that are added while it runs.
    pub tasks: usize,
    /// Edges of a graph.
    pub edges: usize,
    /// Tasks of the longest chain of dependencies, and of parents.
    pub depth: usize,
    /// Candidates that one solver call may return.
    pub candidates: usize,
    /// Candidates in the trace of one search.
    pub traced: usize,
    /// Role calls that other roles wait for, in flight at once in one search.
    pub nested: usize,
    /// Searches in flight at once on one host.
    pub searches: usize,
    /// Questions that one clarifier call may return.
    pub questions: usize,
    /// Bytes of one id.
    pub id_bytes: usize,
    /// Bytes of one text, such as a task's text, a rationale or an answer.
    pub text_bytes: usize,
    /// Bytes of one JSON document.
    pub json_bytes: usize,
    /// Levels of nesting of one JSON document.
    pub json_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            component_bytes: 64 << 20,
            compile: Duration::from_secs(if cfg!(debug_assertions) { 360 } else { 120 }),
            compile_cpu: Duration::from_secs(if cfg!(debug_assertions) { 90 } else { 30 }),
            compile_memory: 2_500_000_000,
            memory: 256 << 20,
            memories: 8,
            tables: 16,
            instances: 64,
            table_elements: 100_000,
            wasm_stack: 512 << 10,
            cpu_per_call: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            pause: Duration::from_secs(60),
            pauses: Duration::from_secs(300),
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
