//! Which relations a statement may read, and which one a name means.

use std::collections::HashMap;

use syrch_core::text::nearest;
use syrch_core::{Catalog, SqlErrorKind};

/// The granted relations and how names without a schema are resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Granted {
    /// Schemas of each relation, by its exact name.
    schemas: HashMap<String, Vec<String>>,
    /// The schemas in which names without one are searched first, in order.
    path: Vec<String>,
    /// Why relations that the role may read are left out, by schema and name.
    left_out: HashMap<(String, String), String>,
}

/// Why a name means no granted relation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotGranted {
    pub(super) kind: SqlErrorKind,
    pub(super) rule: &'static str,
    pub(super) message: String,
    pub(super) near: Vec<String>,
}

impl Granted {
    /// The relations of a catalog, each with its schema. `path` is the role's search path; a name without a schema means the relation in the first
    /// of these schemas that has one, or else the only relation of that name.
    #[must_use]
    pub fn new(catalog: &Catalog, path: Vec<String>) -> Self {
        let mut schemas: HashMap<String, Vec<String>> = HashMap::new();
        for table in &catalog.tables {
            schemas.entry(table.name.clone()).or_default().push(table.schema_name.clone().unwrap_or_default());
        }
        Self { schemas, path, left_out: HashMap::new() }
    }

    /// Records why a relation is left out, for the error of a statement that names it.
    pub fn leave_out(&mut self, schema: &str, name: &str, reason: String) {
        self.left_out.insert((schema.to_owned(), name.to_owned()), reason);
    }

    /// The schema of the relation that a name means.
    pub(super) fn resolve(&self, schema: Option<&str>, name: &str) -> Result<&str, NotGranted> {
        let is_system = |schema: &str| schema.starts_with("pg_") || schema == "information_schema";
        let is_denied = match schema {
            Some(schema) => is_system(schema),
            None => name.starts_with("pg_") && !self.schemas.contains_key(name),
        };
        let shown = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        if is_denied {
            let message = format!("`{shown}` is refused: the server's own tables are never granted");
            return Err(NotGranted { kind: SqlErrorKind::Denied, rule: "granted-tables", message, near: Vec::new() });
        }
        let candidates = self.schemas.get(name).map_or(&[][..], Vec::as_slice);
        let found = match schema {
            Some(schema) => candidates.iter().find(|candidate| *candidate == schema),
            None => self.path.iter().find_map(|schema| candidates.iter().find(|candidate| *candidate == schema)),
        };
        match (found, candidates) {
            (Some(found), _) => Ok(found),
            (None, [only]) if schema.is_none() => Ok(only),
            (None, [_, _, ..]) if schema.is_none() => {
                let near: Vec<String> = candidates.iter().map(|schema| format!("{schema}.{name}")).collect();
                let message = format!("`{name}` is ambiguous: write one of {}", near.join(", "));
                Err(NotGranted { kind: SqlErrorKind::AmbiguousName, rule: "ambiguous-table", message, near })
            }
            _ => Err(self.unknown(schema, name, &shown)),
        }
    }

    fn unknown(&self, schema: Option<&str>, name: &str, shown: &str) -> NotGranted {
        let is_it = |key: &&(String, String)| key.1 == name && schema.is_none_or(|schema| key.0 == schema);
        if let Some(key) = self.left_out.keys().filter(is_it).min() {
            let message = format!("`{shown}` cannot be read: {}", self.left_out[key]);
            return NotGranted { kind: SqlErrorKind::Denied, rule: "granted-tables", message, near: Vec::new() };
        }
        // Names in other letters need quotes in PostgreSQL.
        let spelled = |known: &&String| known.eq_ignore_ascii_case(name) && known.as_str() != name;
        let mut near: Vec<String> = self.schemas.keys().filter(spelled).map(|known| format!("\"{known}\"")).collect();
        if near.is_empty() {
            near = nearest(name, self.schemas.keys().map(String::as_str));
        }
        let message = format!("no table `{shown}` is granted");
        NotGranted { kind: SqlErrorKind::UnknownTable, rule: "granted-tables", message, near }
    }
}
