//! The functions that the definition of a view in PostgreSQL calls: the server runs it with the
//! rights of the view's owner, whoever reads the view.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FunctionArguments, ObjectName, ObjectNamePart, TableFactor, Visit, Visitor,
};
use syrch_core::{Dialect, SqlError};

use super::postgres::RULES;
use super::{Bounds, rewrite};
use crate::facts::{self, Places};
use crate::prelex;
use crate::read::Reading;

/// Functions that the grammar knows by name, or that disclose no more than the role's own name.
const HARMLESS: [&str; 7] = [
    "array",
    "current_role",
    "current_schema",
    "current_user",
    "row",
    "session_user",
    "to_tsvector",
];

/// The functions and relations that the definition of a view uses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The functions that it calls and that are not listed, in lower case.
    pub unlisted: BTreeSet<String>,
    /// The names behind FROM without their schemas, in lower case; those of common table
    /// expressions are among them.
    pub relations: BTreeSet<String>,
}

impl Definition {
    fn add(&mut self, name: &ObjectName) {
        let name = name.to_string().replace('"', "").to_lowercase();
        let plain = name.strip_prefix("pg_catalog.").unwrap_or(&name);
        if !RULES.is_listed(plain) && !HARMLESS.contains(&plain) {
            self.unlisted.insert(plain.to_owned());
        }
    }
}

impl Visitor for Definition {
    type Break = ();
    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let last = name.0.last().and_then(ObjectNamePart::as_ident);
        self.relations.extend(last.map(|last| last.value.to_lowercase()));
        ControlFlow::Continue(())
    }
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            let is_bare = matches!(function.args, FunctionArguments::Subquery(_));
            if !is_bare {
                self.add(&function.name);
            }
        }
        ControlFlow::Continue(())
    }
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => {
                self.add(name)
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Reads the definition of a view as PostgreSQL writes it.
///
/// # Errors
/// When the definition cannot be read, as [`admit`](super::admit).
pub fn definition(text: &str) -> Result<Definition, SqlError> {
    let bounds = Bounds::default();
    let source = rewrite::rewrite(text, &Dialect::Postgres, bounds.comment_depth);
    let tokens = prelex(&source.text, &Dialect::Postgres, &bounds)?;
    super::on_a_stack(&source.text, &tokens, || {
        let places = Places::new(&source.text);
        let statement = facts::parse_tokens(
            &source.text,
            &tokens,
            &Reading::for_dialect(&Dialect::Postgres),
            &places,
        );
        let mut found = Definition::default();
        let _ =
            statement.map_err(|error| super::into_error(error).rule("syntax"))?.visit(&mut found);
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_found() {
        fn calls(text: &str) -> Vec<String> {
            definition(text).unwrap().unlisted.into_iter().collect::<Vec<_>>()
        }
        assert_eq!(
            calls("SELECT id, public.audit_hit() AS h FROM customers LIMIT 1;"),
            ["public.audit_hit"]
        );
        assert_eq!(
            calls("SELECT x FROM dblink('a') AS t(x int), (SELECT pg_sleep(1)) s"),
            ["dblink", "pg_sleep"]
        );
        assert_eq!(
            calls(
                "SELECT sum(a), current_user, ARRAY(SELECT 1) FROM t \
                 WHERE EXISTS (SELECT lo_get(1))"
            ),
            ["lo_get"]
        );
        assert_eq!(
            calls("SELECT count(*) FROM pg_catalog.generate_series(1, 2) g"),
            Vec::<String>::new()
        );
        assert!(definition("SELECT 1 +").is_err());
        let relations =
            definition("SELECT a FROM s.\"T\" JOIN u ON (a = (SELECT max(b) FROM public.v))")
                .unwrap()
                .relations;
        assert_eq!(relations.into_iter().collect::<Vec<_>>(), ["t", "u", "v"]);
    }
}
