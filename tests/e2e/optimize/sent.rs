//! Tests of what is sent to a model: nothing without consent, and then what was shown.

use serde_json::{Value, json};

use super::{FAST, SLOW, Slow, document, proposes};
use crate::bad_input::{assert_refused, finish, read_streams};

/// AR-30.
#[test]
fn nothing_is_sent_without_consent() {
    let slow = Slow::new();
    let endpoint = proposes(FAST);
    let document = assert_refused(
        &mut slow.by_model(&endpoint, SLOW, ""),
        15,
        &["nothing was sent", "--accept-data-sent"],
    );
    assert_eq!(document["error"]["class"], json!("denied"));
    let output = finish(&mut slow.by_model(&endpoint, SLOW, ""), "y\n");
    let (stdout, stderr) = read_streams(&output);
    // An answer that comes from a pipe is none of a person.
    assert_eq!((output.status.code(), stdout.as_str()), (Some(15), ""), "{stderr}");
    assert!(stderr.contains("POST ") && stderr.contains("customer_id"), "{stderr}");
    assert_eq!(endpoint.count(), 0);
}

/// AR-07, AR-30.
#[test]
fn what_is_shown_is_what_is_sent() {
    let slow = Slow::new();
    let endpoint = proposes(FAST);
    // The statement is sent as it was written again.
    let given = format!("{SLOW} /* between us */");
    let shown = document(&mut slow.by_model(&endpoint, &given, "--dry-run"), 0);
    assert_eq!(endpoint.count(), 0);
    let shown: Vec<&Value> =
        shown.as_array().unwrap().iter().map(|request| &request["body"]).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    document(&mut slow.by_model(&endpoint, &given, "--accept-data-sent --iterations 1"), 0);
    let sent = endpoint.requests();
    // Members keep their order, so equal texts are equal bytes.
    assert_eq!(sent[0].body.to_string(), shown[0].to_string());
    for never in ["customer 17", "slow.sqlite", "between us"] {
        assert!(sent.iter().all(|request| !request.body.to_string().contains(never)), "{never}");
    }
}

#[test]
fn nothing_is_asked_when_nothing_is_sent() {
    let slow = Slow::new();
    let output = finish(&mut slow.optimize(SLOW, "--dry-run"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(
        (output.status.code(), stdout.as_str()),
        (Some(0), "nothing would be sent\n"),
        "{stderr}"
    );
}

#[test]
fn a_model_that_fails_has_its_exit_code() {
    use syrch_kit::{MockEndpoint, Reply, Script};
    let slow = Slow::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::status(401, "no such key")));
    assert_refused(&mut slow.by_model(&endpoint, SLOW, "--accept-data-sent"), 12, &["401"]);
}

#[test]
fn a_model_has_to_be_configured_before_it_is_asked() {
    let slow = Slow::new();
    assert_refused(
        &mut slow.optimize(SLOW, "--rewriter model"),
        10,
        &["none is configured", "--rewriter rules"],
    );
}
