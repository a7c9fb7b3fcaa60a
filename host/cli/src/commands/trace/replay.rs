//! `trace replay`: repeats a run from its journal alone, or makes it again with the journal in
//! place of the model.

use std::sync::Arc;

use syrch::Host;
use syrch::conversation::Turn;
use syrch::settings::read_settings;

use super::super::asking::{self, Start};
use super::super::resume::with_secrets;
use super::super::{Context, answer, optimize};
use super::open;
use crate::console::progress::Watch;
use crate::failure::Outcome;

/// Prints the run's answer again. Strictly, nothing but the journal and the plugins is used, and
/// the output is the recorded one, byte for byte. Else the database is asked again, with today's
/// plugins, and only the model's replies come from the journal.
pub(super) async fn run(context: Context, run: &str, is_strict: bool) -> Outcome {
    if is_strict { replay_strictly(&context, run).await } else { search_again(context, run).await }
}

async fn replay_strictly(context: &Context, run: &str) -> Outcome {
    let (_, journal) = open(context, run)?;
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let host =
        Host::of_journal(&journal.header, &context.config.effective.settings, watch.as_ref())
            .await?;
    context.console.progress("replaying");
    if !journal.header.kind.is_search() {
        return optimize::replay(context, &host, watch, journal).await;
    }
    let report = host.replay(journal, watch).await;
    context.console.clear();
    answer::finish(context, &report?)
}

async fn search_again(mut context: Context, run: &str) -> Outcome {
    let (path, journal) = open(&context, run)?;
    if !journal.header.kind.is_search() {
        let run = &journal.header.run;
        let message = format!(
            "the run `{run}` is an optimization, whose times cannot be had again: replay it \
             with --strict"
        );
        return Err(syrch::Error::Unfit(message).into());
    }
    let mut settings = read_settings(&journal.header, &context.config.effective.settings)?;
    if settings.model.embeddings.is_some() {
        let run = &journal.header.run;
        return Err(syrch::Error::Unfit(format!(
            "the run `{run}` compared by embeddings, whose calls its journal does not hold: replay \
             it with --strict"
        ))
        .into());
    }
    let known = settings.retrieval.digest.take();
    let defined = settings.semantics.digest.take();
    let today = &context.config.effective.settings;
    // A journal may be untrusted, so the current configuration decides these.
    settings.limits.clone_from(&today.limits);
    settings.database = with_secrets(&settings.database, &today.database)?;
    settings.servers.clone_from(&today.servers);
    settings.imports = today.imports.with_options_of(&settings.imports);
    settings.budgets.host_calls = today.budgets.host_calls;
    settings.budgets.cpu = today.budgets.cpu;
    settings.budgets.log_bytes = today.budgets.log_bytes;
    settings.policy.max_parallel = settings.policy.max_parallel.min(64);
    settings.cache.clone_from(&today.cache);
    settings.journal.clone_from(&today.journal);
    settings.retrieval.clone_from(&today.retrieval);
    settings.semantics.clone_from(&today.semantics);
    settings.model.replay = Some(path);
    settings.model.record = None;
    context.config.effective.settings = settings;
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let host = Host::open(context.config.effective.settings.clone(), watch.as_ref()).await?;
    let host = host.as_in_run(&journal.header);
    if host.knowledge() != known.as_deref() {
        context
            .console
            .warn("the notes, examples or index of business terms are not those of the run");
    }
    if host.settings().semantics.digest != defined {
        context.console.warn("the definitions of metrics are not those of the run");
    }
    let start = Start::Turn(Box::new(Turn::from(&journal.header)));
    let report = asking::search(&context, &host, start, watch, None).await;
    context.console.clear();
    answer::finish(&context, &report?)
}
