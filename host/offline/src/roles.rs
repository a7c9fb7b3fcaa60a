//! The names of one of several references between two tables: `home team` of a match, `shipping
//! country` of an order.

use super::link::Mention;
use super::schema::{ColumnRef, Edge, Schema};
use super::token::is_stop;
use super::words::Token;

/// Words of the name of a reference that only say that it is one.
const NUMBERS: &[&str] = &["code", "id", "key", "number"];

/// A reference by its words.
struct Role<'a> {
    /// The column that refers.
    from: ColumnRef,
    /// The table that it refers to.
    to: usize,
    /// The words that other references between the tables do not have.
    own: Vec<&'a str>,
    /// All words, without those that only say that it refers.
    words: Vec<&'a str>,
    /// True if there are such words: the value of the column is then no answer.
    is_number: bool,
}

impl<'a> Role<'a> {
    /// The role of a reference that is one of several between two tables.
    fn new(schema: &'a Schema, edge: &Edge) -> Option<Self> {
        let (from, to) = schema.reference(edge).filter(|_| edge.rival)?;
        let required = schema.column(from).required.iter().map(String::as_str);
        let words: Vec<&str> = required.filter(|stem| !NUMBERS.contains(stem)).collect();
        let rivals: Vec<&String> = schema
            .rivals(edge)
            .filter_map(|rival| schema.reference(rival))
            .flat_map(|(other, _)| &schema.column(other).required)
            .collect();
        let own = words.iter().copied().filter(|stem| {
            let is_of_table = schema.tables[to].stems.iter().any(|own| own == stem);
            !is_of_table && !rivals.iter().any(|other| other == stem)
        });
        let is_number = words.len() < schema.column(from).required.len();
        Some(Self { from, to, own: own.collect(), words, is_number })
    }

    /// Returns true if these words are the role, with words of the table or without.
    fn is_named(&self, schema: &Schema, said: &[&str]) -> bool {
        let table = &schema.tables[self.to].stems;
        !self.own.is_empty()
            && self.own.iter().all(|stem| said.contains(stem))
            && said.iter().all(|stem| {
                self.words.contains(stem) || table.iter().any(|own: &String| own == stem)
            })
    }
}

/// Returns true if the name of a reference says no more than the table: the `dept_no` of an
/// employee, beside the `mngr_no` of a department.
pub(crate) fn is_plain(schema: &Schema, edge: &Edge) -> bool {
    let Some((from, to)) = schema.reference(edge) else { return false };
    let mut words = schema.column(from).required.iter();
    words.all(|stem| NUMBERS.contains(&stem.as_str()) || schema.tables[to].stems.contains(stem))
}

/// Makes words for one of several references mean the table that it refers to, or the column of
/// that table that follows them, and returns the columns of these references. Before the table that
/// refers they only say how it is joined: `home matches`.
pub(crate) fn read_roles(
    tokens: &[Token],
    schema: &Schema,
    mentions: &mut Vec<Mention>,
) -> Vec<ColumnRef> {
    let mut named = Vec::new();
    let mut at = 0;
    while at < mentions.len() {
        if let Some(from) = read_role(tokens, schema, mentions, at)
            && !named.contains(&from)
        {
            named.push(from);
        }
        at += 1;
    }
    named
}

/// Reads the words of one mention as those of a reference.
fn read_role(
    tokens: &[Token],
    schema: &Schema,
    mentions: &mut Vec<Mention>,
    at: usize,
) -> Option<ColumnRef> {
    let mention = &mentions[at];
    let span = &tokens[mention.from..mention.to];
    let said: Vec<&str> =
        span.iter().filter(|token| !is_stop(token)).map(|token| token.stem.as_str()).collect();
    if !mention.cells.is_empty() || said.is_empty() {
        return None;
    }
    let roles: Vec<Role<'_>> = schema
        .edges
        .iter()
        .filter_map(|edge| Role::new(schema, edge))
        .filter(|role: &Role<'_>| mention.columns.iter().any(|(column, _)| *column == role.from))
        .filter(|role| role.is_named(schema, &said))
        .collect();
    let next = mentions.get(at + 1).filter(|next| next.from == mention.to);
    // `home city`: a column of the table.
    let columns = next.filter(|next| next.cells.is_empty()).map(|next| next.columns.as_slice());
    let mut followed = roles.iter().filter(|role| {
        columns.unwrap_or_default().iter().any(|(column, score)| {
            column.table == role.to && *score > 0.9 && !schema.column(*column).is_key
        })
    });
    if let Some(role) = followed.next().filter(|_| followed.next().is_none()) {
        let from = role.from;
        let to = role.to;
        let first = mentions.remove(at);
        let column = &mut mentions[at];
        column.columns.retain(|(column, _)| column.table == to);
        column.tables.clear();
        join_mentions(first, column);
        return Some(from);
    }
    let mut whole = roles
        .iter()
        .filter(|role| role.is_number && role.words.iter().all(|stem| said.contains(stem)));
    if let Some(role) = whole.next().filter(|_| whole.next().is_none()) {
        let from = role.from;
        let to = role.to;
        let table = &mut mentions[at];
        table.tables = vec![(to, 1.0)];
        table.columns.clear();
        return Some(from);
    }
    let is_adjective = !span.iter().any(Token::is_participle);
    let mut before = roles.iter().filter(|role| {
        is_adjective
            && next
                .is_some_and(|next| next.tables.iter().any(|(table, _)| *table == role.from.table))
    });
    let role = before.next().filter(|_| before.next().is_none())?;
    let from = role.from;
    let first = mentions.remove(at);
    let table = &mut mentions[at];
    table.tables.retain(|(table, _)| *table == from.table);
    table.columns.clear();
    join_mentions(first, table);
    Some(from)
}

/// Adds the words of a mention to the one behind it.
fn join_mentions(first: Mention, next: &mut Mention) {
    next.from = first.from;
    next.words += first.words;
}
