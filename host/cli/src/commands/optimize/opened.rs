//! The environment of the optimizer: the host with its rewriter, the settings, and who is asked for
//! consent.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Value, json};
use syrch::journal::JournalError;
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::ports::{BenchLimits, Preview};
use syrch::syrch_core::result_set::digest64;
use syrch::syrch_core::roles::Role;
use syrch::{Error, Host, Stop};
use syrch_optimizing::corpus::OptimizesStatements;
use syrch_optimizing::{
    EARLY_STOP, Optimize, Optimized, Optimizes, Progress, Purpose, Settings, Step,
};

use super::args::LoopArgs;
use super::check::engine_failure;
use super::consent::{Consent, explain_consent};
use super::statement::Named;
use crate::commands::{Context, asking};
use crate::console::Console;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// A host that optimizes statements.
pub(super) struct Opened {
    host: Host,
    watch: Arc<Watch>,
    settings: Settings,
    /// The copies on which the user insists; `None` for as many as the settings have, where the
    /// engine can make them.
    copies: Option<u32>,
    limits: BenchLimits,
    is_accepted: bool,
    consent: Consent,
    console: Arc<Console>,
    /// The cost of the work so far, and warnings.
    notes: Mutex<Vec<String>>,
}

/// Opens the database, the model and the rewriter. `copies` is the number of changed copies unless
/// the flag sets another.
pub(super) async fn open(context: &mut Context, flags: &LoopArgs, copies: u32) -> Outcome<Opened> {
    if flags.rewriter.as_deref() == Some("model")
        && context.config.effective.settings.model.is_by_rules()
    {
        return Err(Failure::config("`--rewriter model` asks a model, and none is configured")
            .hint(
                "name one by --llm and --model, or use the rules by --rewriter rules, \
                 which need none",
            ));
    }
    if !context.config.is_set("execution.deadline_seconds") {
        // The default is that of a search; a slow statement is executed some dozens of times.
        context.config.effective.settings.deadline = None;
    }
    let limits = BenchLimits { real_sums: flags.real_sums, ..limits(context) };
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let interrupt = context.interrupt.clone();
    let opened = async {
        let host = asking::open(context, &watch).await?;
        Ok::<Host, Failure>(host.with_rewriter(watch.as_ref()).await?)
    };
    let host = tokio::select! {
        host = opened => host?,
        () = interrupt.wait() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    Ok(Opened::new(
        context,
        host,
        watch,
        flags.settings(context, copies),
        flags.copies,
        limits,
        flags.accept_data_sent,
    ))
}

/// The bounds of comparing and measuring: those of the optimizer, unless the user sets others.
fn limits(context: &Context) -> BenchLimits {
    let settings = &context.config.effective.settings.limits;
    let mut limits = BenchLimits::default();
    if context.config.is_set("execution.max_rows") {
        limits.rows = settings.rows;
    }
    if context.config.is_set("execution.max_bytes") {
        limits.bytes = settings.result_bytes as u64;
    }
    if context.config.is_set("execution.sql_timeout") {
        limits.statement_ms = u64::try_from(settings.sql_deadline.as_millis()).unwrap_or(u64::MAX);
    }
    limits
}

impl LoopArgs {
    /// The settings of the loop.
    fn settings(&self, context: &Context, copies: u32) -> Settings {
        Settings {
            iterations: self.iterations,
            min_gain: self.min_gain,
            min_gain_ms: self.min_gain_ms,
            early_stop: if self.early_stop { EARLY_STOP } else { 0 },
            copies: self.copies.unwrap_or(copies),
            pairs: self.pairs,
            seed: context.config.effective.settings.seed,
            ..Settings::default()
        }
    }
}

impl Opened {
    pub(super) fn new(
        context: &Context,
        host: Host,
        watch: Arc<Watch>,
        settings: Settings,
        copies: Option<u32>,
        limits: BenchLimits,
        is_accepted: bool,
    ) -> Self {
        let consent = Consent::new(&context.console, &context.interrupt);
        let console = Arc::clone(&context.console);
        Self {
            host,
            watch,
            settings,
            copies,
            limits,
            is_accepted,
            consent,
            console,
            notes: Mutex::default(),
        }
    }

    /// Fails where the engine cannot detect whether somebody writes, unless the user asserts that
    /// nobody does.
    pub(super) async fn check_quiescent(&self, flags: &LoopArgs) -> Outcome<()> {
        if flags.quiescent_db {
            return Ok(());
        }
        let bench = self.host.database().bench(self.limits).await;
        let mut bench = bench.map_err(|error| engine_failure(&error))?;
        match bench.version().await? {
            Some(_) => Ok(()),
            None => Err(Failure::new(
                Exit::Denied,
                "the engine of this database cannot tell whether somebody writes to it",
            )
            .hint(
                "--quiescent-db asserts that nobody does while statements are compared \
                 and measured",
            )),
        }
    }

    /// The requests that the rewriter would send first.
    pub(super) async fn preview(&self, context: &Context, sql: &str) -> Outcome<Vec<Preview>> {
        tokio::select! {
            found = Box::pin(self.work(sql, &Stop::new(), "").preview()) => Ok(found?),
            () = context.interrupt.wait() => Err(
                Failure::new(Exit::Interrupted, "interrupted: nothing was sent")
            ),
        }
    }

    /// Optimizes a statement until the end, or until Ctrl-C ends it with the best so far.
    pub(super) async fn optimize(
        &self,
        context: &Context,
        statement: &Named,
    ) -> Outcome<Optimized> {
        let stop = Stop::new();
        self.run_interruptible(
            context,
            &stop,
            self.work(&statement.sql, &stop, &statement.name).run(),
        )
        .await
    }

    /// Continues a run from its journal, in the same way.
    pub(super) async fn resume(&self, context: &Context, journal: &Path) -> Outcome<Optimized> {
        let stop = Stop::new();
        self.run_interruptible(context, &stop, self.work("", &stop, "").resume(journal)).await
    }

    async fn run_interruptible(
        &self,
        context: &Context,
        stop: &Stop,
        work: impl Future<Output = Result<Optimized, Error>>,
    ) -> Outcome<Optimized> {
        let listener = tokio::spawn({
            let stop = stop.clone();
            let interrupt = context.interrupt.clone();
            let console = Arc::clone(&self.console);
            async move {
                interrupt.wait().await;
                console.note("stopping with the best so far; Ctrl-C again ends at once");
                stop.trigger();
            }
        });
        let optimized = Box::pin(work).await;
        listener.abort();
        self.console.clear();
        explain_consent(optimized)
    }

    fn work(&self, sql: &str, stop: &Stop, name: &str) -> Optimize {
        let console = Arc::clone(&self.console);
        let name = name.to_owned();
        let work = self
            .host
            .optimize(sql)
            .settings(self.settings)
            .limits(self.limits)
            .accept_data_sent(self.is_accepted)
            .consent(self.consent.clone())
            .observer(Arc::clone(&self.watch) as _)
            .progress(move |progress| console.progress(&describe_step(&name, progress)))
            .stop(stop.clone());
        match self.copies {
            Some(copies) => work.copies(copies),
            None => work,
        }
    }

    /// The name of the database.
    pub(super) fn database(&self) -> String {
        self.host.database().name().to_owned()
    }

    /// A digest of its address, without passwords.
    pub(super) fn address(&self) -> String {
        let address = DatabaseUrl::parse(&self.host.settings().database).to_string();
        format!("{:016x}", digest64(&[&address]))
    }

    /// The name of the rewriter with the digest of its component.
    pub(super) fn rewriter(&self) -> String {
        let source =
            self.host.settings().strategy.roles.get(&Role::Rewriter).map(ToString::to_string);
        let digest =
            self.host.plugins().find(|(role, _)| *role == Role::Rewriter).map(|(_, digest)| digest);
        format!("{} {}", source.unwrap_or_default(), digest.unwrap_or_default())
    }

    /// All settings on which the results of a run depend, as its folder records them.
    pub(super) fn settings_record(&self) -> Value {
        let settings = self.host.settings();
        let config = settings.strategy.config.get(&Role::Rewriter);
        json!({
            "optimizer": self.settings, "insists_on_copies": self.copies, "limits": self.limits,
            "rewriter": config,
            "model": settings.model.model, "tables": settings.tables,
        })
    }

    /// Costs and warnings of finished work, each once, which are forgotten then.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, warnings: Vec<String>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in warnings {
            if !notes.contains(&warning) {
                notes.push(warning);
            }
        }
    }

    /// Continues from the journal of a process that was killed. `None` when there is none that can
    /// be continued.
    async fn resume_from_journal(
        &self,
        sql: &str,
        journal: &Path,
        stop: &Stop,
    ) -> Result<Option<Optimized>, Error> {
        if !journal.exists() {
            return Ok(None);
        }
        match Box::pin(self.work(sql, stop, "").resume(journal)).await {
            Ok(optimized) => Ok(Some(optimized)),
            Err(error @ Error::Journal(JournalError::Busy { .. })) => Err(error),
            // It was cut off in its first line, it ended with an error that may be over now, or it
            // is of other data: the statement starts anew.
            Err(Error::Journal(_) | Error::Unfit(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl OptimizesStatements for Opened {
    async fn optimize(&self, sql: &str, journal: &Path, stop: &Stop) -> Result<Optimized, Error> {
        let optimized = match self.resume_from_journal(sql, journal, stop).await? {
            Some(optimized) => optimized,
            None => {
                // The journals of a run are those of its unfinished statements, so this one is
                // removed when its line is written.
                drop(std::fs::remove_file(journal));
                let id = journal
                    .file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let place =
                    self.host.settings().journal.folder.is_some().then(|| journal.to_owned());
                Box::pin(self.work(sql, stop, "").run_as(&id, place)).await?
            }
        };
        // Those about the measurement stand in the report of their statement.
        let measured = optimized.report.warnings();
        self.note(
            optimized
                .warnings
                .iter()
                .filter(|warning| !measured.contains(warning))
                .cloned()
                .collect(),
        );
        Ok(optimized)
    }
}

/// The step that starts, with how far the work is.
fn describe_step(name: &str, progress: &Progress<'_>) -> String {
    let number = progress.iterations.len() + 1;
    let doing = match progress.step {
        Step::AdmitOriginal => "checking".to_owned(),
        Step::Size | Step::Time(_, Purpose::Probe | Purpose::Noise) => {
            "measuring the original".to_owned()
        }
        Step::Propose => format!("proposal {number}: asking the rewriter"),
        Step::AdmitCandidate => format!("proposal {number}: checking"),
        Step::Compare(_) => format!("proposal {number}: comparing rows"),
        Step::CompareOnCopy(copy) => {
            format!("proposal {number}: comparing rows on copy {}", copy + 1)
        }
        Step::Time(_, Purpose::Warm | Purpose::Round) => format!("proposal {number}: measuring"),
        Step::Time(_, Purpose::Final) => format!("last measurement: pair {}", progress.pairs + 1),
        Step::Version | Step::Snapshot | Step::Columns(_) | Step::Explain(_) | Step::Done => {
            "reading the plan".to_owned()
        }
    };
    if name.is_empty() { doing } else { format!("{name} · {doing}") }
}
