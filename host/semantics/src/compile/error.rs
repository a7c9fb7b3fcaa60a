//! The reasons why a request has no statement, each with advice.

use thiserror::Error;

/// The reason why a request was not compiled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The request names no metric.
    #[error("the request names no metric: name at least one")]
    NoMetric,
    /// A request has more of something than is allowed.
    #[error("the request has {found} {what}, and at most {most} are allowed")]
    TooMany {
        /// The parts that are counted.
        what: &'static str,
        /// Their number.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// There is no such metric.
    #[error("there is no metric `{name}`{}", suggest(nearest))]
    UnknownMetric {
        /// The name as it was given.
        name: String,
        /// The names that are most like it.
        nearest: Vec<String>,
    },
    /// There is no such dimension.
    #[error("there is no dimension `{name}`{}", suggest(nearest))]
    UnknownDimension {
        /// The name as it was given.
        name: String,
        /// The names that are most like it.
        nearest: Vec<String>,
    },
    /// Several tables that the metrics reach have a dimension of that name.
    #[error("`{name}` is a dimension of several tables: write {}", list(choices))]
    AmbiguousDimension {
        /// The name as it was given.
        name: String,
        /// The dimensions with their tables.
        choices: Vec<String>,
    },
    /// Two conditions that no row meets at once.
    #[error("no row meets both {one} and {other}: leave one out, or name the values in one list")]
    Contradiction {
        /// A condition in words.
        one: String,
        /// The other one.
        other: String,
    },
    /// The groups that a limit or a share counts in do not fit the request.
    #[error("a request within {name}: {reason}")]
    Within {
        /// The names of the groups.
        name: String,
        /// The reason, with advice.
        reason: &'static str,
    },
    /// A limit of no rows.
    #[error("the limit is 0 rows: write 1 or more")]
    NoRows,
    /// A name stands twice among the metrics or the dimensions.
    #[error("`{name}` stands twice: name each metric and dimension once")]
    Twice {
        /// The name.
        name: String,
    },
    /// No many-to-one path leads from the rows that are aggregated to a table.
    #[error(
        "`{metric}` is computed over the rows of `{base}`, and no many-to-one join leads from \
         there to \
         `{table}`, where {what} is: {hint}"
    )]
    NoPath {
        /// The metric.
        metric: Box<str>,
        /// The table whose rows are aggregated.
        base: Box<str>,
        /// The table that is not reached.
        table: Box<str>,
        /// The part of the request that needs the table, in words.
        what: Box<str>,
        /// Advice.
        hint: Box<str>,
    },
    /// More than one many-to-one path leads to a table.
    #[error(
        "`{metric}` is computed over the rows of `{base}`, from which two paths lead to \
         `{table}`, where \
         {what} is: {first} and {second}; describe the table twice, with the same `source` and \
         one of \
         the joins each"
    )]
    SeveralPaths {
        /// The metric.
        metric: Box<str>,
        /// The table whose rows are aggregated.
        base: Box<str>,
        /// The table that is reached twice.
        table: Box<str>,
        /// The part of the request that needs the table, in words.
        what: Box<str>,
        /// A path.
        first: Box<str>,
        /// Another path.
        second: Box<str>,
    },
    /// No dimension dates the rows of a metric, or several do.
    #[error(
        "nothing says which dates count for `{metric}`{}: give the metric or its table `{base}` \
         a `time`",
        candidates(dimensions)
    )]
    NoTime {
        /// The metric.
        metric: String,
        /// The table whose rows are aggregated.
        base: String,
        /// The time dimensions that are reached.
        dimensions: Vec<String>,
    },
    /// A comparison needs a grain or groups.
    #[error("`{comparison}` needs {what}")]
    Needs {
        /// The comparison.
        comparison: &'static str,
        /// The missing part.
        what: &'static str,
    },
    /// The values of a metric cannot be added.
    #[error(
        "`{comparison}` adds the values of `{metric}`, which is no sum: it is {kind}; compare a \
         sum or a count"
    )]
    NotAdditive {
        /// The comparison.
        comparison: &'static str,
        /// The metric.
        metric: String,
        /// The kind of value that it is.
        kind: &'static str,
    },
    /// The period begins within a period of the grain.
    #[error(
        "`{comparison}` compares whole periods, and {from} is within one: begin the period on \
         {begin}"
    )]
    Begins {
        /// The comparison.
        comparison: &'static str,
        /// The first day of the request's period.
        from: String,
        /// The first day of the grain's period.
        begin: String,
    },
    /// The period ends within a period of the grain.
    #[error(
        "`{comparison}` compares whole periods, and the day before {until} is within one: end the \
         period with the day before {end}"
    )]
    Ends {
        /// The comparison.
        comparison: &'static str,
        /// The day after the last of the request's period.
        until: String,
        /// The day after the last of the grain's period before.
        end: String,
    },
    /// A filter has the wrong number or kind of values.
    #[error("the condition on `{dimension}` is wrong: {reason}")]
    Filter {
        /// The dimension.
        dimension: String,
        /// The reason.
        reason: String,
    },
    /// The order names no column of the result.
    #[error("`{name}` is no column of the result: order by {}", list(choices))]
    UnknownOrder {
        /// The name as it was given.
        name: String,
        /// The columns of the result.
        choices: Vec<String>,
    },
    /// An expression of the file has a form that is not written in other dialects.
    #[error("{file}:{line}:{column}: `{text}` cannot be compiled: {reason}")]
    Expression {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column.
        column: u64,
        /// The expression.
        text: String,
        /// The reason.
        reason: String,
    },
    /// A text or a name cannot be written safely.
    #[error("{what} cannot be written in the dialect `{dialect}`: {reason}")]
    Unwritable {
        /// The part of the statement.
        what: String,
        /// The name of the dialect.
        dialect: String,
        /// The reason.
        reason: &'static str,
    },
    /// A metric is defined by itself.
    #[error("the metric `{name}` is defined by itself")]
    Cycle {
        /// The metric.
        name: String,
    },
    /// The semantics refer to a name that they do not define.
    #[error("`{name}`, to which `{by}` refers, is not defined")]
    Undefined {
        /// The missing name.
        name: String,
        /// The thing that refers to it.
        by: String,
    },
    /// The statement is too long.
    #[error("the statement would have more than {most} bytes: ask for fewer metrics or values")]
    TooLong {
        /// The limit.
        most: usize,
    },
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn suggest(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!(": is {} meant?", list(nearest)) }
}

fn candidates(dimensions: &[String]) -> String {
    if dimensions.is_empty() {
        String::new()
    } else {
        format!(", which may be {}", list(dimensions))
    }
}
