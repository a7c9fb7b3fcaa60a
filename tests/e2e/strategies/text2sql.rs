//! The flow `text2sql` in a whole search: generate, execute, repair with the error, and the honest
//! end.

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use super::traced::Traced;

const QUESTION: &str = "How many orders did the French place?";
/// Texts that are only in the first prompt, and only in a repair.
const GENERATE: &str = "SELECT statement that answers the question";
const REPAIR: &str = "statement did not do";

const RIGHT: &str = "SELECT COUNT(*) AS n FROM orders JOIN customers ON customers.id = customer_id \
                     WHERE country = 'France'";
const NO_COLUMN: &str = "SELECT COUNT(*) AS n FROM orders WHERE country = 'France'";
const NO_TABLE: &str = "SELECT COUNT(*) AS n FROM sales";

/// The statement in a YAML block, with a semicolon that does not belong to it.
fn yaml(statement: &str) -> Reply {
    Reply::text(format!("```yaml\nsql: |\n  {statement};\n```")).usage(Usage::Tokens(1000, 50))
}

#[test]
fn a_statement_is_repaired_until_it_executes() {
    let script = Script::new()
        .on([REPAIR, NO_TABLE], yaml(RIGHT))
        .on([REPAIR, NO_COLUMN], yaml(NO_TABLE))
        .on([GENERATE], yaml(NO_COLUMN));
    let endpoint = MockEndpoint::start(script);
    let traced = Traced::new();
    let document = traced.ask(&endpoint, QUESTION, &["--strategy", "text2sql"]).document(0);
    assert_eq!(
        (&document["answer"]["rows"], &document["sql"]),
        (&json!([[3]]), &json!(RIGHT)),
        "{document:#}"
    );

    let prompts: Vec<String> = endpoint.requests().iter().map(|request| request.prompt()).collect();
    assert_eq!(prompts.len(), 3);
    let schema =
        "Table: customers\n  - id (INTEGER)\n  - name (TEXT)\n  - country (TEXT)\n\nTable: ";
    for prompt in &prompts {
        for part in [schema, QUESTION, "```yaml\nsql: |"] {
            assert!(prompt.contains(part), "{part} is missing in {prompt}");
        }
    }
    assert!(prompts[1].contains(NO_COLUMN) && prompts[1].contains("country"), "{}", prompts[1]);
    // The last failure alone.
    assert!(prompts[2].contains(NO_TABLE) && !prompts[2].contains(NO_COLUMN), "{}", prompts[2]);
    traced.assert_snapshot("text2sql.txt");
}

#[test]
fn three_executions_that_fail_are_an_honest_end() {
    // The clarifier is asked, too, and has nothing to ask.
    let script = Script::new()
        .on([GENERATE], yaml(NO_COLUMN))
        .on([REPAIR], yaml(NO_TABLE))
        .on(["Ask the user"], Reply::text("?"));
    let endpoint = MockEndpoint::start(script);
    let said = Traced::new().ask(&endpoint, QUESTION, &["--strategy", "text2sql"]);
    said.document(3);
    assert!(
        said.stderr.contains("Failed to execute SQL after 3 attempts. Last error: "),
        "{}",
        said.all()
    );
    let asked = endpoint
        .requests()
        .iter()
        .filter(|request| request.prompt().contains("Table: orders"))
        .count();
    assert_eq!(asked, 3, "one statement and two repairs");
}
