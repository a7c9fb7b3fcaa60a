//! A database whose answers are scripted, and the optimizations over it.

mod clock;
mod outcomes;
mod stages;
mod states;

use syrch_core::ports::{Admitted, Compared, Plan, ResultSize, Timing};
use syrch_core::roles::Proposal;
use syrch_core::{Column, SqlError, SqlErrorKind};

use crate::{Fed, IterationState, Optimization, Proposed, Purpose, Report, Settings, Step, Which};

/// The results of the steps for one proposal.
#[derive(Debug, Clone)]
struct Tried {
    proposed: Proposed,
    admitted: Result<Admitted, SqlError>,
    columns: Result<Vec<Column>, SqlError>,
    compared: Result<Compared, SqlError>,
    copies: Vec<Option<Result<Compared, SqlError>>>,
    /// Its wall time in milliseconds, or its failure.
    time: Result<u64, SqlError>,
}

/// The scripted database: the original takes 1,000 ms.
#[derive(Debug, Clone)]
struct Script {
    tried: Vec<Tried>,
    original: Result<Admitted, SqlError>,
    columns: Result<Vec<Column>, SqlError>,
    size: Result<ResultSize, SqlError>,
    /// Answers `Version` from the call of that number on with another text.
    written_at: Option<usize>,
    /// Fails the step of that number, from 0, with an outage.
    outage_at: Option<usize>,
    best_ms: u64,
    /// The time of the best statement in the final measurement, where it is another than in its
    /// round.
    last_ms: Option<u64>,
    versions: usize,
    steps: Vec<Step>,
}

fn make_admitted(sql: &str) -> Admitted {
    Admitted {
        sql: sql.to_owned(),
        tables: vec!["t".to_owned()],
        is_ordered: false,
        unnamed: Vec::new(),
    }
}

fn columns(names: &[&str]) -> Vec<Column> {
    names
        .iter()
        .map(|name: &&str| Column {
            name: (*name).to_owned(),
            sql_type: "INTEGER".to_owned(),
            ..Column::default()
        })
        .collect()
}

fn error(kind: SqlErrorKind, rule: &str) -> SqlError {
    SqlError::new(kind, "the message").rule(rule)
}

/// A proposal that is equal and takes so many milliseconds.
fn takes(sql: &str, ms: u64) -> Tried {
    let proposal =
        Proposal { sql: sql.to_owned(), family: "family".to_owned(), reason: "reason".to_owned() };
    Tried {
        proposed: Proposed::Statement(proposal),
        admitted: Ok(make_admitted(sql)),
        columns: Ok(columns(&["a"])),
        compared: Ok(Compared::Equal(7)),
        copies: Vec::new(),
        time: Ok(ms),
    }
}

impl Script {
    fn new(tried: Vec<Tried>) -> Self {
        Self {
            tried,
            original: Ok(make_admitted("SELECT original")),
            columns: Ok(columns(&["a"])),
            size: Ok(ResultSize { rows: 7, bytes: 70 }),
            written_at: None,
            outage_at: None,
            best_ms: 1_000,
            last_ms: None,
            versions: 0,
            steps: Vec::new(),
        }
    }

    /// Runs an optimization to its end. Every step is answered; a machine that asks for ever fails.
    fn run(&mut self, settings: Settings) -> Report {
        let mut machine = Optimization::new("select original", settings).unwrap();
        for number in 0..10_000 {
            let step = machine.step();
            if step == Step::Done {
                return machine.report();
            }
            self.steps.push(step.clone());
            let fed = self.answer(&machine, &step, self.outage_at == Some(number));
            machine.feed(fed).unwrap();
        }
        panic!("the optimization does not end");
    }

    fn answer(&mut self, machine: &Optimization, step: &Step, is_out: bool) -> Fed {
        fn out() -> SqlError {
            error(SqlErrorKind::Unavailable, "connection")
        }
        let n = machine.iterations().len();
        let tried = self.tried.get(n).cloned();
        fn time(ms: u64) -> Timing {
            Timing { wall_ns: ms * 1_000_000, ..Timing::default() }
        }
        match step {
            Step::AdmitOriginal => {
                Fed::Admitted(if is_out { Err(out()) } else { self.original.clone() })
            }
            Step::AdmitCandidate => {
                Fed::Admitted(if is_out { Err(out()) } else { tried.unwrap().admitted })
            }
            Step::Version => {
                self.versions += 1;
                let is_new = self.written_at.is_some_and(|at| self.versions > at);
                Fed::Version(if is_out {
                    Err(out())
                } else {
                    Ok(Some(if is_new { "2" } else { "1" }.to_owned()))
                })
            }
            Step::Snapshot => Fed::Snapshot(if is_out { Err(out()) } else { Ok(()) }),
            Step::Columns(Which::Candidate) => {
                Fed::Columns(if is_out { Err(out()) } else { tried.unwrap().columns })
            }
            Step::Columns(_) => {
                Fed::Columns(if is_out { Err(out()) } else { self.columns.clone() })
            }
            Step::Size => Fed::Size(if is_out { Err(out()) } else { self.size.clone() }),
            Step::Time(..) if is_out => Fed::Time(Err(out())),
            Step::Time(Which::Candidate, _) => Fed::Time(tried.unwrap().time.map(time)),
            Step::Time(Which::Best, _) => {
                let mut kept = machine
                    .iterations()
                    .iter()
                    .rev()
                    .filter(|one| one.state == IterationState::Kept);
                let accepted =
                    kept.next().and_then(|best| self.tried[best.n as usize - 1].time.clone().ok());
                let last = self.last_ms.filter(|_| matches!(step, Step::Time(_, Purpose::Final)));
                Fed::Time(Ok(time(last.or(accepted).unwrap_or(self.best_ms))))
            }
            Step::Time(Which::Original, _) => Fed::Time(Ok(time(self.best_ms))),
            Step::Explain(_) if is_out => Fed::Plan(Err(out())),
            Step::Explain(which) => {
                let text = machine.statement(*which).unwrap().sql.clone();
                Fed::Plan(Ok(Plan { format: "text".to_owned(), text, cost: None, rows: None }))
            }
            Step::Propose => Fed::Proposed(tried.map_or(Proposed::Nothing, |tried| tried.proposed)),
            Step::Compare(Which::Candidate) => {
                Fed::Compared(if is_out { Err(out()) } else { tried.unwrap().compared })
            }
            Step::Compare(_) => {
                Fed::Compared(if is_out { Err(out()) } else { Ok(Compared::Equal(7)) })
            }
            Step::CompareOnCopy(copy) => Fed::OnCopy(
                tried
                    .unwrap()
                    .copies
                    .get(*copy as usize)
                    .cloned()
                    .unwrap_or(Some(Ok(Compared::Equal(7)))),
            ),
            Step::Done => unreachable!(),
        }
    }
}
