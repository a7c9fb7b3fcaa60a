//! What the definition of a view calls: the server runs it with the rights of the view's owner, whoever reads the view.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, FunctionArguments, ObjectName, TableFactor, Visit, Visitor};
use syrch_core::{Dialect, SqlError};

use super::postgres::RULES;
use super::{Bounds, rewrite};
use crate::facts::{self, Places};
use crate::prelex;
use crate::read::Reading;

/// Functions that the grammar knows by name, or that disclose no more than the role's own name.
const HARMLESS: [&str; 7] =
    ["array", "current_role", "current_schema", "current_user", "row", "session_user", "to_tsvector"];

/// The functions that the definition of a view calls and that are not listed, in lower case.
///
/// # Errors
/// When the definition cannot be read, as [`admit`](super::admit).
pub fn unlisted_calls(definition: &str) -> Result<Vec<String>, SqlError> {
    struct Calls(BTreeSet<String>);
    impl Calls {
        fn add(&mut self, name: &ObjectName) {
            let name = name.to_string().replace('"', "").to_lowercase();
            let plain = name.strip_prefix("pg_catalog.").unwrap_or(&name);
            if !RULES.is_listed(plain) && !HARMLESS.contains(&plain) {
                self.0.insert(plain.to_owned());
            }
        }
    }
    impl Visitor for Calls {
        type Break = ();
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
                TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => self.add(name),
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let bounds = Bounds::default();
    let source = rewrite::rewrite(definition, &Dialect::Postgres, bounds.comment_depth);
    let tokens = prelex(&source.text, &Dialect::Postgres, &bounds)?;
    let read = || {
        let places = Places::new(&source.text);
        let statement = facts::parse_tokens(&source.text, &tokens, Reading::of(&Dialect::Postgres), &places);
        let mut calls = Calls(BTreeSet::new());
        let _ = statement.map_err(|error| super::refused(error).rule("syntax"))?.visit(&mut calls);
        Ok(calls.0.into_iter().collect())
    };
    super::on_a_stack(&source.text, &tokens, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_found() {
        let calls = |text: &str| unlisted_calls(text).unwrap();
        assert_eq!(calls("SELECT id, public.audit_hit() AS h FROM customers LIMIT 1;"), ["public.audit_hit"]);
        assert_eq!(calls("SELECT x FROM dblink('a') AS t(x int), (SELECT pg_sleep(1)) s"), ["dblink", "pg_sleep"]);
        assert_eq!(
            calls("SELECT sum(a), current_user, ARRAY(SELECT 1) FROM t WHERE EXISTS (SELECT lo_get(1))"),
            ["lo_get"]
        );
        assert_eq!(calls("SELECT count(*) FROM pg_catalog.generate_series(1, 2) g"), Vec::<String>::new());
        assert!(unlisted_calls("SELECT 1 +").is_err());
    }
}
