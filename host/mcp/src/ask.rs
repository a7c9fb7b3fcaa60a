//! `ask_database`: answers a question by a search.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, InputRequiredResult, InputResponses,
    SealOptions,
};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Value, json};
use syrch::conversation::Conversations;
use syrch::report::{AnswerDocument, CandidateStatus};
use syrch::syrch_core::Problem;
use syrch::{Ask, Error, Outcome, SearchReport, Stop};
use tokio::sync::Mutex;

use crate::clarify::{self, Elicit, HeldSlot, LeaveOpen, Rounds, Way};
use crate::progress::Progress;
use crate::server::{Reply, STATE_LIFETIME, Server};
use crate::{client, quote, rows};

/// The limit on the length of a question, and of its evidence, in characters.
const LONGEST: usize = 8_000;
/// The numbers of rows and of warnings that the text shows; the document has all of them.
const SHOWN: usize = 20;
const SHOWN_WARNINGS: usize = 5;
/// The `conversation` for which the server makes an id, and the number of random bytes in one.
const NEW: &str = "new";
const RANDOM: usize = 16;

/// The arguments of the tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    question: String,
    evidence: Option<String>,
    conversation: Option<String>,
}

impl Arguments {
    /// The text that a state of this call is bound to.
    fn identity(&self) -> Vec<u8> {
        json!([self.question, self.evidence, self.conversation]).to_string().into_bytes()
    }
}

/// Answers the question, or asks back.
pub(crate) async fn call(
    server: &Server,
    params: CallToolRequestParams,
    arguments: Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let texts = [Some(&arguments.question), arguments.evidence.as_ref()];
    if arguments.question.trim().is_empty()
        || texts.into_iter().flatten().any(|text| text.chars().count() > LONGEST)
    {
        let message = format!("a question has 1 to {LONGEST} characters, as has its evidence");
        return Ok(Reply::failure(message).into_response(server));
    }
    let conversation = match find_conversation(server, &arguments, context)? {
        Ok(conversation) => conversation,
        Err(message) => return Ok(Reply::failure(message).into_response(server)),
    };
    let mut way = Way::for_client(context);
    let mut rounds = Rounds::default();
    if let Some(state) = &params.request_state {
        rounds = open_state(server, state, &arguments)?;
        match params.input_responses.as_ref().and_then(|all| take_answer(all, &mut rounds)) {
            Some(()) => {}
            // The user declined to answer: the question stays open.
            None => way = Way::Text,
        }
    }
    if rounds.answers.len() >= server.host().settings().max_questions as usize {
        way = Way::Text;
    }
    let id = conversation.as_deref();
    let report = match search(server, &arguments, (&rounds, way), id, context).await? {
        Ok(report) => report,
        Err(reply) => return Ok(reply.into_response(server)),
    };
    let mut document = report.document;
    let grant = server.host().settings().rows;
    let withheld = document.answer.as_mut().and_then(|body| rows::withhold(body, grant));
    document.warnings.extend(withheld);
    server.recent().remember(document.clone());
    let question = document.clarify.as_ref().filter(|_| way == Way::InputRequired);
    if let Some(question) = question
        && let Some(requests) = clarify::input_requests(&question.question, &question.choices)
    {
        rounds.asked.clone_from(&question.question);
        let requests = server.scrub(requests);
        let state = seal_state(server, &rounds, &arguments)?;
        return Ok(InputRequiredResult::new(Some(requests), Some(state)).into());
    }
    let lean = shorten(document);
    let text = describe(&lean, report.outcome, id);
    let mut lean = json!(lean);
    if let Some(id) = id {
        lean["conversation"] = json!(id);
    }
    Ok(Reply::document(text, lean).into_response(server))
}

/// The id of the conversation of a call: that of the client, or a new one that nobody guesses. The
/// inner error is for the client's model.
fn find_conversation(
    server: &Server,
    arguments: &Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<Result<Option<String>, String>, ErrorData> {
    // Some clients fill in all arguments.
    let Some(id) = arguments.conversation.as_ref().filter(|id| !id.is_empty()) else {
        return Ok(Ok(None));
    };
    if id == NEW {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        return Ok(Ok(Some(syrch::syrch_core::text::hex(bytes))));
    }
    if !Conversations::is_id(id) {
        let message = "`conversation` has 1 to 128 bytes without control characters";
        return Ok(Err(message.to_owned()));
    }
    let is_own =
        client::is_told_apart(context) || server.conversations().knows(&client::name(context), id);
    if !is_own {
        let message = "no such conversation, or one that was silent for too long: `new` begins \
                       one, whose id comes with the answer; ask the question in full";
        return Ok(Err(message.to_owned()));
    }
    Ok(Ok(Some(id.clone())))
}

/// Adds the user's answer to the answers so far; `None` if there is none.
fn take_answer(responses: &InputResponses, rounds: &mut Rounds) -> Option<()> {
    let answer = clarify::read_response(responses)?;
    rounds.answers.push((std::mem::take(&mut rounds.asked), answer));
    Some(())
}

/// Searches in a slot and within the budget of the server. The outer error is the protocol's, the
/// inner one a reply to the client's model.
async fn search(
    server: &Server,
    arguments: &Arguments,
    (rounds, way): (&Rounds, Way),
    conversation: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Result<Result<SearchReport, Reply>, ErrorData> {
    let client = client::name(context);
    let problem = Problem {
        question: arguments.question.clone(),
        evidence: arguments.evidence.clone(),
        answers: rounds.answers.clone(),
        ..Problem::default()
    };
    let talk = conversation.map(|id| server.conversations().open(&client, id));
    // Questions of one conversation are answered one after the other.
    let mut talk = match &talk {
        Some(talk) => tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(cancellation()),
            talk = talk.lock() => Some(talk),
        },
        None => None,
    };
    let turn = match talk.as_deref_mut() {
        Some(talk) => match talk.explain(&problem.question) {
            Some(report) => return Ok(Ok(report)),
            None => match talk.read(server.host(), problem).await {
                Ok(turn) => turn,
                Err(unread) => return Ok(Err(Reply::error(&Error::FollowUp(unread)))),
            },
        },
        None => problem.into(),
    };
    let slot = tokio::select! {
        biased;
        () = context.ct.cancelled() => return Err(cancellation()),
        slot = server.queue().acquire(&client) => slot,
    };
    let slot = match slot {
        Ok(slot) => Arc::new(Mutex::new(Some(slot))),
        Err(refusal) => return Ok(Err(Reply::failure(refusal.to_string()))),
    };
    let mut budgets = server.host().settings().budgets.clone();
    let reservation = match server.spending().reserve(&budgets) {
        Ok(reservation) => reservation,
        Err(used_up) => return Ok(Err(Reply::failure(used_up.to_string()))),
    };
    budgets.cost_micros = reservation.most();
    let host = server.host().with_budgets(budgets).and_then(|host| match way {
        Way::Elicit | Way::InputRequired => Ok(host),
        Way::Text => host.without_questions(),
    });
    let host = match host {
        Ok(host) => host,
        Err(error) => return Ok(Err(Reply::error(&error))),
    };
    let ask: Box<dyn Ask> = match way {
        Way::Elicit => {
            let held = HeldSlot { queue: server.queue().clone(), client, slot: Arc::clone(&slot) };
            Box::new(Elicit { peer: context.peer.clone(), held })
        }
        Way::InputRequired | Way::Text => Box::new(LeaveOpen),
    };
    let progress = Progress::new(context);
    let stop = Stop::new();
    let observer = progress.observer();
    let searched =
        host.search_metered(turn.clone(), observer, Some(ask.as_ref()), &stop, reservation.meter());
    // Dropping a search ends its calls and interrupts its statements.
    let report = tokio::select! {
        biased;
        () = context.ct.cancelled() => return Err(cancellation()),
        report = searched => report,
    };
    progress.flush().await;
    if let Some(talk) = &mut talk {
        talk.remember(&host, &turn, report.as_ref()).await;
    }
    Ok(report.map_err(|error| match reservation.explain(&error) {
        Some(short) => Reply::failure(short.to_string()),
        None => Reply::error(&error),
    }))
}

/// The error of a call that its client has cancelled. Nobody reads it.
pub(crate) fn cancellation() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

fn open_state(server: &Server, state: &str, arguments: &Arguments) -> Result<Rounds, ErrorData> {
    let opened = server.codec().open_json_with(state, &arguments.identity());
    opened.map_err(|_| {
        ErrorData::invalid_params("the request state is of another call, or too old", None)
    })
}

fn seal_state(
    server: &Server,
    rounds: &Rounds,
    arguments: &Arguments,
) -> Result<String, ErrorData> {
    let identity = arguments.identity();
    let options = SealOptions::new().associated_data(&identity).ttl(STATE_LIFETIME);
    let sealed = server.codec().seal_json_with(rounds, &options);
    sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The document without the parts that `explain_run` shows.
fn shorten(mut document: AnswerDocument) -> AnswerDocument {
    document.tasks.clear();
    document.steps.clear();
    document.candidates.retain(|candidate| candidate.status == CandidateStatus::Answer);
    document
}

/// The text of an answer: the confidence in words of the server's own, and the rest as data.
fn describe(document: &AnswerDocument, outcome: Outcome, conversation: Option<&str>) -> String {
    let confidence = document.confidence.as_ref().map(|confidence| confidence.calibrated);
    let stated = match confidence {
        Some(confidence) => format!("confidence {confidence:.2} of 1"),
        None => "no confidence".to_owned(),
    };
    let head = match outcome {
        Outcome::Answered => format!("Answered, {stated}."),
        Outcome::Partial => {
            format!("Answered in part, {stated}: a budget or the time was used up.")
        }
        Outcome::NoAnswer => {
            "No acceptable answer was found. Ask with the words of the schema (search_schema), or \
             explain terms by `evidence`."
                .to_owned()
        }
        Outcome::ClarificationNeeded => {
            "The question is unclear. Put `clarify` to the user, and ask again in words that hold \
             the answer."
                .to_owned()
        }
    };
    let run = &document.run;
    let text = format!("{head} Run {run}: explain_run shows what was tried.");
    let mut data = data(document);
    if let Some(id) = conversation {
        data["conversation"] = json!(id);
    }
    quote::with_data(&text, &data)
}

fn data(document: &AnswerDocument) -> Value {
    let why = document.candidates.first().map(|candidate| &candidate.reason);
    let mut data = json!({"sql": document.sql, "why": why});
    if let Some(body) = &document.answer {
        data["answer"] = json!(body.text);
        data["columns"] = json!(body.columns);
        data["rows"] = json!(body.rows.iter().take(SHOWN).collect::<Vec<_>>());
        data["row_count"] = json!(body.row_count);
    }
    if let Some(clarify) = &document.clarify {
        data["clarify"] = json!({
            "question": clarify::escape_question(&clarify.question),
            "choices": clarify::escape_choices(&clarify.choices),
        });
    }
    let warnings: Vec<&String> = document.warnings.iter().take(SHOWN_WARNINGS).collect();
    if !warnings.is_empty() {
        data["warnings"] = json!(warnings);
    }
    data
}
