//! The joins of a statement, read off its canonical spelling, and whether they follow the catalog's foreign keys.
//!
//! This is no parser: it finds tables with their aliases, and equalities between two columns of different tables. What it cannot place
//! with certainty it leaves out.

use std::collections::BTreeSet;

use syrch_plugin::prelude::*;

use crate::solver::tokens::{Token, tokens};

/// A column: its table and its name, as the catalog spells them.
type Place<'c> = (Full<'c>, &'c str);

/// A table's schema and name.
type Full<'c> = (Option<&'c str>, &'c str);

/// Whether two tables are joined by columns although foreign keys say otherwise: there is a key between the two tables, or one of the
/// columns is an end of a key to elsewhere. Two columns with a key to the same third are as good as one key. Without any key nothing is
/// odd.
pub(crate) fn has_odd_join(catalog: &Catalog, tables: &[String], normalized: &str) -> bool {
    let keys = Keys::of(catalog);
    equalities(catalog, tables, normalized).iter().any(|(left, right)| keys.are_against(*left, *right))
}

/// Each single column of each foreign key with its counterpart, in both directions.
struct Keys<'c>(BTreeSet<(Place<'c>, Place<'c>)>);

impl<'c> Keys<'c> {
    fn of(catalog: &'c Catalog) -> Self {
        let mut keys = BTreeSet::new();
        for table in &catalog.tables {
            for key in &table.foreign_keys {
                let Some(target) = catalog.table(&key.ref_table) else { continue };
                let targets = if key.ref_columns.is_empty() { &target.primary_key } else { &key.ref_columns };
                for (column, to) in key.columns.iter().zip(targets) {
                    let (from, to) = ((full(table), column.as_str()), (full(target), to.as_str()));
                    keys.extend([(from, to), (to, from)]);
                }
            }
        }
        Self(keys)
    }

    fn partners(&self, of: Place<'_>) -> Vec<Place<'c>> {
        self.0.iter().filter(|(place, _)| *place == of).map(|(_, partner)| *partner).collect()
    }

    fn are_against(&self, left: Place<'_>, right: Place<'_>) -> bool {
        let (of_left, of_right) = (self.partners(left), self.partners(right));
        if of_left.contains(&right) || of_left.iter().any(|place| of_right.contains(place)) {
            return false;
        }
        let is_between = self.0.iter().any(|(place, partner)| place.0 == left.0 && partner.0 == right.0);
        is_between || !of_left.is_empty() || !of_right.is_empty()
    }
}

/// The schema and the name of a table.
fn full(table: &Table) -> Full<'_> {
    (table.schema_name.as_deref(), &table.name)
}

/// The pairs of columns of different tables that the statement sets equal.
fn equalities<'c>(catalog: &'c Catalog, tables: &[String], normalized: &str) -> Vec<(Place<'c>, Place<'c>)> {
    let tokens = tokens(normalized);
    let used: Vec<&Table> = tables.iter().filter_map(|name| catalog.table(name)).collect();
    let aliases = aliases(&tokens, &used);
    let mut pairs = Vec::new();
    for at in 1..tokens.len() {
        if tokens[at] != Token::Mark('=') || matches!(tokens[at - 1], Token::Mark('<' | '>' | '!')) {
            continue;
        }
        let left = column_before(&tokens, at).and_then(|(table, name)| place(&aliases, &used, table, name));
        let right = column_after(&tokens, at).and_then(|(table, name)| place(&aliases, &used, table, name));
        if let (Some(left), Some(right)) = (left, right)
            && left.0 != right.0
        {
            pairs.push((left, right));
        }
    }
    pairs
}

type Aliases<'c> = Vec<(String, &'c Table)>;

/// Every name under which a table stands in the statement. One alias may stand for several tables in different parts of it.
fn aliases<'c>(tokens: &[Token], used: &[&'c Table]) -> Aliases<'c> {
    let mut aliases: Aliases<'c> = used.iter().map(|table| (table.name.clone(), *table)).collect();
    for at in 1..tokens.len() {
        let Token::Name(name) = &tokens[at] else { continue };
        let introduces = match &tokens[at - 1] {
            Token::Keyword(word) => word == "from" || word == "join",
            Token::Mark(mark) => *mark == ',' || *mark == '.' || *mark == '(',
            Token::Name(_) | Token::Literal => false,
        };
        let Some(table) = used.iter().find(|table| table.name.eq_ignore_ascii_case(name)).filter(|_| introduces) else {
            continue;
        };
        let next = if tokens.get(at + 1) == Some(&Token::Keyword("as".to_owned())) { at + 2 } else { at + 1 };
        if let Some(Token::Name(alias)) = tokens.get(next) {
            aliases.push((alias.clone(), table));
        }
    }
    aliases
}

/// The only column that a name can mean; `None` if there are several or it is no column.
fn place<'c>(aliases: &Aliases<'c>, used: &[&'c Table], qualifier: Option<&str>, name: &str) -> Option<Place<'c>> {
    let candidates: Vec<&'c Table> = match qualifier {
        Some(qualifier) => {
            let meant = |(alias, _): &&(String, &'c Table)| alias.eq_ignore_ascii_case(qualifier);
            aliases.iter().filter(meant).map(|(_, table)| *table).collect()
        }
        None => used.to_vec(),
    };
    let column = |table: &&'c Table| {
        let column = table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))?;
        Some((full(table), column.name.as_str()))
    };
    let places: BTreeSet<Place<'c>> = candidates.iter().filter_map(column).collect();
    places.first().copied().filter(|_| places.len() == 1)
}

fn column_before(tokens: &[Token], at: usize) -> Option<(Option<&str>, &str)> {
    let Token::Name(name) = tokens.get(at.checked_sub(1)?)? else { return None };
    let qualifier = match (at.checked_sub(2).and_then(|dot| tokens.get(dot)), at.checked_sub(3).map(|at| &tokens[at])) {
        (Some(Token::Mark('.')), Some(Token::Name(qualifier))) => Some(qualifier.as_str()),
        _ => None,
    };
    Some((qualifier, name))
}

fn column_after(tokens: &[Token], at: usize) -> Option<(Option<&str>, &str)> {
    let Token::Name(first) = tokens.get(at + 1)? else { return None };
    match (tokens.get(at + 2), tokens.get(at + 3)) {
        (Some(Token::Mark('.')), Some(Token::Name(name))) => Some((Some(first), name)),
        (Some(Token::Mark('(')), _) => None,
        _ => Some((None, first)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cars() -> Catalog {
        let table = |name: &str, columns: &[&str], keys: &[(&str, &str, &str)]| Table {
            name: name.into(),
            columns: columns.iter().map(|name| Column { name: (*name).into(), ..Column::default() }).collect(),
            primary_key: vec![columns[0].into()],
            foreign_keys: keys
                .iter()
                .map(|(column, table, to)| ForeignKey {
                    columns: vec![(*column).into()],
                    ref_table: (*table).into(),
                    ref_columns: if to.is_empty() { Vec::new() } else { vec![(*to).into()] },
                })
                .collect(),
            ..Table::default()
        };
        Catalog {
            database: "cars".into(),
            dialect: Dialect::Sqlite,
            tables: vec![
                table("makers", &["Id", "Maker"], &[]),
                table("models", &["ModelId", "Maker", "Model"], &[("Maker", "makers", "")]),
                table("names", &["MakeId", "Model"], &[("Model", "models", "Model")]),
                table("data", &["Id", "Year"], &[("Id", "names", "MakeId")]),
                table("tests", &["Id", "Car"], &[("Car", "names", "MakeId")]),
                table("notes", &["Word", "Text"], &[]),
            ],
        }
    }

    fn is_odd(text: &str) -> bool {
        let catalog = cars();
        let tables: Vec<String> = catalog
            .tables
            .iter()
            .map(|table| table.name.clone())
            .filter(|name| tokens(text).iter().any(|token| matches!(token, Token::Name(word) if word == name)))
            .collect();
        has_odd_join(&catalog, &tables, text)
    }

    #[test]
    fn joins_along_keys_are_not_odd() {
        for text in [
            "SELECT * FROM models JOIN makers ON models.Maker = makers.Id",
            "SELECT * FROM makers AS T1, models AS T2 WHERE t2.maker = t1.id",
            "SELECT * FROM data AS d JOIN names AS n ON d.Id = n.MakeId JOIN models m ON n.Model = m.Model",
            // Two keys to the same column.
            "SELECT * FROM data JOIN tests ON data.Id = tests.Car",
            // No key concerns these.
            "SELECT * FROM notes JOIN makers ON notes.Word = makers.Maker",
            // No join at all, or one that cannot be placed.
            "SELECT * FROM data WHERE Id = 3 AND Year = 'Id'",
            "SELECT * FROM data JOIN makers ON Id = Id",
            "SELECT x.Id FROM (SELECT Id FROM data) AS x JOIN makers ON x.Id = makers.Id",
        ] {
            assert!(!is_odd(text), "{text}");
        }
    }

    #[test]
    fn joins_away_from_keys_are_odd() {
        for text in [
            // A key to elsewhere.
            "SELECT * FROM makers JOIN data ON makers.Id = data.Id",
            "SELECT * FROM makers AS a JOIN data b ON a.Id=b.Id",
            // A key between the two, by other columns.
            "SELECT * FROM models JOIN makers ON models.ModelId = makers.Id",
            "SELECT \"a\".Id FROM makers AS \"a\" JOIN `data` AS [b c] ON \"a\".Id = [b c].Id",
            "SELECT Maker FROM makers WHERE EXISTS (SELECT 1 FROM data WHERE Year = Maker AND data.Id = makers.Id)",
        ] {
            assert!(is_odd(text), "{text}");
        }
    }

    #[test]
    fn one_alias_for_two_tables_is_placed_by_its_columns() {
        let text = "SELECT T1.Maker FROM makers AS T1 UNION SELECT T2.Model FROM data AS T1 JOIN names AS T2 ON T1.Year = T2.MakeId";
        assert!(is_odd(text));
        let unclear = "SELECT T1.Maker FROM makers AS T1 UNION SELECT T2.Model FROM data AS T1 JOIN models AS T2 ON T1.Id = T2.ModelId";
        assert!(!is_odd(unclear));
    }
}
