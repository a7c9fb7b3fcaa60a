//! The conversations of a suite: the turns of each are asked in their order, whichever of them is
//! wanted first, and each once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as Lock, PoisonError};

use syrch::conversation::Conversation;
use syrch::report::{CostReport, Searched};
use syrch::{Error, Host, SearchReport, Silent, Stop, batch};
use syrch_grade::Question;
use syrch_grade::suite::Turn;
use tokio::sync::Mutex;

use super::ask::{Asked, answer_from_search, run_id};

/// The place of a conversation: the arm, and its id.
type Place = (String, String);

/// The conversations that are asked, by arm and id.
#[derive(Default)]
pub(crate) struct Talks(Lock<HashMap<Place, Arc<Mutex<Talk>>>>);

/// A conversation with the answers to its turns so far.
#[derive(Default)]
struct Talk {
    conversation: Conversation,
    answers: Vec<Asked>,
    /// The number of turns whose answers were given.
    given: usize,
}

/// A turn as it is asked.
struct Text<'a> {
    question: &'a str,
    evidence: Option<&'a str>,
    as_of: Option<&'a str>,
}

impl Talks {
    /// The answer of an arm to a turn. Earlier turns that were not asked yet are asked before: of a
    /// run that was killed, their answers are in its results, and the conversation is not.
    /// `journal` is that of this turn; what a killed search left there is replaced.
    pub(crate) async fn ask(
        &self,
        arm: &str,
        host: &Host,
        question: &Question,
        turn: &Turn,
        journal: Option<&Path>,
    ) -> Asked {
        let key = (arm.to_owned(), turn.id.clone());
        let talk = {
            let mut talks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(talks.entry(key.clone()).or_default())
        };
        let mut talk = talk.lock().await;
        let place = turn.earlier.len();
        while talk.answers.len() <= place {
            let at = talk.answers.len();
            let id = format!("{}/{}", turn.id, at + 1);
            let (text, journal) = match turn.earlier.get(at) {
                Some(earlier) => {
                    let text = Text {
                        question: &earlier.question,
                        evidence: earlier.evidence.as_deref(),
                        as_of: earlier.as_of.as_deref(),
                    };
                    (text, None)
                }
                None => {
                    let text = Text {
                        question: &question.question,
                        evidence: question.evidence.as_deref(),
                        as_of: question.as_of.as_deref(),
                    };
                    (text, journal)
                }
            };
            let searched =
                search(host, &mut talk.conversation, &run_id(arm, &id, host), &text, journal).await;
            talk.answers.push(answer_from_search(searched));
        }
        talk.given += 1;
        if talk.given >= turn.of {
            let mut talks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            talks.remove(&key);
        }
        talk.answers[place].clone()
    }
}

fn without_cost(report: Result<SearchReport, Error>) -> Searched {
    Searched { report, cost: CostReport::default(), access: Vec::new() }
}

async fn search(
    host: &Host,
    conversation: &mut Conversation,
    id: &str,
    text: &Text<'_>,
    journal: Option<&Path>,
) -> Searched {
    let problem = batch::problem(text.question, text.evidence, text.as_of);
    if let Some(report) = conversation.explain(text.question) {
        return without_cost(Ok(report));
    }
    let turn = match conversation.read(host, problem).await {
        Ok(turn) => turn,
        Err(unread) => return without_cost(Err(Error::FollowUp(unread))),
    };
    // A file that cannot be removed cannot be written either, and that is reported.
    journal.into_iter().for_each(|path| drop(std::fs::remove_file(path)));
    let journal = journal.map(|path| Ok(PathBuf::from(path)));
    let observer = Arc::new(Silent);
    let searched = host.search_as(id, turn.clone(), journal, observer, None, &Stop::new()).await;
    conversation.remember(host, &turn, searched.report.as_ref()).await;
    searched
}
