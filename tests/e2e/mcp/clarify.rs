//! Unclear questions: by elicitation, by a result that asks for input, and as text.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::client::Client;
use super::{call, data, meta, server};
use crate::host;

const QUESTION: &str = "Which is the biggest house?";

fn town(folder: &Path) -> PathBuf {
    let tables = "CREATE TABLE houses(
            id INTEGER PRIMARY KEY, name TEXT, area REAL, population INTEGER);
        INSERT INTO houses(name, area, population)
            VALUES ('Elm', 90, 5), ('Oak', 120, 2), ('Fir', 70, 9);";
    syrch_kit::sqlite(folder.join("town.sqlite"), tables)
}

fn question() -> Value {
    call("ask_database", json!({"question": QUESTION}))
}

#[test]
fn a_client_with_elicitation_is_asked_while_it_waits() {
    let folder = syrch_kit::scratch();
    let capabilities = json!({"elicitation": {}});
    let mut client =
        Client::begin(server(&town(folder.path()), &["--searches", "1"]), capabilities);
    let id = client.request("tools/call", question());
    let asked = client.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked:#}");
    let params = &asked["params"];
    assert_eq!(params["message"], "By what is \"biggest house\" measured?");
    assert_eq!(
        params["requestedSchema"]["properties"]["answer"]["enum"],
        json!(["area", "population"])
    );
    // The only slot is free while the user thinks.
    let counted = client
        .ask("tools/call", call("ask_database", json!({"question": "How many houses are there?"})));
    assert_eq!(counted["structuredContent"]["answer"]["rows"], json!([[3]]));
    let reply = json!({"action": "accept", "content": {"answer": "population"}});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": reply}));
    let answered = client.response(id);
    assert_eq!(
        answered["result"]["structuredContent"]["answer"]["rows"],
        json!([["Fir"]]),
        "{answered:#}"
    );

    // Who declines gets the question as it stands.
    let id = client.request("tools/call", question());
    let asked = client.next();
    let reply = json!({"action": "decline"});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": reply}));
    let result = client.response(id)["result"].clone();
    assert_eq!(result["structuredContent"]["clarify"]["choices"], json!(["area", "population"]));
}

#[test]
fn the_stateless_era_asks_for_input_and_is_called_again() {
    let folder = syrch_kit::scratch();
    let mut client = Client::start(server(&town(folder.path()), &[]));
    let mut params = question();
    params["_meta"] = meta(json!({"elicitation": {"form": {}}}));
    let asked = client.ask("tools/call", params.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let request = &asked["inputRequests"]["clarification"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(
        request["params"]["requestedSchema"]["properties"]["answer"]["enum"],
        json!(["area", "population"])
    );
    let mut again = params.clone();
    again["requestState"] = asked["requestState"].clone();
    let reply = json!({"action": "accept", "content": {"answer": "area"}});
    again["inputResponses"] = json!({"clarification": reply});
    let answered = client.ask("tools/call", again.clone());
    assert_eq!(answered["structuredContent"]["answer"]["rows"], json!([["Oak"]]), "{answered:#}");

    // A state that was changed, or that is of another question, is refused.
    let mut other = again.clone();
    other["arguments"]["question"] = json!("Which is the biggest tree?");
    assert_eq!(client.fail("tools/call", other)["code"], -32602);
    let mut forged = again;
    forged["requestState"] = json!("rs1.AAAA.BBBB");
    assert_eq!(client.fail("tools/call", forged)["code"], -32602);

    let mut declined = params;
    declined["requestState"] = asked["requestState"].clone();
    declined["inputResponses"] = json!({"clarification": {"action": "cancel"}});
    let left = client.ask("tools/call", declined);
    assert_eq!(left["resultType"], "complete");
    assert_eq!(left["structuredContent"]["clarify"]["choices"], json!(["area", "population"]));
}

/// No model is paid for the words of a question that the client cannot put to its user.
#[test]
fn a_model_words_a_question_only_for_a_client_that_can_be_asked() {
    const WORDS: &str = "What makes a house big?";
    const CLARIFY: &str = "could not tell what the user means";
    let folder = syrch_kit::scratch();
    let town = town(folder.path());
    let empty = "SELECT name FROM houses WHERE name = 'Ash'";
    for (capabilities, calls) in [(json!({}), 0), (json!({"elicitation": {}}), 1)] {
        let script = Script::new().on([CLARIFY], Reply::text(WORDS));
        let endpoint = MockEndpoint::start(script.on([""], Reply::sql(empty, 0.1)));
        let mut command = host();
        command.args(["mcp", "--llm", "openai", "--model", "mock", "--strategy", "single"]);
        command.args(["--base-url", &endpoint.url(), "--db"]).arg(&town);
        let mut client = Client::begin(command, capabilities);
        let id = client.request("tools/call", question());
        let asked = match calls {
            0 => client.response(id)["result"].clone(),
            _ => {
                let asked = client.next();
                assert_eq!(asked["params"]["message"], WORDS, "{asked:#}");
                let reply = json!({"action": "decline"});
                client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": reply}));
                client.response(id)["result"].clone()
            }
        };
        let clarify = &asked["structuredContent"]["clarify"]["question"];
        assert_eq!(clarify == WORDS, calls > 0, "{asked:#}");
        assert_eq!(endpoint.count_of(CLARIFY), calls);
    }
}

#[test]
fn other_clients_get_the_question_as_text() {
    let folder = syrch_kit::scratch();
    let mut client = Client::begin(server(&town(folder.path()), &[]), json!({}));
    let asked = client.ask("tools/call", question());
    assert_eq!(asked["isError"], false);
    let text = asked["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("The question is unclear."), "{text}");
    assert_eq!(data(&asked)["clarify"]["choices"], json!(["area", "population"]));
    let evidence = json!({"question": QUESTION, "evidence": "biggest means population"});
    let answered = client.ask("tools/call", call("ask_database", evidence));
    assert_eq!(answered["structuredContent"]["answer"]["rows"], json!([["Fir"]]), "{answered:#}");
}
