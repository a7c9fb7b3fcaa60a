//! Runs in which a program calls the rewriter of a host by itself, as the verified optimizer does.
//! They have journals, budgets and layers as searches have.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use syrch_core::ports::{Plan, Preview};
use syrch_core::roles::{Attempt, Proposal, Rewriter, Role};
use syrch_core::{Catalog, Problem, RoleError};
use syrch_journal::{EventLog, Journal, JournalError, Mode, RunKind, Writer};
use syrch_layers::Consent;
use syrch_scheduler::Stop;
use tokio::sync::SemaphorePermit;

use crate::answer::cost;
use crate::context::{Context, RunState};
use crate::record::DatabaseCheck;
use crate::report::CostReport;
use crate::settings::PluginSource;
use crate::{Error, Host, HostBuilder, Observer, SearchEvent, Settings, record, telemetry};

/// A host whose rewriter is called.
#[derive(Clone)]
pub struct RewritingHost(Host);

impl RewritingHost {
    /// Opens the host of a builder. `plugin` is the built-in rewriter of a strategy that names
    /// none; `None` if the program has a rewriter of its own, so that no plugin is loaded.
    ///
    /// # Errors
    /// As [`Host::open`], and when the rewriter is refused.
    pub async fn open(
        mut builder: HostBuilder,
        plugin: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        name_rewriter(builder.settings(), plugin);
        Self::load(builder.open_with(observer).await?, plugin, observer).await
    }

    /// [`RewritingHost::open`] for a host that is open.
    ///
    /// # Errors
    /// When the rewriter is refused.
    pub async fn from_host(
        mut host: Host,
        plugin: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        name_rewriter(Arc::make_mut(&mut host.settings), plugin);
        Self::load(host.reconfigure()?, plugin, observer).await
    }

    async fn load(
        host: Host,
        plugin: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        Ok(Self(if plugin.is_some() { host.with_rewriter(observer).await? } else { host }))
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.0
    }

    /// The plugin that is the rewriter; `None` if none is loaded.
    #[must_use]
    pub fn rewriter(&self) -> Option<Arc<dyn Rewriter>> {
        let plugin = self.0.plugins.get(Role::Rewriter).cloned()?;
        Some(Arc::new(plugin))
    }

    /// The name of that plugin and the digest of its component.
    #[must_use]
    pub fn rewriter_name(&self) -> Option<String> {
        let plugin = self.0.plugins.get(Role::Rewriter)?.plugin();
        Some(format!("{} {}", plugin.identity().name, plugin.digest()))
    }

    /// Waits until fewer searches and runs are going on than may at once.
    pub async fn acquire_slot(&self) -> Option<SemaphorePermit<'_>> {
        self.0.searches.acquire().await.ok()
    }

    /// Removes the oldest journals of the folder beyond its limits.
    pub async fn prune(&self) {
        self.0.prune().await;
    }

    /// Starts a run, with its journal if it has a place for one. `settings` are those that the
    /// journal holds besides those of the host.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn start(
        &self,
        id: &str,
        problem: &Problem,
        settings: Value,
        journal: Option<Result<PathBuf, JournalError>>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<RewriterRun, Error> {
        let kind = RunKind::Optimization(settings);
        let run = self.0.start(id, &problem.clone().into(), kind, journal, observer, stop).await?;
        Ok(self.run(run))
    }

    /// Resumes a run that was killed.
    ///
    /// # Errors
    /// When the database, a plugin or the settings changed since.
    pub async fn resume(
        &self,
        writer: Writer,
        journal: Journal,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<RewriterRun, Error> {
        let database = DatabaseCheck::Identity(self.0.database.identity().await);
        record::check_unchanged(&self.0, &journal.header, &database)?;
        let host = self.0.as_in_run(&journal.header);
        let id = journal.header.run.clone();
        let catalog = host.database.catalog().await?;
        let mode = Mode::Resume(writer, journal);
        let listener = telemetry::listener(&host, &id, &catalog, &mode);
        Ok(self.run(host.run_state(&id, mode, catalog, observer, stop, listener)))
    }

    /// Repeats a run from its journal alone.
    #[must_use]
    pub fn replay(
        &self,
        journal: Journal,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> RewriterRun {
        let id = journal.header.run.clone();
        let catalog = Arc::clone(&journal.header.catalog);
        self.run(self.0.run_state(&id, Mode::Replay(journal), catalog, observer, stop, None))
    }

    fn run(&self, run: RunState) -> RewriterRun {
        let run = Arc::new(RunState { consent: Some(Consent::default()), ..run });
        RewriterRun { host: self.0.clone(), run }
    }

    /// Works on this thread, until all that is left is to wait for replies of models, and returns
    /// the requests that would have been sent. It blocks.
    ///
    /// # Errors
    /// When `work` fails before it would send anything.
    pub fn dry_run(
        &self,
        question: &str,
        work: impl AsyncFnOnce(RewriterRun) -> Result<(), Error>,
    ) -> Result<Vec<Preview>, Error> {
        let host = self.0.clone();
        self.0.dry_run(question, async move |run| work(RewriterRun { host, run }).await)
    }
}

/// Names the rewriter of a strategy that names none.
fn name_rewriter(settings: &mut Settings, plugin: Option<&str>) {
    if let Some(plugin) = plugin {
        let roles = &mut settings.strategy.roles;
        roles.entry(Role::Rewriter).or_insert_with(|| PluginSource::parse(plugin));
    }
}

/// A run under way.
#[derive(Clone)]
pub struct RewriterRun {
    host: Host,
    run: Arc<RunState>,
}

impl RewriterRun {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.run.id
    }

    /// Everything that the user granted.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.run.catalog
    }

    /// Its event log.
    #[must_use]
    pub fn event_log(&self) -> &EventLog {
        &self.run.event_log
    }

    /// The cost of its model calls so far.
    #[must_use]
    pub fn cost(&self) -> CostReport {
        cost(&self.run.ledger.spending())
    }

    /// Waits until it is stopped or its deadline passes.
    pub async fn wait_until_over(&self) {
        self.run.clock.wait_until_over().await;
    }

    /// Returns true if it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.run.clock.stop.is_triggered()
    }

    /// Returns true if the user has to agree before something is sent to a model.
    #[must_use]
    pub fn lacks_consent(&self) -> bool {
        self.run.consent.as_ref().is_some_and(|consent| !consent.is_given())
    }

    /// Notes that the user has agreed.
    pub fn give_consent(&self) {
        if let Some(consent) = &self.run.consent {
            consent.give();
        }
    }

    /// Sends an event to the observer.
    pub fn report(&self, event: &SearchEvent) {
        self.run.trace.event(event);
    }

    /// The error for a rewriter that was denied model calls.
    #[must_use]
    pub fn denial_error(&self) -> Option<Error> {
        self.run.denial_error()
    }

    /// Writes what a rewriter that is not built in used to the audit log and the journal. Called
    /// once, before the end of the run is recorded.
    pub fn end_audit(&self) {
        self.run.end_audit();
    }

    /// The warnings of everything around the run.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.host.warnings_beside(&self.run)
    }

    /// The end of `work`, unless the run departs from its journal first.
    ///
    /// # Errors
    /// Those of `work`, and [`Error::Replay`].
    pub async fn unless_departed<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.run.unless_departed(work).await
    }

    /// The role calls of the run, of which so many have been made, over these tables alone.
    #[must_use]
    pub fn calls(&self, problem: Problem, tables: &[String], made: u64) -> RewriterCalls {
        let context = Context::new(&self.host, problem, &self.run).with_tables(tables);
        // The host has asked for plans and times of the data, which the calls get.
        self.run.taint.note_asked();
        context.notes.skip_calls((Role::Rewriter, String::new(), None), made);
        RewriterCalls(Arc::new(context))
    }
}

/// The role calls of a run.
#[derive(Clone)]
pub struct RewriterCalls(Arc<Context>);

impl RewriterCalls {
    /// The error of the model's endpoint, if no call was answered.
    #[must_use]
    pub fn model_error(&self) -> Option<Error> {
        let outage = self.0.notes.model_error()?;
        Some(outage.into_error(&self.0.run.settings.model.model))
    }

    /// Calls the rewriter once, with the original statement and the best one. `None` when the run
    /// was stopped or its deadline passed meanwhile.
    pub async fn call(
        &self,
        rewriter: &dyn Rewriter,
        original: &str,
        best: &str,
        plan: &Plan,
        history: &[Attempt],
    ) -> Option<Result<Option<Proposal>, RoleError>> {
        let event_log = &self.0.run.event_log;
        tokio::select! {
            biased;
            proposed = self.rewrite(rewriter, original, best, plan, history) => Some(proposed),
            () = event_log.over(Role::Rewriter, self.0.run.clock.wait_until_over()) => None,
        }
    }

    async fn rewrite(
        &self,
        rewriter: &dyn Rewriter,
        original: &str,
        best: &str,
        plan: &Plan,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        let prepared = self.0.start_call(Role::Rewriter, None, Vec::new(), None).await;
        let call = prepared.call.clone();
        let proposed = rewriter.rewrite(call, original, best, plan, &self.0.catalog, history).await;
        prepared.end(proposed.as_ref().err().cloned(), || ()).await;
        proposed
    }
}
