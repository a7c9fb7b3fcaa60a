//! The behaviours of a rewriter: proposals that hang, flood, write, lie, or reach for what the role
//! is not lent.

use syrch_plugin::Host;
use syrch_plugin::prelude::*;

use crate::{Hostile, candidate, spin};

/// Escape codes and a character that turns the direction of the text.
const CODES: &str = "\u{1b}]52;c;Q0FOQVJZ\u{7}\u{1b}[2J\r\u{202e}gone";

impl RewriterRole for Hostile {
    fn rewrite(
        &self,
        host: &impl RewriterHost,
        original: &str,
        best: &str,
        _: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        let table = catalog.tables.first().map_or("t", |table| table.name.as_str());
        let proposal = |sql: String| Ok(Some(Proposal::new(sql, "hostile", "trust me")));
        match self.behaviour.as_str() {
            "rewrite-spin" => spin(),
            "rewrite-trap" => panic!("WORDS-in-a-panic"),
            "rewrite-failure" => Err(failure(FailureKind::Internal, CODES)),
            "rewrite-reach" => Err(failure(FailureKind::Internal, reach())),
            "rewrite-large" => proposal(format!("SELECT '{}'", "x".repeat(64 << 10))),
            "rewrite-huge" => proposal("x".repeat(100 << 20)),
            "rewrite-family" => Ok(Some(Proposal::new(best, CODES, ""))),
            "rewrite-reason" => Ok(Some(Proposal::new(best, "hostile", CODES))),
            "rewrite-long-reason" => {
                Ok(Some(Proposal::new(best, "hostile", "x".repeat((64 << 10) + 1))))
            }
            "rewrite-delete" => proposal(format!("DELETE FROM {table}")),
            "rewrite-hidden-delete" => {
                proposal(format!("WITH x AS (SELECT 1) DELETE FROM {table}"))
            }
            "rewrite-two" => proposal(format!("{original}; DELETE FROM {table}")),
            "rewrite-no-sql" => proposal(CODES.to_owned()),
            // The same again, whatever became of it.
            "rewrite-same" => proposal(original.to_owned()),
            // Another one each time: only the host can end this.
            "rewrite-endless" => proposal(format!("{original} -- {}", history.len())),
            // Ever so many statements through the port that it has.
            "rewrite-flood" => loop {
                let _ = host.check(original);
            },
            // Runs for ever, as far as the engine lets it.
            "rewrite-slow" => proposal(
                "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) \
                 SELECT count(*) FROM c"
                    .to_owned(),
            ),
            _ => Ok(None),
        }
    }
}

/// Calls each port that a rewriter is not lent, past the trait that lends it the others, and
/// reports what got through.
fn reach() -> String {
    let sql = Host.run("SELECT 1").err().map(|error| error.kind);
    let cells = Host.samples("t", &["a".to_owned()], 1).err();
    let reward = Host.reward(&[candidate("A.1", "SELECT 1", 0.5)]).err();
    let query = RetrievalQuery {
        corpus: Corpus::Tables,
        retriever: Retriever::Lexical,
        text: "t".to_owned(),
        limit: 1,
    };
    let retrieval = Host.retrieve(&query).err();
    let is_denied = |error: &Option<PortError>| matches!(error, Some(PortError::Denied(_)));
    let reached: Vec<&str> = [
        ("sql", sql == Some(SqlErrorKind::Denied)),
        ("cells", is_denied(&cells)),
        ("evaluate", is_denied(&reward)),
        ("retrieval", is_denied(&retrieval)),
    ]
    .into_iter()
    .filter_map(|(port, is_denied)| (!is_denied).then_some(port))
    .collect();
    if reached.is_empty() {
        "REACHED: nothing".to_owned()
    } else {
        format!("REACHED: {}", reached.join(", "))
    }
}
