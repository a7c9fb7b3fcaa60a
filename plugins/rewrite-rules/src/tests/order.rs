//! Which proposal comes when.

use syrch_plugin::fakes::{FakeHost, attempt, plan, rewrites};
use syrch_plugin::prelude::*;

use super::{catalog, propose};
use crate::{RewriteRules, Settings};

const SLOW: &str = "SELECT c.name FROM customers AS c WHERE EXISTS (SELECT 1 FROM orders AS o \
                    WHERE o.customer_id = c.id) AND (c.level = 1 OR c.country = 'AT')";

fn families(sql: &str, plan: &str) -> Vec<String> {
    propose(Dialect::Sqlite, sql, plan).into_iter().map(|(family, _)| family).collect()
}

#[test]
fn the_plan_decides_what_comes_first() {
    let scanned = "SCAN c\nCORRELATED SCALAR SUBQUERY 1\n  SCAN o\n";
    assert_eq!(families(SLOW, scanned)[0], "exists-to-in");
    let searched =
        "SCAN c\nCORRELATED SCALAR SUBQUERY 1\n  SEARCH o USING INDEX i (customer_id=?)\n";
    assert_eq!(families(SLOW, searched)[0], "or-to-union");
}

#[test]
fn every_proposal_is_made_once() {
    let rules = RewriteRules::new(Settings::default());
    let host = FakeHost::default();
    let catalog = catalog(Dialect::Sqlite);
    let all = rewrites(&rules, &host, SLOW, &catalog, &vec![Trial::Slower(0.5); 20]).unwrap();
    let mut texts: Vec<&str> = all.iter().map(|proposal| proposal.sql.as_str()).collect();
    assert!((2..20).contains(&texts.len()), "{texts:?}");
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), all.len());
    assert!(all.iter().all(|proposal| !proposal.reason.is_empty()));
}

#[test]
fn what_was_accepted_is_improved_further_and_nothing_is_tried_again() {
    let rules = RewriteRules::new(Settings::default());
    let host = FakeHost::default();
    let catalog = catalog(Dialect::Sqlite);
    let trials = [
        Trial::Mismatch,
        Trial::Accepted(2.0),
        Trial::Slower(0.5),
        Trial::Slower(0.5),
        Trial::Slower(0.5),
    ];
    let all = rewrites(&rules, &host, SLOW, &catalog, &trials).unwrap();
    // The second proposal is the best from then on: what it has remains in the third.
    assert_eq!(all[1].family, "exists-to-in");
    assert!(all[2].sql.contains("IN (SELECT") && all[2].sql != all[1].sql, "{}", all[2].sql);
    let mut texts: Vec<&str> = all.iter().map(|proposal| proposal.sql.as_str()).collect();
    texts.extend([SLOW]);
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), all.len() + 1);
}

#[test]
fn there_is_an_end() {
    let rules = RewriteRules::new(Settings::default());
    let host = FakeHost::default();
    let next = |sql: &str, history: &[Attempt]| {
        rules.rewrite(&host, sql, sql, &plan(""), &catalog(Dialect::Sqlite), history).unwrap()
    };
    assert!(next("SELECT name FROM customers", &[]).is_none());
    assert!(next("DELETE FROM customers", &[]).is_none());
    assert!(next("not a statement", &[]).is_none());
    let history = vec![attempt("SELECT 1", "x", Trial::Mismatch); 100];
    assert!(next(SLOW, &history).is_none());
    // Longer than the setting allows.
    assert!(next(&format!("{SLOW} {}", "-- ".repeat(8_000)), &[]).is_none());
}

#[test]
fn other_engines_have_no_rules() {
    let rules = RewriteRules::new(Settings::default());
    let host = FakeHost::default();
    let syntax = Syntax { title: "DuckDB".into(), ..Syntax::default() };
    let catalog = Catalog { syntax, ..catalog(Dialect::Duckdb) };
    let failed = rules.rewrite(&host, SLOW, SLOW, &plan(""), &catalog, &[]).unwrap_err();
    assert_eq!(failed.kind, FailureKind::Unsupported);
    assert_eq!(failed.message, "there are no rules for DuckDB");
}

#[test]
fn names_of_aliases_are_nobody_elses() {
    let mut catalog = catalog(Dialect::Sqlite);
    catalog.tables[0].name = "r1".into();
    catalog.tables[1].columns[1].name = "k1".into();
    let sql = "SELECT v1.name, (SELECT COUNT(*) FROM orders AS v2 WHERE v2.k1 = v1.id) AS n \
               FROM r1 AS v1";
    let engine = crate::rewriter::sql::Engine::Sqlite;
    let all = crate::rewriter::proposals(&Settings::default(), engine, sql, "", &catalog);
    let joined = all.iter().find(|proposal| proposal.family == "scalar-to-join").unwrap();
    assert_eq!(
        joined.sql,
        "SELECT v1.name, COALESCE(r2.v3, 0) AS n FROM r1 AS v1 LEFT JOIN (SELECT v2.k1 AS k2, \
         COUNT(*) AS v3 FROM orders AS v2 GROUP BY v2.k1) AS r2 ON r2.k2 = v1.id"
    );
}
