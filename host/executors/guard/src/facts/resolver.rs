//! The state of the walks over one statement.

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, Join, JoinConstraint, JoinOperator};
use sqlparser::tokenizer::Location;
use syrch_core::Catalog;
use syrch_core::ports::{Facts, Literal, Outline, Relation, Use};

use super::place::Places;
use super::scope::Columns;
use super::uses;

/// Resolves one statement and gathers its facts.
pub(super) struct Resolver<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) places: &'a Places<'a>,
    pub(super) relations: &'a [Relation],
    /// Common table expressions in sight, the innermost last.
    pub(super) ctes: Vec<(String, Columns)>,
    pub(super) tables: BTreeSet<String>,
    pub(super) tasks: BTreeSet<String>,
    pub(super) columns: BTreeSet<String>,
    pub(super) functions: BTreeSet<String>,
    pub(super) subqueries: Vec<String>,
    pub(super) literals: Vec<Literal>,
    pub(super) uses: Vec<Use>,
    /// The outline of the last SELECT that stands in no other's expressions.
    pub(super) outline: Option<Outline>,
    /// The names in double quotes that were read as texts, by where they begin; `None` where none
    /// may be.
    pub(super) texts: Option<Vec<Location>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        catalog: &'a Catalog,
        relations: &'a [Relation],
        places: &'a Places<'a>,
    ) -> Self {
        Self {
            catalog,
            places,
            relations,
            ctes: Vec::new(),
            tables: BTreeSet::new(),
            tasks: BTreeSet::new(),
            columns: BTreeSet::new(),
            functions: BTreeSet::new(),
            subqueries: Vec::new(),
            literals: Vec::new(),
            uses: Vec::new(),
            outline: None,
            texts: None,
        }
    }

    /// A resolver that reads a name in double quotes as a text where it can be nothing else.
    pub(super) fn with_texts(catalog: &'a Catalog, places: &'a Places<'a>) -> Self {
        Self { texts: Some(Vec::new()), ..Self::new(catalog, &[], places) }
    }

    /// Takes a name for a text, where that may be.
    pub(super) fn read_text(&mut self, name: &Ident) -> bool {
        self.texts.as_mut().map(|texts| texts.push(name.span.start)).is_some()
    }

    pub(super) fn into_texts(self) -> Vec<Location> {
        self.texts.unwrap_or_default()
    }

    pub(super) fn into_facts(self) -> Facts {
        Facts {
            tables: self.tables.into_iter().collect(),
            columns: self.columns.into_iter().collect(),
            functions: self.functions.into_iter().collect(),
            literals: self.literals,
            subqueries: self.subqueries,
            tasks: self.tasks.into_iter().collect(),
            uses: uses::merge_texts(self.uses),
            outline: self.outline,
            ..Facts::default()
        }
    }
}

/// The condition of a join; `None` if it has none.
pub(super) fn constraint(join: &Join) -> Option<&JoinConstraint> {
    match &join.join_operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::StraightJoin(constraint)
        // These carry ASOF JOIN.
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::RightAnti(constraint) => Some(constraint),
        _ => None,
    }
}
