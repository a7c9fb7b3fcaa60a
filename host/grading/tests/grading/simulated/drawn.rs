//! Answers of the simulated model to all questions, drawn from the provider itself, and their
//! results.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use syrch::syrch_core::ports::{Database, Purpose, SqlQuery};
use syrch::syrch_core::{Catalog, Equality, ResultSet};
use syrch_grade::rules::bag_v1_any;
use syrch_kit::recorded::{Answer, Execution, SAMPLERS, Sampler, Taken};
use syrch_simulated::{SimulatedKnobs, SimulatedQuestion, SimulatedSuite};
use tokio::task::JoinSet;

use super::world::{answer, call, databases, provider, questions};

/// The number of samples of a question.
pub(crate) const SAMPLES: u32 = 16;

/// A question with what was drawn.
#[derive(Clone)]
pub(crate) struct Drawn {
    pub(crate) id: String,
    /// The samples, in the order in which they were drawn.
    pub(crate) samples: Vec<Answer>,
    /// A statement and its repairs; each repairs the statements before it.
    pub(crate) chain: Vec<Answer>,
}

impl Drawn {
    /// The result of a sampling strategy.
    pub(crate) fn take(&self, gate: &Sampler) -> Taken<'_> {
        let order: Vec<&Answer> =
            if gate.repair { &self.chain } else { &self.samples }.iter().collect();
        gate.take(&order)
    }
}

/// All questions of a folder with their databases.
pub(crate) struct World {
    pub(crate) suite: Arc<SimulatedSuite>,
    pub(crate) databases: BTreeMap<String, Arc<dyn Database>>,
}

impl World {
    pub(crate) async fn open(folder: &Path) -> Arc<Self> {
        let suite = Arc::new(SimulatedSuite::new(questions(folder)));
        Arc::new(Self { suite, databases: databases(folder).await })
    }

    /// The answers of the model to all questions, by seed.
    pub(crate) async fn draw(
        self: &Arc<Self>,
        seeds: &[u64],
        knobs: &SimulatedKnobs,
    ) -> Vec<Vec<Drawn>> {
        let mut tasks = JoinSet::new();
        for name in self.databases.keys() {
            let world = Arc::clone(self);
            let name = name.clone();
            let seeds = seeds.to_vec();
            let knobs = knobs.clone();
            tasks.spawn(async move { world.draw_for_database(&name, &seeds, &knobs).await });
        }
        let mut all: Vec<Vec<Drawn>> = vec![Vec::new(); seeds.len()];
        for found in tasks.join_all().await {
            found.into_iter().enumerate().for_each(|(at, drawn)| all[at].extend(drawn));
        }
        all.iter_mut().for_each(|drawn| drawn.sort_by(|one, other| one.id.cmp(&other.id)));
        all
    }

    async fn draw_for_database(
        &self,
        name: &str,
        seeds: &[u64],
        knobs: &SimulatedKnobs,
    ) -> Vec<Vec<Drawn>> {
        let database = &self.databases[name];
        let catalog = database.catalog().await.unwrap();
        let mut all = Vec::new();
        for seed in seeds {
            let provider = provider(&self.suite, database, *seed, knobs.clone());
            let mut drawn = Vec::new();
            for question in self.suite.questions().iter().filter(|question| question.db == name) {
                let mut known = Known::new(question, database).await;
                let mut samples = Vec::new();
                for sample in 0..SAMPLES {
                    let call =
                        call(&question.question, &catalog, Purpose::Generate, sample, Vec::new());
                    samples.push(known.answer(answer(&provider, &call).await.unwrap().0).await);
                }
                let chain = chain(&provider, question, &catalog, &mut known).await;
                drawn.push(Drawn { id: question.id.clone(), samples, chain });
            }
            all.push(drawn);
        }
        all
    }
}

/// Three statements, each after the first a repair of those before it.
async fn chain(
    provider: &syrch_simulated::SimulatedProvider,
    question: &SimulatedQuestion,
    catalog: &Arc<Catalog>,
    known: &mut Known,
) -> Vec<Answer> {
    let mut chain = Vec::new();
    let mut tried = Vec::new();
    for number in 0..3 {
        let purpose = if number == 0 { Purpose::Generate } else { Purpose::Repair };
        let call = call(&question.question, catalog, purpose, 0, tried.clone());
        let sql = answer(provider, &call).await.unwrap().0;
        tried.push(sql.clone());
        chain.push(known.answer(sql).await);
    }
    chain
}

/// The outcomes of statements, each run once.
struct Known {
    database: Arc<dyn Database>,
    golds: Vec<ResultSet>,
    ordered: bool,
    outcomes: BTreeMap<String, (Execution, bool)>,
}

impl Known {
    async fn new(question: &SimulatedQuestion, database: &Arc<dyn Database>) -> Self {
        let mut golds = Vec::new();
        for gold in &question.golds {
            golds.push(database.run(&SqlQuery::new(gold)).await.unwrap());
        }
        Self {
            database: Arc::clone(database),
            golds,
            ordered: question.ordered,
            outcomes: BTreeMap::new(),
        }
    }

    async fn answer(&mut self, sql: String) -> Answer {
        if !self.outcomes.contains_key(&sql) {
            let outcome = match self.database.run(&SqlQuery::new(&sql)).await {
                Err(_) => (Execution::Failed, false),
                Ok(result) if result.row_count() == 0 => (Execution::Empty, false),
                Ok(result) => {
                    let print = result.fingerprint(&Equality::Bag, 0).unwrap();
                    let is_right = bag_v1_any(&self.golds, &result, self.ordered).is_right();
                    (Execution::Rows(print.as_bytes().try_into().unwrap()), is_right)
                }
            };
            self.outcomes.insert(sql.clone(), outcome);
        }
        let (outcome, is_right) = self.outcomes[&sql].clone();
        Answer { system: NAME.to_owned(), sql, is_right, outcome }
    }
}

const NAME: &str = "simulated";

/// The ways of the table in the design: those of the kit, all samples, and the best of all samples.
pub(crate) fn gates() -> Vec<Sampler> {
    let all = Sampler { name: "vote16", samples: SAMPLES, agree: 0, repair: false };
    SAMPLERS.into_iter().chain([all]).collect()
}
