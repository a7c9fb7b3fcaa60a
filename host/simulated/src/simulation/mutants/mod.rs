//! Mistakes: statements that differ from an expected one as the statements of real systems do. Each
//! operator makes one kind of mistake at one place; how often each is made was measured on recorded
//! systems' wrong answers.
//!
//! No statement runs here: the menu finds out whether a mutant fails, has no rows or happens to be
//! right.

mod clauses;
mod columns;
mod conditions;
mod joins;
mod sites;
mod tables;
#[cfg(test)]
mod tests;

use sqlparser::ast::Statement;
use sqlparser::dialect::{
    Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use syrch_core::{Catalog, Dialect};
use syrch_replies::{grammar, parser, weight};

use self::sites::Made;
use super::chance::Chance;

/// Bytes of an expected statement that is parsed, at most.
const BYTES: usize = 16 << 10;
/// Its words and operators at most.
const WEIGHT: usize = 1_500;
/// The parser's limit of nesting.
const RECURSION: usize = 100;
/// Mutants that one operator makes at most.
const EACH: usize = 48;
/// Copies that one operator makes for them at most, since many may be equal.
const MADE: usize = 2_048;

/// A kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operator {
    Join,
    SelectCol,
    WhereCol,
    Cmp,
    Literal,
    Agg,
    Distinct,
    Nest,
    JoinDrop,
    DropPred,
    Setop,
    Table,
    GroupCol,
    GroupDrop,
    Order,
    OrderCol,
    AddCol,
    Limit,
    DropCol,
    Having,
}

impl Operator {
    /// All of them with their weights.
    pub(super) const ALL: [(Self, f64); 20] = [
        (Self::Join, 0.30),
        (Self::SelectCol, 0.22),
        (Self::WhereCol, 0.20),
        (Self::Cmp, 0.20),
        (Self::Literal, 0.16),
        (Self::Agg, 0.16),
        (Self::Distinct, 0.16),
        (Self::Nest, 0.15),
        (Self::JoinDrop, 0.12),
        (Self::DropPred, 0.12),
        (Self::Setop, 0.12),
        (Self::Table, 0.10),
        (Self::GroupCol, 0.08),
        (Self::GroupDrop, 0.07),
        (Self::Order, 0.06),
        (Self::OrderCol, 0.06),
        (Self::AddCol, 0.06),
        (Self::Limit, 0.06),
        (Self::DropCol, 0.05),
        (Self::Having, 0.04),
    ];

    /// All mistakes of this kind in a statement, made lazily.
    fn apply<'a>(self, statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
        match self {
            Self::Join => joins::join(statement, catalog),
            Self::SelectCol => columns::select_col(statement, catalog),
            Self::WhereCol => columns::where_col(statement, catalog),
            Self::Cmp => conditions::cmp(statement),
            Self::Literal => conditions::literal(statement, catalog),
            Self::Agg => clauses::agg(statement, catalog),
            Self::Distinct => clauses::distinct(statement),
            Self::Nest => conditions::nest(statement),
            Self::JoinDrop => joins::join_drop(statement, catalog),
            Self::DropPred => conditions::drop_pred(statement),
            Self::Setop => clauses::setop(statement),
            Self::Table => joins::table(statement, catalog),
            Self::GroupCol => columns::group_col(statement, catalog),
            Self::GroupDrop => clauses::group_drop(statement),
            Self::Order => clauses::order(statement),
            Self::OrderCol => columns::order_col(statement, catalog),
            Self::AddCol => columns::add_col(statement, catalog),
            Self::Limit => clauses::limit(statement),
            Self::DropCol => columns::drop_col(statement),
            Self::Having => conditions::having(statement),
        }
    }

    /// The mistakes of this kind as texts, each once and none of them the statement itself.
    pub(super) fn texts(self, statement: &Statement, catalog: &Catalog) -> Vec<String> {
        let own = statement.to_string();
        let mut texts: Vec<String> = Vec::new();
        for mutant in self.apply(statement, catalog).take(MADE) {
            let text = mutant.to_string();
            if text != own && !texts.contains(&text) {
                texts.push(text);
            }
            if texts.len() == EACH {
                break;
            }
        }
        texts
    }
}

/// Parses one query of the catalog's dialect, or else of a common one, since a suite's statements
/// may be written for another engine; `None` if it is another statement, does not parse, or is too
/// large.
pub(super) fn parse(sql: &str, dialect: &Dialect) -> Option<Statement> {
    let own = grammar(dialect);
    let dialects: [&dyn Grammar; 5] =
        [&*own, &SQLiteDialect {}, &GenericDialect {}, &PostgreSqlDialect {}, &MySqlDialect {}];
    if sql.len() > BYTES || weight(sql) > WEIGHT {
        return None;
    }
    dialects.into_iter().find_map(|dialect| {
        let mut parser = parser(dialect).with_recursion_limit(RECURSION).try_with_sql(sql).ok()?;
        match <[Statement; 1]>::try_from(parser.parse_statements().ok()?) {
            Ok([statement @ Statement::Query(_)]) => Some(statement),
            _ => None,
        }
    })
}

/// The mutants of a statement, each once, in the order in which they are to be tried: operators by
/// their weights, and the mutants of one operator at random.
pub(super) fn in_order(statement: &Statement, catalog: &Catalog, chance: &Chance) -> Vec<String> {
    let mut made: Vec<(f64, Vec<String>)> = Operator::ALL
        .iter()
        .map(|(operator, weight)| {
            let mut texts = operator.texts(statement, catalog);
            texts.sort_by_cached_key(|text| chance.digest(text));
            (*weight, texts)
        })
        .collect();
    let mut order: Vec<String> = Vec::new();
    for turn in 0.. {
        let weights: Vec<f64> = made
            .iter()
            .map(|(weight, texts)| if texts.is_empty() { 0.0 } else { *weight })
            .collect();
        let Some(place) = chance.pick(&format!("operator {turn}"), &weights) else { break };
        if let Some(text) = made[place].1.pop()
            && !order.contains(&text)
        {
            order.push(text);
        }
    }
    order
}
