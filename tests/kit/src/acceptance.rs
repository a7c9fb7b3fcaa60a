//! The requirements on the verified optimizer, row by row: rules of admission, of comparison and of
//! the loop, and mistakes of earlier optimizers of this kind (`AR-D…`) that it must not repeat. A
//! case names its row, and a test fails when a row has no case.

/// The name of a row, and what it asks for.
pub type Row = (&'static str, &'static str);

/// The text that stands in place of a row in a case that goes beyond the list.
pub const BEYOND: &str = "beyond the list";

/// Rules of admission. Each engine shows each of them by a statement that is refused and by one
/// that is admitted.
pub const ADMISSION: &[Row] = &[
    ("AR-01", "one statement, a SELECT, in which nothing writes"),
    ("AR-02", "no locks of rows"),
    ("AR-03", "no LIMIT, OFFSET or FETCH at any depth, but under a total order on SQLite"),
    ("AR-04", "no DISTINCT ON and no TABLESAMPLE; DISTINCT passes"),
    ("AR-05", "no parameters; the operator ? of jsonb passes"),
    (
        "AR-06",
        "only tables, sub-queries, common table expressions and joins as sources, \
         a table among them",
    ),
    ("AR-08", "only aggregates whose result does not depend on the order of rows"),
    ("AR-09", "only window functions that give equal rows the same, over whole partitions"),
    (
        "AR-10",
        "only functions of the engine whose result depends on their arguments and on \
         fixed settings",
    ),
    ("AR-11", "the same of operators"),
    ("AR-12", "casts to types of the engine only"),
    ("AR-13", "ordinary tables only: no view, no partition, no virtual or system table"),
    ("AR-14", "no table with a column whose type users made"),
    ("AR-15", "a common table expression is no table, in its scope alone"),
    ("AR-16", "a candidate reads no table that the original does not"),
    ("AR-17", "no implicit cast by a function of users"),
    ("AR-D1", "the bodies of common table expressions beside a set operation were not read"),
    ("AR-D2", "a sub-query in the condition of a join was not read"),
    ("AR-D3", "aggregates with nodes of their own, and ARRAY(SELECT …), passed"),
    ("AR-D4", "a named window hid its order and its frame"),
    ("AR-D8", "INTO, and clocks that are no functions, passed"),
    ("AR-D12", "plain functions were refused because another function of their name is volatile"),
];

/// Rules of comparison. Each engine shows each of them by pairs of statements.
pub const COMPARISON: &[Row] = &[
    ("AR-24", "values are equal without coercion; the order counts where the statement has one"),
    ("AR-D5", "numbers of many digits were rounded"),
    (
        "AR-D6",
        "numbers in JSON went through binary fractions, and keys that occur twice were merged",
    ),
];

/// The behaviour of the loop, the rewriters and the commands. Tests name these rows in the comment
/// above them.
pub const BEHAVIOUR: &[Row] = &[
    (
        "AR-07",
        "what is checked again, shown, sent and run is the statement as it was written again, \
         without comments",
    ),
    (
        "AR-20",
        "a read-only session with fixed settings and deadlines; a comparison within one snapshot",
    ),
    ("AR-21", "the types that are compared; others are UNSUPPORTED_TYPES"),
    (
        "AR-22",
        "the original is run once for its size, within 10,000 rows and 10 MB, and then timed",
    ),
    ("AR-23", "number, order, names and types of columns are compared before any row is read"),
    ("AR-25", "warm, then B C, C B, B C, and medians of three; accepted by 10 % and 50 ms"),
    (
        "AR-26",
        "five iterations, each against the best so far, and early stop where it is asked for",
    ),
    ("AR-27", "eight states of a proposal"),
    ("AR-28", "eleven outcomes, of which the first that applies counts"),
    ("AR-29", "what a prompt contains, in which no value of a column is, and how much"),
    (
        "AR-30",
        "nothing is sent without consent to what is shown, and a writer is noticed or ruled out",
    ),
    ("AR-31", "a line for each statement: when, both statements, outcome, times, all proposals"),
    ("AR-32", "a corpus is a manifest with digests, verified before anything is measured"),
    ("AR-33", "a check runs nothing and reports the share that is supported"),
    ("AR-34", "four gates, and advice"),
    ("AR-D7", "the rows of the original came from an earlier snapshot than the candidate's"),
    (
        "AR-D9",
        "limits counted rows that had all been read already, and the columns were known \
         after the rows",
    ),
    (
        "AR-D10",
        "UNSUPPORTED_PROMPT was never the outcome, and keys of the configuration did not apply",
    ),
    ("AR-D11", "the speed-up compared times of different moments"),
];

/// The rows without a case among those that are shown.
#[must_use]
pub fn missing<'a>(rows: &[Row], shown: impl IntoIterator<Item = &'a str>) -> Vec<&'static str> {
    let shown: Vec<&str> = shown.into_iter().collect();
    rows.iter().map(|(name, _)| *name).filter(|name| !shown.contains(name)).collect()
}
