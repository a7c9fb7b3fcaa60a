//! Recordings of models: one that answers in a model's place, and the one that the calls of a real
//! model are added to.

use std::path::Path;
use std::sync::Arc;

use syrch_core::ports::{LlmError, ModelOutcome, ModelProvider, Reply, Request, Retry};
use syrch_journal::{
    FORMAT, Journal, RECORDING, Recorded, Recording, RecordingError, RowRetention, exchanges,
    format_of,
};
use syrch_layers::budget::clamp;
use syrch_layers::record::request_for_retention;
use syrch_layers::{Limiter, Rates, Route, RoutedModel};
use syrch_simulated::recorded::is_recorded;
use syrch_simulated::{
    Exchange, RecordedAnswers, RecordedConfig, RecordedProvider, ReplayConfig, ReplayProvider,
};
use tokio::sync::watch;

use crate::{Error, Provider, Settings};

/// The first call that a recording had no answer for, which ends the run.
#[derive(Clone, Default)]
pub(crate) struct Missed(watch::Sender<Option<String>>);

impl Missed {
    /// Notes it, unless another came before.
    pub(crate) fn note(&self, message: &str) {
        self.0.send_if_modified(|known| {
            known.is_none() && known.replace(message.to_owned()).is_none()
        });
    }

    /// The message about the first request that the recording lacks; `None` if it lacks none.
    pub(crate) fn get(&self) -> Option<String> {
        self.0.borrow().clone()
    }

    /// Ends when something is missing.
    pub(crate) async fn wait(&self) -> String {
        match self.0.subscribe().wait_for(Option::is_some).await.map(|message| message.clone()) {
            Ok(Some(message)) => message,
            // The sender is here, so it is never closed.
            _ => std::future::pending().await,
        }
    }
}

/// A recording as a model: of calls, or of what systems answered to the questions of a suite. The
/// first line decides which.
///
/// # Errors
/// When the file cannot be read or is no recording.
pub(crate) fn open_replay(settings: &Settings, path: &Path) -> Result<RoutedModel, Error> {
    if is_recorded(path) { open_answers(settings, path) } else { open_calls(settings, path) }
}

/// The names of the models that the recording of the settings answers for, the default first;
/// `None` if no recording answers. The whole of it is read, and nothing is asked.
///
/// # Errors
/// When a search with these settings could not use it.
pub fn recording_models(settings: &Settings) -> Result<Option<Vec<String>>, Error> {
    let path = settings.model.replay.as_deref();
    path.map(|path| open_replay(settings, path).map(|model| model.models())).transpose()
}

/// Returns whether rules gave the replies of a recording, in place of a model. A file that cannot
/// be read counts as a model's; its error is that of opening it.
pub(crate) fn is_by_rules(path: &Path) -> bool {
    let models = match format_of(path).ok().flatten().as_deref() {
        Some(FORMAT) => Journal::read_header(path).ok().map(|header| header.models),
        Some(RECORDING) => Recording::read_header(path).ok().map(|header| header.models),
        _ => None,
    };
    let first = models.and_then(|models| models.into_iter().next());
    first.and_then(|name| Provider::from_name(&name)).is_some_and(|known| known.rules().is_some())
}

/// Recorded answers as a model. It has one name, and every purpose goes to it.
fn open_answers(settings: &Settings, path: &Path) -> Result<RoutedModel, Error> {
    let answers = RecordedAnswers::read(path).map_err(|error| Error::Unfit(error.to_string()))?;
    let config = RecordedConfig { seed: settings.seed, limits: settings.limits.clone() };
    let provider: Arc<dyn ModelProvider> = Arc::new(RecordedProvider::new(answers, config));
    route_models(settings, path, &provider, &provider.models())
}

/// Recorded calls as a model, under the names that they were made with. Which model a purpose goes
/// to was decided then.
fn open_calls(settings: &Settings, path: &Path) -> Result<RoutedModel, Error> {
    let (mut exchanges, models) = read(settings, path)?;
    exchanges.iter_mut().for_each(|exchange| clamp(&mut exchange.request, &settings.limits));
    let config = ReplayConfig {
        models: models.clone(),
        max_tokens: settings.model.max_tokens,
        digested: |request| request_for_retention(request, RowRetention::None),
    };
    let provider: Arc<dyn ModelProvider> = Arc::new(ReplayProvider::new(exchanges, config));
    route_models(settings, path, &provider, &models)
}

/// Makes routes to one provider under these names, the default first.
pub(crate) fn route_models(
    settings: &Settings,
    path: &Path,
    provider: &Arc<dyn ModelProvider>,
    models: &[String],
) -> Result<RoutedModel, Error> {
    let limiter =
        Limiter::new(Rates { patience: settings.model.max_retry_wait, ..Rates::default() });
    let route = |name: &String, model: Option<String>| Route {
        name: name.clone(),
        provider: Arc::clone(provider),
        model,
        limiter: Arc::clone(&limiter),
    };
    let unfit = |reason: String| {
        Error::Unfit(format!("`{}` cannot answer for a model: {reason}", path.display()))
    };
    let Some((default, others)) = models.split_first() else {
        return Err(unfit("it names none".to_owned()));
    };
    let others = others.iter().map(|name| route(name, Some(name.clone()))).collect();
    RoutedModel::new(route(default, None), others, &Default::default())
        .map_err(|error| unfit(error.to_string()))
}

/// The recording that the model's calls go to, if the settings name one.
///
/// # Errors
/// When the file cannot be written or is something else, or the calls are answered by a recording
/// themselves.
pub(crate) fn open_recording(
    settings: &Settings,
    model: &RoutedModel,
) -> Result<Option<Arc<Recording>>, Error> {
    let Some(path) = &settings.model.record else { return Ok(None) };
    if settings.model.replay.is_some() {
        return Err(Error::Config(
            "a model that is replayed from a recording cannot be recorded".to_owned(),
        ));
    }
    Ok(Some(Arc::new(Recording::open(path, &model.models()).map_err(unfit_recording)?)))
}

/// The exchanges of a file, and the models' names.
fn read(settings: &Settings, path: &Path) -> Result<(Vec<Exchange>, Vec<String>), Error> {
    match format_of(path).map_err(unfit_recording)?.as_deref() {
        Some(FORMAT) => {
            let journal = Journal::read(path)?;
            let all = exchanges(&journal)
                .into_iter()
                .map(|(request, result)| exchange_from_journal(request, result));
            Ok((all.collect(), journal.header.models))
        }
        Some(RECORDING) => {
            let (header, all) = Recording::read(path).map_err(unfit_recording)?;
            Ok((
                all.into_iter()
                    .map(|recorded| exchange_from_recording(settings, recorded))
                    .collect(),
                header.models,
            ))
        }
        other => {
            let found = other.map_or_else(|| "none".to_owned(), |name| format!("`{name}`"));
            let known = format!(
                "this host replays `{FORMAT}`, `{RECORDING}` and recorded answers (`id` and \
                 `candidates` a line)"
            );
            Err(Error::Unfit(format!(
                "`{}` has a format that is not known ({found}): {known}",
                path.display()
            )))
        }
    }
}

fn unfit_recording(error: RecordingError) -> Error {
    Error::Unfit(error.to_string())
}

/// Makes an exchange of a call in a journal, with what the run's guest got for it: all tries of the
/// call together.
fn exchange_from_journal(request: Request, result: Result<Reply, LlmError>) -> Exchange {
    use LlmError::{Budget, Cancelled, Denied, Missed, TooLarge};
    let outcome = match result {
        // The host itself turned it away, or gave it up.
        Err(error @ (Budget | Cancelled | Denied(_) | Missed(_) | TooLarge)) => {
            ModelOutcome::unsent(error)
        }
        result => {
            let usage = result.as_ref().ok().map(|reply| reply.usage.clone());
            ModelOutcome::sent(result, usage)
        }
    };
    Exchange { request, outcome }
}

/// Makes an exchange of one recorded try of a call. Where the recorded run waited and tried again,
/// a replay does so without the wait.
fn exchange_from_recording(settings: &Settings, recorded: Recorded) -> Exchange {
    let request = recorded.request.clone();
    let mut outcome = recorded.outcome();
    if let Retry::After(delay) = outcome.retry
        && !delay.is_zero()
        && delay <= settings.model.max_retry_wait
    {
        outcome.retry = Retry::Yes;
    }
    Exchange { request, outcome }
}
