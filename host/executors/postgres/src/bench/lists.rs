//! The objects that statements may use whose rows are compared: kinds of nodes, types, aggregates,
//! window functions, and the functions whose result depends on settings that the session of a bench
//! has fixed.

use syrch_core::WordList;

/// The kinds of nodes of an analysed statement, with the names that versions 13 and 14 give some of
/// them.
pub(super) static NODES: WordList = WordList::new(include_str!("lists/nodes.txt"));

/// The types of results, by their object ids. Their binary forms are compared.
pub(super) const OUTPUTS: &[u32] = &[
    16, 17, 20, 21, 23, 25, 114, 700, 701, 1000, 1001, 1005, 1007, 1009, 1015, 1016, 1042, 1043,
    1082, 1083, 1114, 1115, 1182, 1184, 1185, 1186, 1266, 1700, 2950, 2951, 3802,
];

/// Further types within a statement: those of literals whose type is not decided, and arrays as
/// `IN` makes them.
pub(super) const INNER: &[u32] = &[199, 705, 1014, 1021, 1022, 1183, 1187, 1231, 1270, 3807];

/// Types of dates and times: their input reads words such as `today`.
pub(super) const TIMES: &[u32] = &[1082, 1083, 1114, 1115, 1182, 1183, 1184, 1185, 1266, 1270];

/// The OIDs of `text`, `bpchar` and `varchar`.
pub(super) const TEXTS: &[u32] = &[25, 1042, 1043];

pub(super) const NUMERIC: u32 = 1700;

/// Aggregates whose result does not depend on the order of rows, as far as their numbers are exact.
pub(super) static AGGREGATES: WordList = WordList::new(include_str!("lists/aggregates.txt"));

/// Aggregates that exist for floating-point numbers alone, whose sums depend on the order of rows.
pub(super) static FLOATING: WordList = WordList::new(include_str!("lists/floating.txt"));

/// Window functions that give equal rows the same.
pub(super) const WINDOWS: &[&str] = &["cume_dist", "dense_rank", "percent_rank", "rank"];

/// The operators of equality under which equal values are the same in every respect, by their
/// functions. Texts are among them, since collations that call different texts equal are refused.
pub(super) static IDENTITIES: WordList = WordList::new(include_str!("lists/identities.txt"));

/// Equality of values that are the same where their column fixes the digits behind the point, or
/// the length.
pub(super) const FIXED_IDENTITIES: &[&str] =
    &["bpchareq(bpchar,bpchar)", "numeric_eq(numeric,numeric)"];

/// The arguments of `min` and `max` whose equal values need not be the same.
pub(super) const LOOSE_EXTREMES: &[&str] = &["anyarray", "float4", "float8", "interval"];

/// Functions that show how many digits a decimal number has behind the point, or compute as many.
pub(super) static SHOWS_SCALE: WordList = WordList::new(include_str!("lists/shows-scale.txt"));

/// Functions of the server that depend on settings which every bench has fixed: the time zone, the
/// forms of dates and numbers, the encoding. Those that read the clock are not among them.
pub(super) static STABLE: WordList = WordList::new(include_str!("lists/stable.txt"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_searched_by_halves() {
        for list in [WINDOWS, FIXED_IDENTITIES, LOOSE_EXTREMES] {
            assert!(list.is_sorted(), "{list:?}");
        }
        for list in [OUTPUTS, INNER, TIMES, TEXTS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
