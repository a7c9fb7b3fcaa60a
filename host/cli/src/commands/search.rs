//! `search`: asks a question.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use syrch::Ask;
use syrch::syrch_core::Problem;

use super::asking::{SearchArgs, Start, accept, open, search, summarise};
use super::{Context, Run, answer, dry_run, optimize, repl, resume};
use crate::config::{Given, Origin};
use crate::console::progress::Watch;
use crate::console::prompt::Prompt;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

impl Run for SearchArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        let rewriter = self.optimize.then(optimize::default_rewriter).flatten();
        Some(Given { rewriter, ..Given::new(&self.flags, &self.parameters) })
    }

    async fn run(self, context: Context) -> Outcome {
        if self.optimize && self.question.is_none() {
            return Err(Failure::usage("--optimize needs a question").hint(
                "a statement of your own is optimized by `syrch-host optimize --db DB \
                 \"SELECT …\"`",
            ));
        }
        if !self.dry_run && repl::opens(&self) {
            return repl::run(context, self).await;
        }
        run(context, self).await
    }
}

/// Searches and prints the answer.
async fn run(mut context: Context, arguments: SearchArgs) -> Outcome {
    let is_dry = arguments.dry_run;
    let optimizes = arguments.optimize;
    if is_dry {
        // Nothing is sent, so there is nothing to record. What is recorded comes from no cache.
        let settings = &mut context.config.effective.settings;
        if settings.model.record.take().is_some() {
            settings.cache = settings.cache.clone().without_place();
        }
    }
    let start = start(&mut context, arguments)?;
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let interrupt = context.interrupt.clone();
    let host = tokio::select! {
        host = open(&mut context, &watch) => host?,
        () = interrupt.wait() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    let start = match start {
        Start::Problem(problem) if is_dry => {
            return dry_run::run(&context, &Arc::new(host), problem).await;
        }
        start => start,
    };
    // The process ends after this search and gives everything back at once; to unmap plugins one by
    // one takes a tenth of a short search.
    let host = ManuallyDrop::new(host);
    let prompt = Prompt::new(Arc::clone(&context.console), interrupt);
    let ask = context.config.effective.interactive.then_some(&prompt as &dyn Ask);
    let report = search(&context, &host, start, watch, ask).await;
    context.console.clear();
    let report = report?;
    let exit = answer::finish(&context, &report)?;
    if !optimizes || exit != Exit::Answered {
        return Ok(exit);
    }
    match optimize::optimize_answer(&context, &host, &report).await {
        Ok(()) => Ok(exit),
        Err(failure) => {
            // The answer is written: a document of the error would be a second one.
            context.console.error(&failure);
            Ok(failure.exit)
        }
    }
}

fn start(context: &mut Context, arguments: SearchArgs) -> Outcome<Start> {
    if let Some(run) = &arguments.resume {
        return resume::settle(context, run, &arguments).map(Start::Journal);
    }
    let question =
        arguments.question.filter(|question| !question.trim().is_empty()).ok_or_else(|| {
            Failure::usage("no question").hint(
                "ask one by `syrch-host -q \"How many customers are there?\" --db shop.sqlite`; \
                 `syrch-host --help` shows more",
            )
        })?;
    context.needs_database()?;
    accept(context);
    summarise(context);
    // Where the user says that nobody answers, no model is asked for the words of a question.
    let is_set = !matches!(context.config.origin("execution.interactive"), Origin::Default);
    if is_set && !context.config.effective.interactive {
        context.config.effective.settings.max_questions = 0;
    }
    Ok(Start::Problem(Problem { question, evidence: arguments.evidence, ..Problem::default() }))
}
