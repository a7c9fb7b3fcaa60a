//! Reads the signs in a statement's plan by which rules are ranked.

use super::sql::Engine;

/// Signs in a plan's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) is_sqlite: bool,
    /// True if a sub-query runs again for each row.
    pub(crate) has_correlated: bool,
    /// True if such a sub-query reads a whole table.
    pub(crate) scans_in_correlated: bool,
    /// True if tables are joined row by row without an index: PostgreSQL's nested loops with a
    /// filter, SQLite's scan within a scan.
    pub(crate) has_loop: bool,
}

impl Signs {
    pub(crate) fn from_plan(engine: Engine, plan: &str) -> Self {
        match engine {
            Engine::Sqlite => sqlite(plan),
            Engine::Postgres => Self {
                is_sqlite: false,
                has_correlated: plan.contains("SubPlan") && !plan.contains("hashed SubPlan"),
                scans_in_correlated: plan.contains("SubPlan") && plan.contains("Seq Scan"),
                has_loop: plan.contains("Join Filter:") || plan.contains("Nested Loop"),
            },
        }
    }
}

/// The lines of `EXPLAIN QUERY PLAN`, indented by their depth.
fn sqlite(plan: &str) -> Signs {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut within: Option<usize> = None;
    let mut signs = Signs {
        is_sqlite: true,
        has_correlated: false,
        scans_in_correlated: false,
        has_loop: false,
    };
    let mut scans = 0;
    for line in plan.lines() {
        let depth = depth(line);
        let text = line.trim_start();
        if within.is_some_and(|start| depth <= start) {
            within = None;
        }
        if text.starts_with("CORRELATED") {
            signs.has_correlated = true;
            within = within.or(Some(depth));
        }
        if text.starts_with("SCAN") {
            signs.scans_in_correlated |= within.is_some();
            scans += usize::from(depth == 0);
        }
    }
    signs.has_loop = scans > 1;
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_counts_as_repeated_only_below_a_correlated_sub_query() {
        let of = |plan| Signs::from_plan(Engine::Sqlite, plan);
        let indexed =
            of("SCAN a\nCORRELATED SCALAR SUBQUERY 1\n  SEARCH b USING INDEX i (k=?)\nSCAN c\n");
        assert!(indexed.has_correlated && !indexed.scans_in_correlated && indexed.has_loop);
        let scanned = of("SCAN a\nCORRELATED SCALAR SUBQUERY 1\n  SCAN b\n");
        assert!(scanned.scans_in_correlated && !scanned.has_loop);
        assert!(!of("SCAN a\nLIST SUBQUERY 1\n  SCAN b\n").has_correlated);
    }

    #[test]
    fn postgresql_shows_a_sub_query_for_each_row_as_a_plan_that_is_not_hashed() {
        let of = |plan| Signs::from_plan(Engine::Postgres, plan).has_correlated;
        assert!(of("Seq Scan on a\n  SubPlan 1\n    ->  Seq Scan on b"));
        assert!(!of(
            "Seq Scan on a\n  Filter: (NOT (hashed SubPlan 1))\n  SubPlan 1\n    ->  Seq Scan on b"
        ));
    }
}
