//! The walk over FROM: tables, sub-queries, common table expressions and joins, and nothing else.

use std::collections::HashSet;
use std::rc::Rc;

use sqlparser::ast::{
    Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, TableAlias, TableFactor,
    TableWithJoins,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::depend::Dependencies;
use super::query::Purpose;
use super::scope::{Columns, Id, Source};

impl Walk<'_> {
    /// Gathers what stands in FROM, before its columns are in sight.
    pub(super) fn sources(&mut self, from: &mut [TableWithJoins]) -> Result<Vec<Source>, SqlError> {
        let mut sources = Vec::new();
        for tree in from {
            self.tree(tree, &mut sources)?;
        }
        let columns: usize = sources.iter().map(|source| source.columns.list.len()).sum();
        if columns > super::COLUMNS {
            let why = format!("has more than {} columns", super::COLUMNS);
            return Err(self.refuse("columns", "FROM", &why, Span::empty()));
        }
        Ok(sources)
    }

    fn tree(
        &mut self,
        tree: &mut TableWithJoins,
        sources: &mut Vec<Source>,
    ) -> Result<(), SqlError> {
        let TableWithJoins { relation, joins } = tree;
        self.factor(relation, sources)?;
        for Join { relation, global: _, join_operator: _ } in joins {
            self.factor(relation, sources)?;
        }
        Ok(())
    }

    fn factor(
        &mut self,
        factor: &mut TableFactor,
        sources: &mut Vec<Source>,
    ) -> Result<(), SqlError> {
        let (name, columns) = match factor {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints: _,
                version: _,
                with_ordinality: _,
                partitions: _,
                json_path: _,
                sample,
                index_hints: _,
            } => {
                if args.is_some() {
                    return Err(self.refuse_table_function(&name.to_string()));
                }
                self.sample(sample.is_some())?;
                self.table(name, alias.as_mut())?
            }
            TableFactor::Derived { lateral: _, subquery, alias, sample } => {
                self.sample(sample.is_some())?;
                let columns = self.query(subquery, Purpose::Result)?;
                match alias {
                    None => (None, columns),
                    Some(alias) => {
                        self.alias(alias, None)?;
                        (Some(alias.name.value.clone()), self.rename_columns(columns, alias)?)
                    }
                }
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.tree(table_with_joins, sources);
            }
            TableFactor::NestedJoin { table_with_joins: _, alias: Some(alias) } => {
                let why = "is refused as the name of a join: name its tables";
                return Err(self.refuse("clause", &alias.name.value, why, alias.name.span));
            }
            TableFactor::Function { lateral: _, name, args: _, with_ordinality: _, alias: _ } => {
                return Err(self.refuse_table_function(&name.to_string()));
            }
            TableFactor::UNNEST {
                alias: _,
                array_exprs: _,
                with_offset: _,
                with_offset_alias: _,
                with_ordinality: _,
            } => {
                return Err(self.refuse_table_function("UNNEST"));
            }
            TableFactor::XmlTable { .. } => return Err(self.refuse_table_function("XMLTABLE")),
            TableFactor::JsonTable { .. } | TableFactor::OpenJsonTable { .. } => {
                return Err(self.refuse_table_function("JSON_TABLE"));
            }
            TableFactor::TableFunction { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::UnpivotExpr { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::SemanticView { .. } => {
                return Err(self.refuse_table_function("this form of FROM"));
            }
        };
        sources.push(Source { name, columns, merged: HashSet::new() });
        Ok(())
    }

    fn refuse_table_function(&self, shown: &str) -> SqlError {
        let why =
            "is refused in FROM: only tables, sub-queries and common table expressions are read";
        self.refuse("table-function", shown, why, Span::empty())
    }

    fn sample(&self, is_there: bool) -> Result<(), SqlError> {
        match is_there {
            true => Err(self.refuse(
                "sample",
                "TABLESAMPLE",
                "is refused: its rows differ each time",
                Span::empty(),
            )),
            false => Ok(()),
        }
    }

    /// Resolves a name in FROM: a common table expression in scope, or a table.
    fn table(
        &mut self,
        name: &ObjectName,
        alias: Option<&mut TableAlias>,
    ) -> Result<(Option<String>, Rc<Columns>), SqlError> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        let Some(last) = parts.last().filter(|_| parts.len() == name.0.len()) else {
            return Err(self.refuse_table_function(&name.to_string()));
        };
        let lower = last.value.to_lowercase();
        let common =
            self.commons.iter().rev().find(|common| parts.len() == 1 && common.name == lower);
        let (columns, own) = match (common, self.names.get(&lower).copied()) {
            (Some(common), _) => (Rc::clone(&common.columns), None),
            (None, Some(place)) => (self.columns_of(place), Some(place)),
            // The other walk resolves schemas and suggests similar names.
            (None, None) if !self.is_sqlite => (Rc::default(), None),
            (None, None) => {
                let shown = syrch_core::text::clip(&last.value, 64);
                let mut error = SqlError::new(
                    SqlErrorKind::UnknownTable,
                    format!("no table `{shown}` is granted"),
                );
                error.position = self.places.byte(last.span.start);
                let near = syrch_core::text::nearest(
                    shown,
                    self.catalog.tables.iter().map(|table| table.name.as_str()),
                );
                return Err(error.rule("granted-tables").suggest(near));
            }
        };
        match alias {
            None => Ok((Some(last.value.clone()), columns)),
            Some(alias) => {
                self.alias(alias, own)?;
                Ok((Some(alias.name.value.clone()), self.rename_columns(columns, alias)?))
            }
        }
    }

    fn columns_of(&mut self, place: usize) -> Rc<Columns> {
        if !self.is_sqlite {
            return Rc::default();
        }
        let catalog = self.catalog;
        Rc::clone(self.tables.entry(place).or_insert_with(|| {
            Rc::new(catalog.tables.get(place).map(Columns::for_table).unwrap_or_default())
        }))
    }

    /// Walks the conditions of joins, whose tables are in sight by now, and returns what they
    /// require of the rows.
    pub(super) fn joins(&mut self, from: &mut [TableWithJoins]) -> Result<Dependencies, SqlError> {
        let mut dependencies = Dependencies::default();
        let mut next = 0;
        // Joins that add rows without a partner on the left make conditions hold for some rows
        // only.
        let is_plain = from.iter().all(keeps_the_left);
        for tree in from {
            self.conditions(tree, &mut next, is_plain.then_some(&mut dependencies))?;
        }
        Ok(dependencies)
    }

    fn conditions(
        &mut self,
        tree: &mut TableWithJoins,
        next: &mut usize,
        mut dependencies: Option<&mut Dependencies>,
    ) -> Result<(), SqlError> {
        let TableWithJoins { relation, joins } = tree;
        let first = *next;
        self.walk_nested_join(relation, next)?;
        for Join { relation, global: _, join_operator } in joins {
            let joined = *next;
            let is_one = !matches!(relation, TableFactor::NestedJoin { .. });
            self.walk_nested_join(relation, next)?;
            let retains_right = matches!(
                join_operator,
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
            );
            let (constraint, is_inner) = match join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::CrossJoin(constraint) => (constraint, true),
                JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint) => (constraint, false),
                JoinOperator::Semi(_)
                | JoinOperator::LeftSemi(_)
                | JoinOperator::RightSemi(_)
                | JoinOperator::Anti(_)
                | JoinOperator::LeftAnti(_)
                | JoinOperator::RightAnti(_)
                | JoinOperator::CrossApply
                | JoinOperator::OuterApply
                | JoinOperator::AsOf { match_condition: _, constraint: _ }
                | JoinOperator::StraightJoin(_)
                | JoinOperator::ArrayJoin
                | JoinOperator::LeftArrayJoin
                | JoinOperator::InnerArrayJoin => {
                    return Err(self.refuse_table_function("a join of another engine"));
                }
            };
            let is_merged =
                matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural);
            if self.is_sqlite && is_merged && (retains_right || first > 0) {
                let why = "is refused here: which of the columns its merged one stands for depends \
                           on the row, so name them by ON";
                return Err(self.refuse("merged-column", "USING", why, Span::empty()));
            }
            let usable = dependencies.as_deref_mut().filter(|_| is_one);
            match constraint {
                JoinConstraint::On(condition) => {
                    self.expr(condition)?;
                    match usable {
                        Some(found) if is_inner => found.condition(&self.scopes, condition),
                        Some(found) => found.left_join(&self.scopes, condition, joined),
                        None => {}
                    }
                }
                JoinConstraint::Using(names) => {
                    let names: Vec<String> = names.iter().filter_map(plain_name).collect();
                    self.merge(first..joined, joined..*next, &names, usable.filter(|_| is_inner));
                }
                JoinConstraint::Natural => {
                    let sources = self
                        .scopes
                        .last()
                        .map(|scope| scope.sources.as_slice())
                        .unwrap_or_default();
                    let right = sources.get(joined..*next).unwrap_or_default();
                    let names = right
                        .iter()
                        .flat_map(|source| &source.columns.list)
                        .map(|column| column.name.clone());
                    let names: Vec<String> = names.collect();
                    self.merge(first..joined, joined..*next, &names, usable.filter(|_| is_inner));
                }
                JoinConstraint::None => {}
            }
        }
        Ok(())
    }

    /// The conditions within a nested join, from which nothing is concluded.
    fn walk_nested_join(
        &mut self,
        factor: &mut TableFactor,
        next: &mut usize,
    ) -> Result<(), SqlError> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: _ } => {
                self.conditions(table_with_joins, next, None)
            }
            _ => {
                *next += 1;
                Ok(())
            }
        }
    }

    /// Merges the columns of a USING or NATURAL join.
    fn merge(
        &mut self,
        left: std::ops::Range<usize>,
        right: std::ops::Range<usize>,
        names: &[String],
        mut dependencies: Option<&mut Dependencies>,
    ) {
        let Some(scope) = self.scopes.last_mut() else { return };
        fn find_column(
            sources: &[Source],
            range: &std::ops::Range<usize>,
            name: &str,
        ) -> Option<Id> {
            let within = |index: &usize| {
                Some((
                    *index,
                    sources.get(*index)?.columns.list.iter().position(
                        |column: &super::scope::Column| {
                            column.name.to_lowercase() == name.to_lowercase()
                        },
                    )?,
                ))
            };
            range.clone().find_map(|index| within(&index))
        }
        for name in names {
            let pair = (
                find_column(&scope.sources, &left, name),
                find_column(&scope.sources, &right, name),
            );
            let (Some(one), Some(other)) = pair else { continue };
            if let Some(source) = scope.sources.get_mut(other.0) {
                source.merged.insert(other.1);
            }
            if let Some(dependencies) = dependencies.as_deref_mut() {
                dependencies.equal(one, other);
            }
        }
    }
}

/// Returns true if all joins are inner ones, or outer ones that retain the rows of the left side.
fn keeps_the_left(tree: &TableWithJoins) -> bool {
    tree.joins.iter().all(|join: &Join| {
        !matches!(
            join.join_operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
        )
    })
}

fn plain_name(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Some(ident.value.clone()),
        _ => None,
    }
}
