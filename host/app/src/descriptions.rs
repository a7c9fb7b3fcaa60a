//! Asks a model to describe the tables, dimensions and metrics of a proposed semantics file.

use std::sync::Arc;

use syrch_core::Problem;
use syrch_core::ports::{
    LlmError, Message, ModelCall, ModelProvider, Purpose, Request, Shape, Speaker,
};
use syrch_scheduler::Stop;
use syrch_semantics::{DescriptionPart, Descriptions, Semantics, split_undescribed};

use crate::context::RunState;
use crate::host::Host;
use crate::{Error, Observer, model_calls};

/// The purpose of these calls.
const DESCRIBE: &str = "describe";

/// The descriptions of a proposal, and what they took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionReport {
    /// The descriptions that the model gave.
    pub descriptions: Descriptions,
    /// The number of names that it was to describe.
    pub wanted: usize,
    /// Model calls that were sent, and those that the cache answered.
    pub calls: (u32, u32),
    /// The first failure, if a call failed.
    pub failure: Option<LlmError>,
}

impl Host {
    /// Asks the model to describe what of a proposal has no description, by at most ten calls.
    /// It is shown names, types and comments, and no values. A call that fails leaves its part
    /// without descriptions; after a failure that is not one of the reply, no further call is made.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub async fn describe_proposal(
        &self,
        proposal: &Semantics,
        observer: Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<DescriptionReport, Error> {
        let run = self.run_beside_searches(DESCRIBE, &observer, stop).await?;
        let model = model_calls::for_run(self, &run);
        let parts = split_undescribed(proposal, &run.catalog);
        let mut descriptions = Descriptions::default();
        let mut failure = None;
        for part in &parts {
            let Err(error) = ask_about_part(&run, &model, part, &mut descriptions).await else {
                continue;
            };
            let is_of_reply = matches!(error, LlmError::Malformed(_) | LlmError::Cut { .. });
            failure.get_or_insert(error);
            if !is_of_reply {
                break;
            }
        }
        let wanted = parts.iter().map(DescriptionPart::count).sum();
        let spent = run.ledger.spending();
        let calls = (spent.calls, spent.cached);
        Ok(DescriptionReport { descriptions, wanted, calls, failure })
    }
}

/// Adds the descriptions of one part.
async fn ask_about_part(
    run: &RunState,
    model: &Arc<dyn ModelProvider>,
    part: &DescriptionPart,
    descriptions: &mut Descriptions,
) -> Result<(), LlmError> {
    let messages = vec![
        Message { speaker: Speaker::System, text: DescriptionPart::instructions().to_owned() },
        Message { speaker: Speaker::User, text: part.prompt() },
    ];
    let shape = Shape::Json(DescriptionPart::reply_schema().to_string());
    let purpose = Purpose::Other(DESCRIBE.to_owned());
    let request = Request { temperature: Some(0.0), ..Request::new(purpose, messages, shape) };
    let problem = Arc::new(Problem::default());
    let catalog = Arc::clone(&run.catalog);
    let reply = model.complete(&ModelCall { request, problem, task: None, catalog }).await.result?;
    let reported = serde_json::from_str(reply.parsed.as_deref().unwrap_or_default());
    descriptions.add_reply(part, &reported.unwrap_or_default());
    Ok(())
}
