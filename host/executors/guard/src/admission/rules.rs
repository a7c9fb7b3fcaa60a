//! The differences between the dialects that the walk knows. Everything else is the walk's own.

use sqlparser::dialect::Dialect as Grammar;
use syrch_core::WordList;

/// The rules for statements of one dialect: the forms and functions that they may use, and how they
/// are written again.
pub(crate) struct Rules {
    /// The grammar by which the parser reads statements that run as they are written again.
    pub(crate) grammar: &'static (dyn Grammar + Sync),
    /// True if facts are read by that grammar as well, and by the lexer's tokens.
    pub(crate) is_for_facts: bool,
    /// Functions that may be called.
    pub(super) listed: &'static WordList,
    /// Those of them that the grammar knows without parentheses.
    pub(super) bare: &'static [&'static str],
    /// Words that stand for a value of the session where no column has that name, even in quotes.
    pub(super) values: &'static [&'static str],
    /// Functions that may stand in FROM; all listed ones if there is no such list.
    pub(super) tables: Option<&'static [&'static str]>,
    /// Functions that may have a lambda for an argument: those whose work is in proportion to their
    /// other arguments.
    pub(super) lambdas: &'static [&'static str],
    /// Functions whose result is as long as an argument says, and the place of that argument.
    pub(super) sized: &'static [(&'static str, usize)],
    /// Functions that put a text in at many places, and which argument it is: a constant, whose
    /// bytes count as a size. For engines whose functions take memory that their own limit does not
    /// see.
    pub(super) inserts: &'static [(&'static str, usize)],
    /// Functions whose arguments are the ends and the step of a series.
    pub(super) series: &'static [&'static str],
    /// Functions whose second argument is the name of an aggregate.
    pub(super) aggregates: &'static [&'static str],
    /// Functions whose first argument is a text with widths.
    pub(super) formats: &'static [&'static str],
    /// Functions whose argument at that place is a regular expression that the engine matches by
    /// trying, so it must be a constant.
    pub(super) patterns: &'static [(&'static str, usize)],
    /// Types that may be named beside those that the walk knows.
    pub(super) types: &'static WordList,
    pub(super) names: Names,
    /// True if the engine finds names whatever their letter case, quoted or not.
    pub(super) ignores_case: bool,
    /// Schemas that are never granted.
    pub(super) system: &'static [&'static str],
    /// A text as a literal that the engine reads in one way only; `None` if there is none.
    pub(super) text: fn(&str) -> Option<String>,
    /// True if `X'…'` is a literal.
    pub(super) is_hex_text: bool,
    /// Forms that are not in every dialect.
    pub(super) forms: &'static [Form],
}

/// The way in which names are written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// In lower case unless they were quoted, in double quotes.
    Folded,
    /// In these quotes, letters as they are.
    Quoted(char),
    /// As they are: those without quotes have none, since the engine may fold them in either
    /// direction.
    Plain(char),
}

impl Names {
    pub(super) fn quote(self) -> char {
        match self {
            Self::Folded => '"',
            Self::Quoted(quote) | Self::Plain(quote) => quote,
        }
    }
}

/// A form that only some dialects have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `ARRAY(SELECT …)`
    ArrayQuery,
    /// `ASOF JOIN` and `ASOF LEFT JOIN`
    AsOf,
    /// `UNION BY NAME`
    ByName,
    /// `stack(…) AS (a, b)`
    ColumnAliases,
    /// `DISTINCT ON (…)`
    DistinctOn,
    /// `EXTRACT('year' FROM …)`
    ExtractText,
    /// `FROM t SELECT a`
    FromFirst,
    /// `a GLOB 'b*'`
    Glob,
    /// `GROUP BY ALL`
    GroupByAll,
    /// `GROUP BY a WITH ROLLUP`
    GroupByModifier,
    /// `IGNORE NULLS`
    IgnoreNulls,
    /// `//` and `DIV`
    IntegerDivide,
    /// `INTERVAL (n) DAY`
    IntervalExpression,
    /// `->` and `->>`
    JsonOperators,
    /// `x -> x + 1`
    Lambda,
    /// `LATERAL VIEW explode(…)`
    LateralView,
    /// `MINUS`
    Minus,
    /// `f(a := 1)`
    NamedArguments,
    /// `ORDER BY ALL`
    OrderByAll,
    /// `PIVOT` and `UNPIVOT` behind a relation
    Pivot,
    /// `POSITIONAL JOIN`
    Positional,
    /// The operators of PostgreSQL.
    PostgresOperators,
    /// `a ** b` and `a ^ b`
    Power,
    /// `QUALIFY`
    Qualify,
    /// `~` and `!~`
    RegexOperators,
    /// `RLIKE` with a constant pattern
    Rlike,
    /// `ROW(…)`
    Row,
    /// `TABLESAMPLE`
    Sample,
    /// Semi and anti joins
    SemiJoin,
    /// `<=>`
    Spaceship,
    /// Literals and types of structures, maps and lists
    Structures,
    /// `TRY_CAST`
    TryCast,
    /// `USING SAMPLE`
    UsingSample,
    /// `* EXCLUDE (…)`, `* EXCEPT (…)` and `* REPLACE (…)`
    WildcardChanges,
}

impl Rules {
    pub(super) fn has(&self, form: Form) -> bool {
        self.forms.contains(&form)
    }

    pub(super) fn is_listed(&self, function: &str) -> bool {
        self.listed.has(function)
    }

    /// Returns true if PostgreSQL reads it.
    pub(super) fn is_postgres(&self) -> bool {
        self.names == Names::Folded
    }
}
