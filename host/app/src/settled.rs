//! Questions that the definitions of metrics answer before anything is searched for: changes of the
//! request before, and the readings of a question whose words may mean several things.

use syrch_core::{Catalog, Problem, Question};
use syrch_journal::{Choices, Defined, Given, Header, Verified};
use syrch_offline::{Evidence, UNREAD_EVIDENCE, describe_origin, note_evidence, question_day};
use syrch_semantics::{
    Cell, Choice, Reading, Request, Semantics, Understood, Unread, compile, is_fragment,
    read_choices, read_follow_up, read_question,
};

use crate::verified::Present;
use crate::{Host, verified};

/// The ambiguity of a question whose words have several meanings that fit equally.
const AMBIGUITY: f64 = 0.5;

/// The least confidence of a reading that nothing is assumed in.
const CERTAIN: f64 = 0.9;

/// A question with what its conversation gives for it. A [`Problem`] alone is a question without a
/// conversation.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) problem: Problem,
    /// The statements of the definitions, where they were read.
    pub(crate) defined: Option<Defined>,
}

impl Turn {
    /// The question as it is searched for.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for Turn {
    fn from(problem: Problem) -> Self {
        Self { problem, defined: None }
    }
}

impl From<&Header> for Turn {
    /// The question of a run as it was asked.
    fn from(header: &Header) -> Self {
        Self { problem: header.problem.clone(), defined: Some(header.defined.clone()) }
    }
}

/// A statement that answers a question without a search.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Settled<'a> {
    /// A person confirmed it.
    Verified(&'a Verified),
    /// The definitions of metrics give it.
    Given(&'a Given),
}

impl Settled<'_> {
    pub(crate) fn sql(&self) -> &str {
        match self {
            Self::Verified(verified) => &verified.sql,
            Self::Given(given) => &given.sql,
        }
    }

    /// The confidence where no doubt about the rows lowers it.
    pub(crate) fn confidence(&self) -> f64 {
        match self {
            Self::Verified(_) => verified::CONFIDENCE,
            Self::Given(given) => given.confidence.clamp(0.0, 1.0),
        }
    }

    /// The origin of the candidate.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Verified(_) => "verified",
            Self::Given(_) => "metric",
        }
    }

    /// The reason why no search is needed.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Verified(Verified { by, at, .. }) => format!("{by} confirmed it on {at}"),
            Self::Given(_) => "the definitions of the metrics give it".to_owned(),
        }
    }
}

/// The question that the user is asked to choose a reading.
pub(crate) fn ask_for_choice(choices: &Choices) -> Question {
    Question {
        text: choices.question.clone(),
        choices: choices.list.iter().map(|(name, _)| name.clone()).collect(),
        ambiguity: AMBIGUITY,
    }
}

/// The statement of the reading that an answer of the user names.
pub(crate) fn find_choice<'a>(choices: &'a Choices, answer: &str) -> Option<&'a Given> {
    let answer = answer.trim();
    let mut named = choices.list.iter().filter(|(name, _)| name.eq_ignore_ascii_case(answer));
    named.next().map(|(_, given)| given)
}

impl Host {
    /// Reads a question by the definitions of metrics. `previous` is the request that it may
    /// change. A question of its own has no statement here, since the search reads it; its readings
    /// are listed where the rules answer, and a model chooses by itself.
    ///
    /// # Errors
    /// When it is understood as a change and has no meaning for that request: the reason.
    pub(crate) async fn define(
        &self,
        previous: Option<&Request>,
        problem: &Problem,
    ) -> Result<Defined, Unread> {
        let Some(semantics) = self.semantics() else { return Ok(Defined::default()) };
        let by_rules = self.settings.model.is_by_rules();
        let is_explained = Evidence::from_problem(problem).has_words;
        // A model reads explanations, which may change the meaning of words.
        if is_explained && !by_rules {
            return Ok(Defined::default());
        }
        let text = &problem.question;
        let cells = self.cells_of(text, semantics).await;
        let today = question_day(semantics, problem);
        if let Some(request) = previous {
            match read_follow_up(semantics, request, text, &cells, today) {
                Reading::Understood(read) if read.is_change => {
                    let given = self.compile_given(semantics, problem, read);
                    return given.map(|given| Defined {
                        given: Some(given),
                        follows: true,
                        ..Defined::default()
                    });
                }
                Reading::Unread(Unread::Ambiguous { .. }) => {
                    return Ok(self.list_choices(semantics, previous, problem, &cells));
                }
                Reading::Unread(unread @ (Unread::Unsupported(_) | Unread::Contradictory(_))) => {
                    return Err(unread);
                }
                // The rules would make a question of its own of what is left of this one.
                Reading::Unread(unread)
                    if self.settings.model.is_by_rules() && is_fragment(text) =>
                {
                    return Err(unread);
                }
                _ => {}
            }
        }
        // The rules write out the terms that are explained before they read.
        if !by_rules || is_explained {
            return Ok(Defined::default());
        }
        match read_question(semantics, text, &cells, today) {
            Reading::Unread(Unread::Ambiguous { .. }) => {
                Ok(self.list_choices(semantics, None, problem, &cells))
            }
            _ => Ok(Defined::default()),
        }
    }

    /// The confirmed statement of another question that the definitions read as the same request.
    pub(crate) async fn find_equivalent(
        &self,
        problem: &Problem,
        catalog: &Catalog,
        present: Present<'_>,
    ) -> Option<Verified> {
        let examples = &self.known.knowledge.verified;
        if examples.is_empty() || Evidence::from_problem(problem).has_words {
            return None;
        }
        let Present { semantics, .. } = present;
        let text = &problem.question;
        let cells = self.cells_of(text, semantics).await;
        let today = question_day(semantics, problem);
        let Reading::Understood(read) = read_question(semantics, text, &cells, today) else {
            return None;
        };
        let given = self.compile_given(semantics, problem, read).ok()?;
        let found = verified::find_statement(examples, &given.sql, catalog, present)?;
        Some(found).filter(|_| given.confidence >= CERTAIN)
    }

    fn list_choices(
        &self,
        semantics: &Semantics,
        previous: Option<&Request>,
        problem: &Problem,
        cells: &[Cell],
    ) -> Defined {
        let today = question_day(semantics, problem);
        let text = &problem.question;
        let Some(read) = read_choices(semantics, previous, text, cells, today) else {
            return Defined::default();
        };
        let given = read.list.into_iter().filter_map(|Choice { name, understood }| {
            let given = self.compile_given(semantics, problem, understood).ok()?;
            Some((name, given))
        });
        let list: Vec<(String, Given)> = given.collect();
        if list.len() < 2 {
            return Defined::default();
        }
        let question = format!("`{}` may mean several things: which one?", read.phrase);
        Defined {
            choices: Some(Choices { question, list }),
            follows: previous.is_some(),
            ..Defined::default()
        }
    }

    fn compile_given(
        &self,
        semantics: &Semantics,
        problem: &Problem,
        understood: Understood,
    ) -> Result<Given, Unread> {
        let Understood { request, mut confidence, .. } = understood;
        let request = request.with_named_groups();
        let dialect = self.database().dialect();
        let today = question_day(semantics, problem);
        let compiled = compile(semantics, &request, &dialect, today)
            .map_err(|error| Unread::Unsupported(error.to_string()))?;
        let mut origin = describe_origin(&compiled.applied, &compiled.columns);
        if Evidence::from_problem(problem).has_words {
            note_evidence(&mut origin);
            confidence = confidence.min(UNREAD_EVIDENCE);
        }
        Ok(Given { origin, sql: compiled.sql, confidence })
    }

    /// The request of which a statement was compiled for a question that the rules read; `None` if
    /// it was not.
    pub(crate) async fn find_request(
        &self,
        previous: Option<&Request>,
        problem: &Problem,
        sql: &str,
    ) -> Option<Request> {
        let semantics = self.semantics()?;
        let question = problem.question.as_str();
        let cells = self.cells_of(question, semantics).await;
        let today = question_day(semantics, problem);
        let mut read: Vec<Request> = Vec::new();
        if let Some(request) = previous
            && let Reading::Understood(understood) =
                read_follow_up(semantics, request, question, &cells, today)
        {
            read.push(understood.request);
        }
        if let Reading::Understood(understood) = read_question(semantics, question, &cells, today) {
            read.push(understood.request);
        }
        for previous in [previous, None] {
            let choices = read_choices(semantics, previous, question, &cells, today);
            let list = choices.into_iter().flat_map(|choices| choices.list);
            read.extend(list.map(|choice| choice.understood.request));
        }
        let dialect = self.database().dialect();
        // The condition that a ranking adds goes with it: it is no part of the request.
        read.into_iter().find(|request| {
            let named = request.clone().with_named_groups();
            compile(semantics, &named, &dialect, today).is_ok_and(|compiled| compiled.sql == sql)
        })
    }
}
