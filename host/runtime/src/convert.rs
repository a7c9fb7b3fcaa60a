//! Conversions between the contract's bindings and `core`, field by field and exhaustive: a field
//! that is added on one side does not compile until it is here.

use syrch_core as core;
use syrch_core::ports as port;
use syrch_core::roles;

use crate::bindings::exports::syrch::plugin as export;
use crate::bindings::syrch::plugin as wit;

/// Conversion of an owned value into the corresponding type of the other side.
pub(crate) trait Conv<T> {
    fn conv(self) -> T;
}

macro_rules! same {
    ($($ty:ty),*) => { $(impl Conv<$ty> for $ty { fn conv(self) -> $ty { self } })* };
}

same!(String, bool, u32, u64, i64, f32, f64, u8);

impl<T: Conv<U>, U> Conv<Option<U>> for Option<T> {
    fn conv(self) -> Option<U> {
        self.map(Conv::conv)
    }
}

impl<T: Conv<U>, U> Conv<Vec<U>> for Vec<T> {
    fn conv(self) -> Vec<U> {
        self.into_iter().map(Conv::conv).collect()
    }
}

impl<A: Conv<C>, B: Conv<D>, C, D> Conv<(C, D)> for (A, B) {
    fn conv(self) -> (C, D) {
        (self.0.conv(), self.1.conv())
    }
}

impl<T: Conv<U>, E: Conv<F>, U, F> Conv<Result<U, F>> for Result<T, E> {
    fn conv(self) -> Result<U, F> {
        self.map(Conv::conv).map_err(Conv::conv)
    }
}

/// Converts a record from the first type to the second.
macro_rules! record_to {
    ($from:ty => $to:ty { $($field:ident),* $(,)? }) => {
        impl Conv<$to> for $from {
            fn conv(self) -> $to {
                type To = $to;
                let Self { $($field),* } = self;
                To { $($field: $field.conv()),* }
            }
        }
    };
}

/// Converts a record both ways.
macro_rules! record {
    ($a:ty = $b:ty { $($field:ident),* $(,)? }) => {
        record_to!($a => $b { $($field),* });
        record_to!($b => $a { $($field),* });
    };
}

/// Converts a variant from the first type to the second: cases without a payload, then cases with
/// one.
macro_rules! variant_to {
    ($from:ty => $to:ty { $($unit:ident),* ; $($case:ident),* }) => {
        impl Conv<$to> for $from {
            fn conv(self) -> $to {
                type To = $to;
                match self {
                    $(Self::$unit => To::$unit,)*
                    $(Self::$case(payload) => To::$case(payload.conv()),)*
                }
            }
        }
    };
}

/// Converts a variant both ways.
macro_rules! variant {
    ($a:ty = $b:ty { $($unit:ident),* ; $($case:ident),* }) => {
        variant_to!($a => $b { $($unit),* ; $($case),* });
        variant_to!($b => $a { $($unit),* ; $($case),* });
    };
}

// types
variant_to!(
    core::Dialect => wit::types::Dialect {
        Sqlite, Postgres, Mysql, Duckdb, Databricks, Spark, Ansi ; Other
    }
);
record_to!(core::Column => wit::types::Column { name, sql_type, nullable, comment, extra });
record_to!(core::ForeignKey => wit::types::ForeignKey { columns, ref_table, ref_columns });
record_to!(core::Index => wit::types::Index { name, columns, is_unique, method, predicate });
record_to!(
    core::Table => wit::types::Table {
        schema_name, name, columns, primary_key, foreign_keys, indexes, row_estimate, comment, extra
    }
);

/// The syntax goes with the catalog, from the declaration of its dialect.
impl Conv<wit::types::Catalog> for core::Catalog {
    fn conv(self) -> wit::types::Catalog {
        let syntax = syntax_of(&self.dialect);
        let Self { database, dialect, tables } = self;
        wit::types::Catalog {
            database: database.conv(),
            dialect: dialect.conv(),
            tables: tables.conv(),
            syntax,
        }
    }
}

fn syntax_of(dialect: &core::Dialect) -> wit::types::Syntax {
    let declared = dialect.syntax();
    wit::types::Syntax {
        title: dialect.title().to_owned(),
        rules: dialect.rules().to_owned(),
        backticks: declared.name_quote == '`',
        folds_names: declared.folds_names,
        backslash_escapes: declared.has_backslashes(),
    }
}

record!(core::Hit = wit::types::Hit { corpus, id, path, table, column, snippet, payload, score });
variant_to!(core::TermKind => wit::types::TermKind { Metric, Dimension ; Other });
record_to!(core::TermLabel => wit::types::TermLabel { value, words });
record_to!(core::Term => wit::types::Term {
    kind, name, synonyms, definition, description, tables, labels, mentioned
});
record_to!(
    core::Problem => wit::types::Problem { question, evidence, goal, answers, hints, terms, extra }
);
variant_to!(core::SqlErrorKind => wit::types::SqlErrorKind {
    Syntax, UnknownTable, UnknownColumn, AmbiguousName, TypeMismatch, WriteRefused, FunctionRefused,
    Denied, Timeout, TooLarge,
    Cancelled, Budget, Unavailable, Other ;
});
variant_to!(
    port::PortError => wit::types::PortError {
        Unsupported, Budget ; Denied, UnknownName, Unavailable, Other
    }
);
record_to!(core::ColumnProfile => wit::types::ColumnProfile { column, nulls, distinct });
record_to!(core::Profile => wit::types::Profile { rows, truncated, columns, warnings });
variant_to!(
    core::Value => wit::types::Value {
        Null ; Boolean, Integer, Real, Decimal, Text, Temporal, Bytes, Other
    }
);
record!(
    core::Signals = wit::types::Signals {
        attempts,
        max_attempts,
        syntax_errors,
        schema_errors,
        execution_errors,
        empty_result,
        null_columns,
        overflow,
        samples,
        agreeing,
        logprob,
        reward,
        extra
    }
);
record!(
    core::Candidate = wit::types::Candidate {
        id,
        parents,
        origin,
        sql,
        raw_confidence,
        confidence,
        score,
        rationale,
        signals,
        extra
    }
);
variant!(core::Join = wit::types::Join { AllOf, AnyOf ; AtLeast });
variant!(core::Corpus = wit::types::Corpus { Tables, Columns, Cells, Notes, Examples ; Other });
variant!(
    core::Retriever = wit::types::Retriever { Lexical, PathFuzzy, SegmentFuzzy, Vector ; Other }
);
record!(core::RetrievalQuery = wit::types::RetrievalQuery { corpus, retriever, text, limit });
variant!(core::Operation = wit::types::Operation { Solve, Choose ; Retrieve, Other });
record!(
    core::Task = wit::types::Task {
        id,
        parent,
        text,
        operation,
        depends_on,
        join,
        tolerant,
        priority,
        confidence,
        expected,
        database,
        context
    }
);
record!(core::Graph = wit::types::Graph { tasks, answer, memo });
record!(core::Question = wit::types::Question { text, choices, ambiguity });
variant_to!(
    core::Ending => wit::types::Ending { Solved, Empty, Cancelled ; Failed, Skipped, Other }
);
record_to!(core::Observation => wit::types::Observation {
    task, ending, candidates, profile, fingerprint, hits, subtasks, memo
});
record!(core::Opinion = wit::types::Opinion { score, reason, checks });
variant!(core::Verdict = wit::types::Verdict { ; Accepted, Rejected, Unavailable });
variant!(
    core::FailureKind = wit::types::FailureKind {
        Input, Model, Database, Budget, Unsupported, Cancelled, Internal ; Other
    }
);
record!(core::Failure = wit::types::Failure { kind, message, retryable });

impl Conv<wit::types::SqlError> for core::SqlError {
    fn conv(self) -> wit::types::SqlError {
        let Self { kind, message, position, suggestions, rule } = self;
        let message = match rule {
            Some(rule) => format!("{rule}: {message}"),
            None => message,
        };
        wit::types::SqlError { kind: kind.conv(), message, position, suggestions }
    }
}

impl Conv<wit::inspect::Compiled> for port::CompiledMetric {
    fn conv(self) -> wit::inspect::Compiled {
        // The origin is for the host alone.
        let Self { sql, applied, origin: _ } = self;
        wit::inspect::Compiled { sql, applied }
    }
}

// ports
record_to!(
    port::Policy => wit::run::Policy {
        high_confidence, max_attempts, max_depth, max_parallel, max_rounds
    }
);
variant_to!(port::TimeLeft => wit::run::TimeLeft { Plenty, Little, Over ; });
record_to!(port::Budget => wit::run::Budget { tokens, llm_calls, sql_runs, cost_micros, time });
variant_to!(wit::llm::Speaker => port::Speaker { System, User, Assistant ; });
record_to!(wit::llm::Message => port::Message { speaker, text });
variant_to!(
    wit::llm::Purpose => port::Purpose {
        Link, Plan, Generate, Repair, Judge, Select, Calibrate, Clarify, Summarise, Rewrite ; Other
    }
);
variant_to!(wit::llm::Shape => port::Shape { Text, Sql ; Json, Yaml, Choice, Other });
impl Conv<port::Request> for wit::llm::Request {
    fn conv(self) -> port::Request {
        port::Request {
            purpose: self.purpose.conv(),
            messages: self.messages.conv(),
            expect: self.expect.conv(),
            model: self.model,
            subjects: self.subjects,
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_tokens,
            stop: self.stop,
            logprobs: self.logprobs,
            sample: self.sample,
            // The host sets it.
            seed: 0,
        }
    }
}

record_to!(port::Reply => wit::llm::Reply { text, parsed, truncated, logprob, usage });

impl Conv<wit::llm::Usage> for port::Usage {
    fn conv(self) -> wit::llm::Usage {
        // Where the numbers come from, and how often it was tried, is for the host alone.
        let Self {
            input_tokens,
            output_tokens,
            cost_micros,
            model,
            cached_tokens: _,
            is_estimate: _,
            repeats: _,
        } = self;
        wit::llm::Usage { input_tokens, output_tokens, cost_micros, model }
    }
}

impl Conv<wit::llm::LlmError> for port::LlmError {
    fn conv(self) -> wit::llm::LlmError {
        use wit::llm::LlmError as To;
        match self {
            Self::Budget => To::Budget,
            Self::TooLarge | Self::Overflow(_) => To::TooLarge,
            Self::Cancelled => To::Cancelled,
            Self::Denied(text) => To::Denied(text),
            Self::Refused(text) => To::Refused(text),
            Self::Malformed(text) => To::Malformed(text),
            Self::Cut { tokens, begins } => To::Malformed(format!(
                "(cut off at the limit of {tokens} tokens: reply with less) {begins}"
            )),
            Self::Unsupported(text) => To::Unsupported(text),
            Self::Unavailable(text) | Self::Declined { message: text, .. } => To::Unavailable(text),
            // The message of a miss is for the user alone.
            Self::Missed(_) => {
                To::Unavailable("the recording has no answer to this call".to_owned())
            }
            Self::Other(text) => To::Other(text),
        }
    }
}

record_to!(port::Literal => wit::inspect::Literal { table, column, text });

impl Conv<wit::inspect::Facts> for port::Facts {
    fn conv(self) -> wit::inspect::Facts {
        // The uses of columns and the outline are for the host alone.
        let Self {
            tables,
            columns,
            functions,
            literals,
            subqueries,
            tasks,
            ordered,
            normalized,
            skeleton,
            uses: _,
            outline: _,
        } = self;
        let literals = literals.conv();
        wit::inspect::Facts {
            tables,
            columns,
            functions,
            literals,
            subqueries,
            tasks,
            ordered,
            normalized,
            skeleton,
        }
    }
}

record_to!(port::Plan => wit::inspect::Plan { format, text, cost, rows });
record_to!(
    port::ColumnStats => wit::inspect::ColumnStats {
        column, distinct, null_fraction, correlation, average_width
    }
);
variant_to!(wit::sql::Equality => core::Equality { Bag, Set, Ordered ; Other });
record_to!(port::Page => wit::rows::Page { columns, rows, clipped });
variant_to!(wit::cells::Match => port::Match { Exact, Ngram, Fuzzy, Vector ; Other });
record_to!(port::Sample => wit::cells::Sample { column, least, greatest, frequent });
variant_to!(wit::trace::Level => port::Level { Debug, Info, Warn ; });

// roles
record_to!(export::linker::Relevant => roles::Relevant { table, columns, score, reason });
record_to!(export::linker::Linked => roles::Linked { tables, hints });
variant_to!(export::planner::Edit => core::Edit { Finish ; Add, Update, Cancel, Answer, Other });
record_to!(export::planner::Step => core::Step { edits, memo });
record_to!(export::solver::Outcome => roles::Outcome { candidates, subtasks, ask, memo });
variant_to!(
    roles::Trial => export::rewriter::Trial {
        Mismatch, Reordered, OtherColumns, TooLarge ; Accepted, Slower, Refused, Failed, Other
    }
);
record_to!(roles::Attempt => export::rewriter::Attempt { sql, family, trial });
record_to!(export::rewriter::Proposal => roles::Proposal { sql, family, reason });
record_to!(
    export::aggregator::Answer => roles::Answer {
        text, task, candidate, sql, confidence, basis, caveats
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_gets_nothing_of_what_a_recording_holds() {
        let missed = port::LlmError::Missed("the nearest says `a row of somebody else`".to_owned());
        let wit::llm::LlmError::Unavailable(text) = missed.conv() else {
            panic!("a miss is an outage to a guest")
        };
        assert_eq!(text, "the recording has no answer to this call");
    }
}
