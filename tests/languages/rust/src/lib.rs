//! The plugin `conformance` in Rust: all eight roles, as the setting `habit` of a case says. Those
//! of the other languages do the same, and all pass the cases of `tests/languages/cases`.

mod concurrent;
mod echo;
mod extreme;
mod ports;

use syrch_plugin::prelude::*;

syrch_plugin::words! {
    /// The behaviour of the roles.
    enum Habit {
        Echo = "echo",
        Raise = "raise",
        Fail = "fail",
        Loop = "loop",
        Large = "large",
        Wrong = "wrong",
        Ports = "ports",
        Parallel = "parallel",
        Cancel = "cancel",
    }
}

syrch_plugin::settings! {
    /// The settings of a case.
    pub struct Settings {
        /// The behaviour of the roles.
        habit: Habit = Habit::Echo;
        /// A number of things, by habit.
        size: u32 = 3, 0 ..= 1_000_000;
        /// A text, by habit.
        text: String = String::new();
        /// A confidence, score or ambiguity.
        share: f64 = 0.5, 0.0 ..= 1.0;
        /// A switch, by habit.
        flag: bool = false;
    }
}

syrch_plugin::plugin! {
    /// The plugin.
    pub struct Conformance(Settings) = "conformance", "answers what its case says";
}

impl Conformance {
    /// Ends the call where the habit says so.
    fn begin(&self) -> Result<(), Failure> {
        let Settings { habit, text, flag, .. } = &self.settings;
        match habit {
            Habit::Raise => panic!("{text}"),
            Habit::Fail => Err(Failure {
                kind: FailureKind::Unsupported,
                message: text.clone(),
                retryable: *flag,
            }),
            Habit::Loop => extreme::endless(),
            _ => Ok(()),
        }
    }
}

impl LinkerRole for Conformance {
    fn link(
        &self,
        _: &impl LinkerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, Failure> {
        self.begin()?;
        let mut linked = echo::linked(&self.settings, problem, catalog);
        match self.settings.habit {
            Habit::Large => linked
                .tables
                .iter_mut()
                .for_each(|table| table.reason = extreme::letters(&self.settings)),
            Habit::Wrong => linked.tables.iter_mut().for_each(|table| table.score = 2.0),
            _ => {}
        }
        Ok(linked)
    }
}

impl PlannerRole for Conformance {
    fn plan(&self, _: &impl PlannerHost, problem: &Problem, _: &Catalog) -> Result<Graph, Failure> {
        self.begin()?;
        let mut graph = echo::graph(problem);
        match self.settings.habit {
            Habit::Large => {
                graph.tasks.iter_mut().for_each(|task| task.text = extreme::letters(&self.settings))
            }
            Habit::Wrong => graph = Graph::single(Task::new("a b", &problem.question)),
            _ => {}
        }
        Ok(graph)
    }

    fn next(
        &self,
        _: &impl PlannerHost,
        _: &Problem,
        _: &Catalog,
        graph: &Graph,
        seen: &[Observation],
        fresh: usize,
    ) -> Result<Step, Failure> {
        self.begin()?;
        let edits = seen[fresh..].iter().filter_map(|seen| echo::edit(graph, seen)).collect();
        Ok(Step { edits, memo: graph.memo.clone() })
    }
}

impl SolverRole for Conformance {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        self.begin()?;
        let settings = &self.settings;
        let mut outcome = match settings.habit {
            Habit::Ports => ports::outcome(host, settings, problem, catalog, task),
            Habit::Parallel => concurrent::parallel(host, settings, problem),
            Habit::Cancel => concurrent::cancelled(host, problem)?,
            _ => echo::outcome(settings, task, parents),
        };
        for candidate in &mut outcome.candidates {
            match settings.habit {
                Habit::Large => candidate.rationale = Some(extreme::letters(settings)),
                Habit::Wrong => candidate.id = String::new(),
                _ => {}
            }
            host.propose(candidate);
        }
        Ok(outcome)
    }
}

impl CalibratorRole for Conformance {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Vec<f64> {
        match (self.begin(), self.settings.habit) {
            (Err(failure), _) => panic!("{}", failure.message),
            (Ok(()), Habit::Large) => vec![0.5; self.settings.size as usize],
            (Ok(()), Habit::Wrong) => vec![2.0; claims.len()],
            (Ok(()), _) => claims
                .iter()
                .map(|(claimed, signals)| echo::probability(&self.settings, *claimed, signals))
                .collect(),
        }
    }
}

impl RewardRole for Conformance {
    fn judge(
        &self,
        _: &impl RewardHost,
        _: &Problem,
        _: &Catalog,
        _: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        self.begin()?;
        let mut verdicts: Vec<Verdict> =
            rivals.iter().map(|rival| echo::verdict(&self.settings, rival)).collect();
        match self.settings.habit {
            Habit::Large => {
                verdicts.fill(accepted(self.settings.share, extreme::letters(&self.settings)))
            }
            Habit::Wrong => verdicts.push(rejected(0.0, "one too many")),
            _ => {}
        }
        Ok(verdicts)
    }
}

impl ClarifierRole for Conformance {
    fn assess(
        &self,
        _: &impl ClarifierHost,
        _: &Problem,
        _: &Catalog,
        _: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, Failure> {
        self.begin()?;
        let mut questions: Vec<Question> =
            seen.iter().filter_map(|seen| echo::question(&self.settings, seen)).collect();
        for question in &mut questions {
            match self.settings.habit {
                Habit::Large => question.text = extreme::letters(&self.settings),
                Habit::Wrong => question.ambiguity = 2.0,
                _ => {}
            }
        }
        Ok(questions)
    }
}

impl AggregatorRole for Conformance {
    fn aggregate(
        &self,
        _: &impl AggregatorHost,
        _: &Problem,
        graph: &Graph,
        finished: &[Finished],
        seen: &[Observation],
    ) -> Result<Option<Answer>, Failure> {
        self.begin()?;
        let mut answer = echo::answer(&self.settings, graph, finished, seen);
        if let Some(answer) = &mut answer {
            match self.settings.habit {
                Habit::Large => answer.text = extreme::letters(&self.settings),
                Habit::Wrong => answer.confidence = 2.0,
                _ => {}
            }
        }
        Ok(answer)
    }
}

impl RewriterRole for Conformance {
    fn rewrite(
        &self,
        _: &impl RewriterHost,
        _: &str,
        best: &str,
        _: &Plan,
        _: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        self.begin()?;
        match self.settings.habit {
            Habit::Large => {
                Ok(Some(Proposal::new(best, "large", extreme::letters(&self.settings))))
            }
            Habit::Wrong => Ok(Some(Proposal::new(best, "in to exists", "a family with a space"))),
            _ => Ok(echo::proposal(&self.settings, best, history)),
        }
    }
}

syrch_plugin::export!(
    Conformance: linker, planner, solver, calibrator, reward, clarifier, aggregator, rewriter
);
