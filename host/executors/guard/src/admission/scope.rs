//! The relations that a statement may read, and the resolution of their names.

use std::collections::HashMap;

use syrch_core::text::nearest;
use syrch_core::{Catalog, Dialect, SqlErrorKind};

use super::rules::Rules;

/// The granted relations and how names without a schema are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    dialect: Dialect,
    /// The name of the database's own catalog, where names may have one.
    catalog: Option<String>,
    /// Schema and exact name of each relation, by its name as the engine compares names.
    relations: HashMap<String, Vec<Relation>>,
    /// The schemas in which names without one are searched first, in order.
    path: Vec<String>,
    /// The reasons why relations that the role may read are left out, by schema and name.
    left_out: HashMap<(String, String), String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    /// Empty for an engine without schemas.
    pub(super) schema: String,
    pub(super) name: String,
}

/// The reason why a name means no granted relation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotGranted {
    pub(super) kind: SqlErrorKind,
    pub(super) rule: &'static str,
    pub(super) message: String,
    pub(super) near: Vec<String>,
}

impl Granted {
    /// The relations of a catalog, each with its schema. `path` is the role's search path; a name
    /// without a schema means the relation in the first of these schemas that has one, or else the
    /// only relation of that name.
    #[must_use]
    pub fn new(catalog: &Catalog, path: Vec<String>) -> Self {
        let ignores_case = Rules::for_dialect(&catalog.dialect).ignores_case;
        let mut relations: HashMap<String, Vec<Relation>> = HashMap::new();
        for table in &catalog.tables {
            let schema = table.schema_name.clone().unwrap_or_default();
            let name = table.name.clone();
            relations.entry(key(&name, ignores_case)).or_default().push(Relation { schema, name });
        }
        Self {
            dialect: catalog.dialect.clone(),
            catalog: None,
            relations,
            path,
            left_out: HashMap::new(),
        }
    }

    /// Sets the name of the catalog in which the schemas lie. Names may then have three parts, and
    /// every relation is written with all of them.
    #[must_use]
    pub fn in_catalog(mut self, name: impl Into<String>) -> Self {
        self.catalog = Some(name.into());
        self
    }

    /// Reads the names of another dialect.
    pub(crate) fn with_dialect(mut self, dialect: &Dialect) -> Self {
        self.dialect = dialect.clone();
        self
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(super) fn catalog(&self) -> Option<&str> {
        self.catalog.as_deref()
    }

    /// Returns true if two names are the same to the engine.
    pub(super) fn is_one(&self, left: &str, right: &str) -> bool {
        let ignores_case = Rules::for_dialect(&self.dialect).ignores_case;
        left == right || (ignores_case && key(left, true) == key(right, true))
    }

    /// Records why a relation is left out, for the error of a statement that names it.
    pub fn leave_out(&mut self, schema: &str, name: &str, reason: String) {
        self.left_out.insert((schema.to_owned(), name.to_owned()), reason);
    }

    /// The relation that a name means.
    pub(super) fn resolve(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<&Relation, NotGranted> {
        let rules = Rules::for_dialect(&self.dialect);
        let candidates =
            self.relations.get(&key(name, rules.ignores_case)).map_or(&[][..], Vec::as_slice);
        let is_system = |schema: &str| {
            schema.starts_with("pg_")
                || rules.system.iter().any(|system| self.is_one(system, schema))
        };
        let is_denied = match schema {
            Some(schema) => is_system(schema),
            None => name.starts_with("pg_") && candidates.is_empty(),
        };
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        if is_denied {
            let message =
                format!("`{shown}` is refused: the server's own tables are never granted");
            return Err(NotGranted {
                kind: SqlErrorKind::Denied,
                rule: "granted-tables",
                message,
                near: Vec::new(),
            });
        }
        let within = |schema: &str| -> Vec<&Relation> {
            candidates.iter().filter(|candidate| self.is_one(&candidate.schema, schema)).collect()
        };
        let found = match schema {
            Some(schema) => within(schema),
            None => {
                let first =
                    self.path.iter().map(|schema| within(schema)).find(|found| !found.is_empty());
                first.unwrap_or_else(|| candidates.iter().collect())
            }
        };
        // A catalog may hold names that differ in letter case alone; then only the exact one is
        // certain.
        let is_one_schema = found.windows(2).all(|pair| pair[0].schema == pair[1].schema);
        let exact = found.iter().find(|candidate| candidate.name == name).filter(|_| is_one_schema);
        match (found.as_slice(), exact) {
            ([only], _) | (_, Some(only)) => Ok(only),
            ([], None) => Err(self.unknown(schema, name, &shown)),
            (_, None) => {
                let near: Vec<String> =
                    found.iter().map(|found| format!("{}.{}", found.schema, found.name)).collect();
                let message = format!("`{name}` is ambiguous: write one of {}", near.join(", "));
                Err(NotGranted {
                    kind: SqlErrorKind::AmbiguousName,
                    rule: "ambiguous-table",
                    message,
                    near,
                })
            }
        }
    }

    fn unknown(&self, schema: Option<&str>, name: &str, shown: &str) -> NotGranted {
        let is_it = |key: &&(String, String)| {
            self.is_one(&key.1, name) && schema.is_none_or(|schema| self.is_one(&key.0, schema))
        };
        if let Some(key) = self.left_out.keys().filter(is_it).min() {
            let message = format!("`{shown}` cannot be read: {}", self.left_out[key]);
            return NotGranted {
                kind: SqlErrorKind::Denied,
                rule: "granted-tables",
                message,
                near: Vec::new(),
            };
        }
        // Names in other letters need quotes in PostgreSQL.
        let known = || self.relations.values().flatten().map(|relation| relation.name.as_str());
        let mut near: Vec<String> = Vec::new();
        if !Rules::for_dialect(&self.dialect).ignores_case {
            near = known()
                .filter(|known: &&str| known.eq_ignore_ascii_case(name) && *known != name)
                .map(|known| format!("\"{known}\""))
                .collect();
            near.dedup();
        }
        if near.is_empty() {
            near = nearest(name, known());
        }
        let message = format!("no table `{shown}` is granted");
        NotGranted { kind: SqlErrorKind::UnknownTable, rule: "granted-tables", message, near }
    }
}

/// A name as a key for relations: in lower case where engines compare names without it.
fn key(name: &str, ignores_case: bool) -> String {
    if ignores_case { name.to_lowercase() } else { name.to_owned() }
}
