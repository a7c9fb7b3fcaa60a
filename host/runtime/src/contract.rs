//! The ports that each role may import: the worlds of `wit/worlds.wit` as a table. A test compares
//! the two.

use syrch_core::roles::Role;

/// A port's WIT interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Run,
    Wait,
    Llm,
    Inspect,
    Sql,
    Rows,
    Cells,
    Evaluate,
    Retrieval,
    Trace,
}

impl Port {
    pub(crate) const ALL: [Self; 10] = [
        Self::Run,
        Self::Wait,
        Self::Llm,
        Self::Inspect,
        Self::Sql,
        Self::Rows,
        Self::Cells,
        Self::Evaluate,
        Self::Retrieval,
        Self::Trace,
    ];

    /// The interface's name in the contract.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Wait => "wait",
            Self::Llm => "llm",
            Self::Inspect => "inspect",
            Self::Sql => "sql",
            Self::Rows => "rows",
            Self::Cells => "cells",
            Self::Evaluate => "evaluate",
            Self::Retrieval => "retrieval",
            Self::Trace => "trace",
        }
    }
}

/// The ports that a role's world imports.
pub(crate) fn ports_of(role: Role) -> &'static [Port] {
    use Port::{Cells, Evaluate, Inspect, Llm, Retrieval, Rows, Run, Sql, Trace, Wait};
    match role {
        Role::Linker => &[Run, Wait, Llm, Inspect, Cells, Retrieval, Trace],
        Role::Planner => &[Run, Wait, Llm, Inspect, Retrieval, Trace],
        Role::Solver => &[Run, Wait, Llm, Inspect, Sql, Rows, Cells, Evaluate, Retrieval, Trace],
        Role::Calibrator => &[],
        Role::Reward => &[Run, Wait, Llm, Inspect, Sql, Rows, Cells, Trace],
        Role::Clarifier => &[Run, Wait, Llm, Trace],
        Role::Aggregator => &[Run, Wait, Llm, Sql, Rows, Trace],
        Role::Rewriter => &[Run, Wait, Llm, Inspect, Trace],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_the_worlds_import() {
        let worlds = include_str!("../../../wit/worlds.wit");
        for role in Role::ALL {
            let head = format!("world {role}-plugin");
            let line = worlds.lines().find(|line| line.starts_with(&head)).unwrap();
            let mut imports: Vec<&str> =
                line.split("import ").skip(1).map(|rest| rest.split(';').next().unwrap()).collect();
            let mut table: Vec<&str> = ports_of(role).iter().map(|port| port.name()).collect();
            imports.sort_unstable();
            table.sort_unstable();
            assert_eq!(imports, table, "{role}");
        }
    }
}
