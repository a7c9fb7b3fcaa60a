//! Executes a run: a number of items at once, a line in the log for each that ends, until all are
//! done or something stops the run.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use syrch_scheduler::Stop;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;

use crate::Verdict;
use crate::rules::Rule;

use super::board::Board;
use super::folder::RunFolder;
use super::graded::{Cost, End, Graded, Judged, twice};
use super::line::{CutOff, Early, Entry, Line};
use super::options::{Answered, Dropped, Finished, Options, Stopped, SystemUnderTest};
use super::plan::{Item, Plan};
use super::progress::{Estimate, Observer, Resumed};
use super::{Fault, RunBudgets, RunError, UsedUp};

/// The class of failures of the model's endpoint.
const MODEL: &str = "model";
/// The class of unexpected failures.
const UNEXPECTED: &str = "unexpected";

/// Executes the items of the plan that the log of the folder does not hold.
///
/// # Errors
/// When the log is damaged or is not this plan's, or cannot be written; what was written before
/// stays.
pub async fn execute<A: SystemUnderTest + ?Sized>(
    plan: &Plan,
    folder: &mut RunFolder,
    system: Arc<A>,
    options: &Options,
    observer: &dyn Observer,
    stop: &Stop,
) -> Result<Finished<A::Fatal>, RunError> {
    let mut engine = Engine::begin(plan, folder, system, options, observer)?;
    let mut stopped = None;
    while stopped.is_none() {
        if stop.is_triggered() {
            stopped = Some(Stopped::Interrupted);
            break;
        }
        engine.start();
        if engine.under_way.is_empty() {
            break;
        }
        let left = engine.time_left();
        stopped = tokio::select! {
            biased;
            () = stop.wait_until_triggered() => Some(Stopped::Interrupted),
            Some(ended) = engine.running.join_next_with_id() => engine.take(ended)?,
            () = pass(left) => Some(Stopped::Budget(UsedUp::Time)),
        };
    }
    engine.finish(stopped).await
}

/// Ends after that time, or never.
async fn pass(left: Option<Duration>) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}

/// A run that is being executed in this process.
struct Engine<'a, A: SystemUnderTest + ?Sized> {
    plan: &'a Plan,
    folder: &'a mut RunFolder,
    system: Arc<A>,
    options: &'a Options,
    observer: &'a dyn Observer,
    board: Board,
    estimate: Estimate,
    /// The time that earlier processes worked on the run.
    before: Duration,
    began: Instant,
    /// The slot from which the next item is searched.
    next: usize,
    running: JoinSet<Answered<A::Fatal>>,
    under_way: Vec<UnderWay>,
    dropped: Dropped,
    /// Items that the model's endpoint failed, one after the other.
    outages: u32,
    /// The budget that is used up, so no further item begins.
    used_up: Option<UsedUp>,
    /// The early stop in the log.
    logged: Option<Early>,
    /// True if a question is left to a later wave.
    is_at_end_of_wave: bool,
}

/// An item that is being answered.
struct UnderWay {
    id: Id,
    slot: usize,
    item: Item,
    began: Instant,
    handle: AbortHandle,
}

type Ended<F> = Result<(Id, Answered<F>), JoinError>;

impl<'a, A: SystemUnderTest + ?Sized> Engine<'a, A> {
    /// Checks the plan against the folder, and reads its log.
    fn begin(
        plan: &'a Plan,
        folder: &'a mut RunFolder,
        system: Arc<A>,
        options: &'a Options,
        observer: &'a dyn Observer,
    ) -> Result<Self, RunError> {
        check(plan, folder, options)?;
        let mut board = Board::new(plan, &folder.header().rule, options.stop_early.clone());
        let log = read_log(plan, folder, &mut board)?;
        // A process that was killed between a line and the removal of its journal left the journal.
        if let Some((arm, id)) = &log.last {
            folder.forget(arm, id)?;
        }
        let done = board.progress.done;
        let again = if plan.retry_failed { board.reopen() } else { 0 };
        board.progress.resumed = board.progress.done;
        observer.on_resume(&Resumed { done, again, torn: log.torn });
        let mut engine = Self {
            plan,
            folder,
            system,
            options,
            observer,
            board,
            estimate: Estimate::default(),
            before: log.at,
            began: Instant::now(),
            next: 0,
            running: JoinSet::new(),
            under_way: Vec::new(),
            dropped: Dropped::default(),
            outages: 0,
            used_up: None,
            logged: log.stopped,
            is_at_end_of_wave: false,
        };
        engine.system.limit_together(&engine.budgets_left());
        engine.decide()?;
        Ok(engine)
    }

    fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// Begins an item for each free worker.
    fn start(&mut self) {
        while self.under_way.len() < self.options.workers.max(1) {
            let Some((slot, retried)) = self.board.open_from(self.next) else { return };
            self.used_up = self.used_up.or_else(|| self.check_budgets());
            let Some(item) = self.plan.item(slot, retried).filter(|_| self.used_up.is_none())
            else {
                return;
            };
            if self.options.until.is_some_and(|until| item.place >= until) {
                self.is_at_end_of_wave = true;
                return;
            }
            self.next = slot + 1;
            let system = Arc::clone(&self.system);
            let own = item.clone();
            let handle = self.running.spawn(async move { system.answer(&own).await });
            let id = handle.id();
            let began = Instant::now();
            self.under_way.push(UnderWay { id, slot, item, began, handle });
        }
    }

    /// Returns the rest of the time of the whole run; `None` if it has no limit.
    fn time_left(&self) -> Option<Duration> {
        self.options.budgets.time.map(|most| most.saturating_sub(self.elapsed()))
    }

    /// The budgets without what the items of the log have spent.
    fn budgets_left(&self) -> RunBudgets {
        let progress = &self.board.progress;
        let usd = progress.usd.unwrap_or(0.0);
        self.options.budgets.subtract(progress.calls, progress.tokens, usd)
    }

    fn check_budgets(&self) -> Option<UsedUp> {
        let budgets = &self.options.budgets;
        let progress = &self.board.progress;
        let elapsed = self.elapsed();
        let all = [
            (budgets.calls.is_some_and(|most| progress.calls >= most), UsedUp::Calls),
            (budgets.tokens.is_some_and(|most| progress.tokens >= most), UsedUp::Tokens),
            (budgets.usd.is_some_and(|most| progress.usd.unwrap_or(0.0) >= most), UsedUp::Usd),
            (budgets.time.is_some_and(|most| elapsed >= most), UsedUp::Time),
        ];
        all.into_iter().find(|(is_used_up, _)| *is_used_up).map(|(_, budget)| budget)
    }

    /// Writes the result of an item. Returns what stops the run, if the result does.
    fn take(&mut self, ended: Ended<A::Fatal>) -> Result<Option<Stopped<A::Fatal>>, RunError> {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(at) = self.under_way.iter().position(|item| item.id == id) else {
            return Ok(None);
        };
        let under_way = self.under_way.swap_remove(at);
        let graded = match ended {
            Ok((_, Answered::Graded(graded))) => *graded,
            Ok((_, Answered::CutOff(budget, cost))) => {
                self.used_up = self.used_up.or(Some(budget));
                return self.cut_off(&under_way.item, cost).map(|()| None);
            }
            Ok((_, Answered::Fatal(fatal))) => return Ok(Some(Stopped::Fatal(fatal))),
            Err(error) if error.is_cancelled() => {
                self.note_dropped(&under_way.item);
                return Ok(None);
            }
            Err(error) => panic_result(&under_way, error),
        };
        self.write(&under_way, graded)
    }

    /// Adds what a dropped item cost to the totals, but not to the log: its journal has it.
    fn note_dropped(&mut self, item: &Item) {
        let Some(cost) = self.system.cost_of_dropped(item) else {
            self.dropped.unknown += 1;
            return;
        };
        if cost.calls > 0 || cost.cached > 0 {
            self.board.spend(&cost);
            self.observer.on_cost(&self.board.progress);
            self.dropped.cost = self.dropped.cost.and(&cost);
        }
    }

    /// Writes what an item cost that a budget of the run ended. Its journal would end so again.
    fn cut_off(&mut self, item: &Item, cost: Cost) -> Result<(), RunError> {
        let cut = CutOff { arm: item.arm_name.to_string(), cost };
        self.board.spend(&cut.cost);
        self.observer.on_cost(&self.board.progress);
        self.folder.append(Line { at: self.elapsed(), entry: Entry::CutOff(cut) })?;
        self.folder.forget(&item.arm_name, &item.question.id)
    }

    fn write(
        &mut self,
        under_way: &UnderWay,
        graded: Graded,
    ) -> Result<Option<Stopped<A::Fatal>>, RunError> {
        let Item { arm_name, question, place, retried, .. } = &under_way.item;
        let arm = arm_name.to_string();
        let id = question.id.clone();
        let graded = Box::new(Graded { arm, id, place: *place, retried: *retried, ..graded });
        let line = Line { at: self.elapsed(), entry: Entry::Graded(graded.clone()) };
        self.folder.append(line)?;
        self.folder.forget(&graded.arm, &graded.id)?;
        self.board.note(under_way.slot, &graded);
        self.estimate.note(under_way.began.elapsed());
        self.decide()?;
        self.report(&graded);
        Ok(self.outage(&graded))
    }

    fn report(&mut self, last: &Graded) {
        let elapsed = self.elapsed();
        self.board.progress.elapsed = elapsed;
        self.board.progress.left = self.estimate.time_left(self.board.open(), self.options.workers);
        self.observer.progress(&self.board.progress, last);
    }

    /// Checks if the endpoint has failed too often; returns how the run stops if so.
    fn outage(&mut self, last: &Graded) -> Option<Stopped<A::Fatal>> {
        let fault =
            last.fault.as_ref().filter(|fault| last.end == End::Failed && fault.class == MODEL);
        let Some(fault) = fault else {
            self.outages = 0;
            return None;
        };
        self.outages += 1;
        let is_enough = self.options.max_outages > 0 && self.outages >= self.options.max_outages;
        is_enough.then(|| Stopped::Outage { items: self.outages, message: fault.message.clone() })
    }

    /// Checks whether the comparison is decided. If so, aborts the items beyond the deciding
    /// question.
    fn decide(&mut self) -> Result<(), RunError> {
        let decided = self.board.decide(self.plan).cloned();
        if decided != self.logged {
            self.folder
                .append(Line { at: self.elapsed(), entry: Entry::Stopped(decided.clone()) })?;
            self.logged = decided;
        }
        if self.logged.is_some() {
            let limit = self.board.limit();
            self.under_way
                .iter()
                .filter(|item| item.slot >= limit)
                .for_each(|item| item.handle.abort());
        }
        Ok(())
    }

    /// Aborts the running items, writes those that ended meanwhile, and returns the final state.
    async fn finish(
        mut self,
        stopped: Option<Stopped<A::Fatal>>,
    ) -> Result<Finished<A::Fatal>, RunError> {
        self.running.abort_all();
        while let Some(ended) = self.running.join_next_with_id().await {
            self.take(ended)?;
        }
        let stopped = stopped
            .or_else(|| self.logged.clone().map(Stopped::Early))
            .or(self.used_up.map(Stopped::Budget))
            .or(self.is_at_end_of_wave.then_some(Stopped::Wave));
        if matches!(stopped, None | Some(Stopped::Early(_))) {
            self.folder.forget_all()?;
        }
        self.board.progress.elapsed = self.elapsed();
        self.board.progress.left = None;
        Ok(Finished { progress: self.board.progress, stopped, dropped: self.dropped })
    }
}

/// Checks that the options fit the run.
fn check(plan: &Plan, folder: &RunFolder, options: &Options) -> Result<(), RunError> {
    fn unfit_folder(folder: &RunFolder, reason: &str) -> RunError {
        RunError::Unfit { run: folder.header().id.clone(), reason: reason.to_owned() }
    }
    let Some(early) = &options.stop_early else { return Ok(()) };
    if folder.header().shard.is_some() {
        return Err(unfit_folder(
            folder,
            "a shard cannot stop early, because it does not see what the others find",
        ));
    }
    if early.first == early.second || early.first.max(early.second) >= plan.arms.len() {
        return Err(unfit_folder(folder, "stopping early takes two different arms of the run"));
    }
    Ok(())
}

/// The content of the log beside the items.
#[derive(Default)]
struct Log {
    /// The time that the run had taken.
    at: Duration,
    torn: u64,
    /// The arm and the id of the last answer.
    last: Option<(String, String)>,
    stopped: Option<Early>,
}

fn read_log(plan: &Plan, folder: &mut RunFolder, board: &mut Board) -> Result<Log, RunError> {
    let mut log = Log::default();
    log.torn = folder.replay(|line| {
        log.at = log.at.max(line.at);
        let graded = match line.entry {
            Entry::Graded(graded) => graded,
            Entry::Stopped(early) => {
                log.stopped = early;
                return Ok(());
            }
            Entry::CutOff(cut) => {
                board.spend(&cut.cost);
                return Ok(());
            }
        };
        let Graded { arm, id, place, retried, .. } = graded.as_ref();
        let slot = plan.slot(arm, *place, id);
        let slot = slot.ok_or_else(|| {
            format!("the suite has no question `{id}` at place {place} for `{arm}`")
        })?;
        if !board.may_take(slot, *retried) {
            return Err(twice(&graded));
        }
        board.note(slot, &graded);
        log.last = Some((graded.arm, graded.id));
        Ok(())
    })?;
    Ok(log)
}

/// The result of an item whose system panicked.
fn panic_result(under_way: &UnderWay, error: JoinError) -> Graded {
    let payload: Box<dyn Any> = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => Box::new(error.to_string()),
    };
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    let message = format!("the host panicked: {}", text.unwrap_or("no reason given"));
    let wrong = Judged { verdict: Verdict::Wrong, fingerprint: None };
    Graded {
        fault: Some(Fault { class: UNEXPECTED.to_owned(), message }),
        verdicts: Rule::all().iter().map(|rule| (rule.name().to_owned(), wrong.clone())).collect(),
        time_ms: under_way.began.elapsed().as_secs_f64() * 1_000.0,
        ..Graded::without_answer(&under_way.item, End::Failed)
    }
}
