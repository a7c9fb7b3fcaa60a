//! The rules, each in a file of its own. A rule changes a statement in place, wherever its
//! conditions hold.

mod count_exists;
mod cte;
mod distinct_exists;
mod exists_in;
mod function_range;
mod in_exists;
mod index_off;
mod join_order;
mod or_union;
mod push_down;
mod range;
mod scalar_join;

use sqlparser::ast::Query;

use super::plan::Signs;
use super::work::Work;

/// A family of rewrites.
pub(crate) struct Rule {
    /// The name of the family in proposals, such as `or-to-union`.
    pub(crate) family: &'static str,
    /// The reason why the result should be faster, for people.
    pub(crate) reason: &'static str,
    /// Returns the promise of the rule with that plan; the rule with the greatest comes first.
    pub(crate) promise: fn(&Signs) -> u32,
    /// Rewrites the statement in place; leaves it unchanged where the conditions of the rule do not
    /// hold.
    pub(crate) apply: fn(&mut Query, &mut Work),
}

/// All rules. Of equally promising ones the first comes first.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        family: "scalar-to-join",
        reason: "a sub-query that runs for each row becomes one grouped sub-query that is joined",
        promise: |signs| if signs.has_correlated { 100 } else { 60 },
        apply: scalar_join::apply,
    },
    Rule {
        family: "count-to-exists",
        reason: "whether there is a row is found without counting all rows",
        promise: |_| 95,
        apply: count_exists::apply,
    },
    Rule {
        family: "exists-to-in",
        reason: "a sub-query that runs for each row becomes a list that is made once",
        promise: |signs| match (signs.is_sqlite, signs.scans_in_correlated) {
            (true, true) => 92,
            (true, false) => 30,
            (false, _) => 15,
        },
        apply: exists_in::apply,
    },
    Rule {
        family: "not-exists-to-not-in",
        reason: "a sub-query that runs for each row becomes a list that is made once",
        promise: |signs| match (signs.is_sqlite, signs.scans_in_correlated) {
            (true, true) => 91,
            (true, false) => 28,
            (false, _) => 5,
        },
        apply: exists_in::apply_negated,
    },
    Rule {
        family: "not-in-to-not-exists",
        reason: "NOT EXISTS can be an anti-join; NOT IN cannot, because of NULLs",
        promise: |signs| if signs.is_sqlite { 40 } else { 90 },
        apply: in_exists::apply_negated,
    },
    Rule {
        family: "or-to-union",
        reason: "each side of OR can use an index or a hash join of its own",
        promise: |signs| if signs.has_loop { 88 } else { 65 },
        apply: or_union::apply,
    },
    Rule {
        family: "function-to-range",
        reason: "a range of the column itself is cheaper to compare and can use an index",
        promise: |_| 80,
        apply: function_range::apply,
    },
    Rule {
        family: "distinct-to-exists",
        reason: "rows that DISTINCT would remove are not made at all",
        promise: |_| 70,
        apply: distinct_exists::apply,
    },
    Rule {
        family: "push-down",
        reason: "the rows of a sub-query are filtered before they are grouped or joined",
        promise: |_| 55,
        apply: push_down::apply,
    },
    Rule {
        family: "cte-inlined",
        reason: "conditions of the outer query reach a CTE that is not stored",
        promise: |signs| if signs.is_sqlite { 50 } else { 52 },
        apply: cte::inline,
    },
    Rule {
        family: "cte-materialized",
        reason: "a CTE that is stored is computed once",
        promise: |signs| if signs.has_loop { 54 } else { 35 },
        apply: cte::materialize,
    },
    Rule {
        family: "join-order",
        reason: "the joins begin with the table of which the conditions leave the fewest rows",
        promise: |_| 32,
        apply: join_order::apply,
    },
    Rule {
        family: "in-to-exists",
        reason: "EXISTS ends at the first row, and can use an index of the inner table",
        promise: |signs| if signs.is_sqlite { 34 } else { 12 },
        apply: in_exists::apply,
    },
    Rule {
        family: "index-off",
        reason: "reading the whole table can be cheaper than an index that finds most of it",
        promise: |_| 25,
        apply: index_off::apply,
    },
];
