//! Questions of a search to the user, in a form that the client supports: an elicitation while the
//! call waits, a result that asks for input, or text.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputResponses, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syrch::Ask;
use syrch::syrch_core::Question;
use syrch::syrch_core::text::escape::{clip_with_remark, escape_dangerous};
use tokio::sync::Mutex;

use crate::queue::{Queue, Slot};

/// The deadline for a user's answer while the call waits.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The limit on the length of a question that is shown, in characters.
const QUESTION: usize = 1_000;
/// The limits on the number of choices that are shown, and on the characters of one.
const CHOICES: usize = 30;
const CHOICE: usize = 200;
/// The limit on the length of an answer, in characters; the rest is cut off.
const ANSWER: usize = 1_000;
/// The name of the one field of the form, and of the one request for input.
const FIELD: &str = "answer";
const REQUEST: &str = "clarification";

/// The way in which a client puts a question to its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The server asks while the call waits (protocol versions before 2026-07-28).
    Elicit,
    /// The result asks for input, and the client calls again with it (2026-07-28).
    InputRequired,
    /// The client can do neither: the result has the question as text.
    Text,
}

impl Way {
    /// The way of the client of this call.
    pub(crate) fn for_client(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let takes_forms = capabilities
            .and_then(|capabilities| capabilities.elicitation)
            .is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let version = context.protocol_version();
        let is_stateless = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        match (takes_forms, is_stateless) {
            (true, true) => Self::InputRequired,
            (true, false) => Self::Elicit,
            (false, _) => Self::Text,
        }
    }
}

/// The slot of a call, which is given back while its user thinks.
pub(crate) struct HeldSlot {
    pub(crate) queue: Queue,
    pub(crate) client: String,
    pub(crate) slot: Arc<Mutex<Option<Slot>>>,
}

/// Asks the user by an elicitation.
pub(crate) struct Elicit {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) held: HeldSlot,
}

#[async_trait]
impl Ask for Elicit {
    async fn ask(&self, question: &Question) -> Option<String> {
        let form = form(&question.text, &question.choices)?;
        drop(self.held.slot.lock().await.take());
        let reply = self.peer.create_elicitation_with_timeout(form, Some(TIMEOUT)).await;
        let slot = self.held.queue.acquire_again(&self.held.client).await.ok()?;
        *self.held.slot.lock().await = Some(slot);
        read_answer(reply.ok()?)
    }
}

/// Leaves every question of a search open, so that its report has the question.
pub(crate) struct LeaveOpen;

#[async_trait]
impl Ask for LeaveOpen {
    async fn ask(&self, _: &Question) -> Option<String> {
        None
    }
}

/// The state of a call that asks for input, which the client returns with it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rounds {
    /// The questions that were answered, with their answers.
    pub(crate) answers: Vec<(String, String)>,
    /// The question that is open.
    pub(crate) asked: String,
}

/// The request for input that puts a question to the user; `None` if it cannot be a form.
pub(crate) fn input_requests(question: &str, choices: &[String]) -> Option<InputRequests> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question, choices)?));
    Some(BTreeMap::from([(REQUEST.to_owned(), request)]))
}

/// The user's answer among the responses; `None` if the user declined.
pub(crate) fn read_response(responses: &InputResponses) -> Option<String> {
    let reply = serde_json::from_value::<ElicitResult>(responses.get(REQUEST)?.clone()).ok()?;
    read_answer(reply)
}

fn read_answer(reply: ElicitResult) -> Option<String> {
    if !matches!(reply.action, ElicitationAction::Accept) {
        return None;
    }
    let content = reply.content?;
    let Value::String(answer) = content.get(FIELD)? else { return None };
    let answer: String = answer.trim().chars().take(ANSWER).collect();
    (!answer.is_empty()).then_some(answer)
}

/// The form of a question: one field, with the choices if there are some.
fn form(question: &str, choices: &[String]) -> Option<ElicitRequestParams> {
    let mut field = json!({"type": "string", "title": "Answer"});
    let choices = escape_choices(choices);
    if choices.is_empty() {
        field["minLength"] = json!(1);
        field["maxLength"] = json!(ANSWER);
    } else {
        field["enum"] = json!(choices);
    }
    let schema = json!({"type": "object", "properties": {FIELD: field}, "required": [FIELD]});
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = escape_question(question);
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// The question as it is shown.
pub(crate) fn escape_question(question: &str) -> String {
    escape_dangerous(&clip_with_remark(question, QUESTION), &['\n']).into_owned()
}

/// The choices as they are shown, without duplicates.
pub(crate) fn escape_choices(choices: &[String]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for choice in choices {
        let text = escape_dangerous(&clip_with_remark(choice.trim(), CHOICE), &[]).into_owned();
        if !text.is_empty() && !shown.contains(&text) && shown.len() < CHOICES {
            shown.push(text);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_the_choices_or_a_text() {
        let choices = ["number of orders", "number of orders", "re\u{1b}[2Jviews"];
        let form = form("By what?", &choices.map(str::to_owned)).unwrap();
        let written = serde_json::to_value(&form).unwrap();
        assert_eq!(written["message"], "By what?");
        assert_eq!(
            written["requestedSchema"]["properties"][FIELD]["enum"],
            json!(["number of orders", "re\\u{1b}[2Jviews"])
        );
        let free = serde_json::to_value(super::form("Which year?", &[]).unwrap()).unwrap();
        assert_eq!(free["requestedSchema"]["properties"][FIELD]["maxLength"], ANSWER);
    }

    #[test]
    fn only_an_accepted_answer_counts() {
        fn read(reply: Value) -> Option<String> {
            read_response(&BTreeMap::from([(REQUEST.to_owned(), reply)]))
        }
        let accepted = json!({"action": "accept", "content": {FIELD: " 2024 "}});
        assert_eq!(read(accepted), Some("2024".to_owned()));
        for reply in [
            json!({"action": "decline"}),
            json!({"action": "accept", "content": {FIELD: 5}}),
            json!({"action": "accept", "content": {FIELD: " "}}),
            json!("yes"),
        ] {
            assert_eq!(read(reply), None);
        }
    }
}
