//! The verdicts of `spider-ex` and `bird-ex` are those of the original tools.

use std::collections::{BTreeMap, BTreeSet};

use syrch::syrch_core::SqlErrorKind;
use syrch_grade::rules::{Facts, Rule, Verdict, judge_all};

use super::recorded::{Answer, Recorded, Statements, all};

/// The verdicts that differ from the recorded ones: question, system, rule and reason. There are
/// none.
const DIFFERENT: [(&str, &str, &str, &str); 0] = [];

/// Statements that failed in the recording and run here, with the reason. Both rules called them
/// wrong, and do.
const RUNS_HERE: [(&str, &str, &str); 6] = [
    ("spider_dev_0178", "gpt4_zero_shot", OUTER),
    ("spider_dev_0231", "codex_few_shot", OUTER),
    ("spider_dev_0231", "gpt4_few_shot", OUTER),
    ("spider_dev_0232", "codex_few_shot", OUTER),
    ("spider_dev_0244", "gpt4_few_shot", OUTER),
    ("spider_dev_0698", "codex_few_shot", OUTER),
];
const OUTER: &str = "GROUP BY of a subquery names a column of the outer statement only, which \
                     SQLite has come to resolve since 3.40";

/// Statements that the guard refuses before the engine sees them, with the reason. They failed in
/// the recording too.
const REFUSED: [(&str, &str, &str); 1] = [(
    "spider_dev_0157",
    "graphix",
    "a second statement, `.030 sec`, that the system's log left behind the first",
)];

fn difference(
    question: &Recorded,
    answer: &Answer,
    rule: Rule,
    says: Verdict,
    recorded: bool,
) -> Option<String> {
    let key = (question.id.as_str(), answer.system.as_str(), rule.name());
    let is_explained = DIFFERENT.iter().any(|(id, system, name, _)| (*id, *system, *name) == key);
    let differs = says.is_right() != recorded;
    let what = if differs { "differs" } else { "is explained and does not differ" };
    (differs != is_explained)
        .then(|| format!("{key:?} {what}: {says:?}, recorded {recorded}: {}", answer.sql))
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_are_those_of_the_rules_own_tools() {
    let Some(data) = syrch_kit::data_root() else { return };
    let folder = data.join("spider");
    let questions = all(&folder);
    let mut statements = Statements::default();
    let mut pairs = 0_u32;
    let mut rules_differ = 0_u32;
    let mut orders = 0_u32;
    let mut right = BTreeMap::<&str, u32>::new();
    let mut failed = BTreeMap::<&str, u32>::new();
    let mut wrong = Vec::new();
    let mut runs_here = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for question in &questions {
        let path = folder.join("db").join(format!("{}.sqlite", question.db));
        let gold = statements.run(&path, &question.gold).await;
        let gold =
            gold.as_ref().as_ref().unwrap_or_else(|error| panic!("{}: {error}", question.id));
        let facts = Facts::new(question.ordered, Some(&question.gold));
        orders += u32::from(facts.ordered != facts.gold_has_order_by);
        let golds = [(gold.clone(), facts)];
        for answer in &question.answers {
            let outcome = statements.run(&path, &answer.sql).await;
            let judged = judge_all(&golds, outcome.as_ref().as_ref().ok());
            let verdict = |rule: Rule| judged[rule.name()].verdict;
            for rule in Rule::all() {
                *right.entry(rule.name()).or_default() += u32::from(verdict(*rule).is_right());
            }
            pairs += 1;
            rules_differ += u32::from(verdict(Rule::SPIDER_EX) != verdict(Rule::BIRD_EX));
            for (rule, recorded) in [(Rule::SPIDER_EX, answer.ex), (Rule::BIRD_EX, answer.bird_ex)]
            {
                wrong.extend(difference(question, answer, rule, verdict(rule), recorded));
            }
            let key = (question.id.clone(), answer.system.clone());
            match outcome.as_ref() {
                Ok(_) if answer.failed => drop(runs_here.insert(key)),
                Ok(_) => {}
                Err(error) => {
                    *failed.entry(error.kind.name()).or_default() += 1;
                    assert!(answer.failed, "{key:?} once ran: {error}");
                    if error.kind.is_refusal() {
                        refused.insert(key.clone());
                    }
                    let is_limit =
                        matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::TooLarge);
                    assert!(!is_limit, "{key:?} was stopped: {error}");
                }
            }
        }
    }
    println!(
        "{pairs} answers to {} questions, {} statements; failed: {failed:?}",
        questions.len(),
        statements.count()
    );
    println!(
        "right: {right:?}; spider-ex and bird-ex differ on {rules_differ}; {orders} orders asked \
         for otherwise"
    );
    assert_eq!(pairs, 522 * 16);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    fn keys(table: &[(&str, &str, &str)]) -> BTreeSet<(String, String)> {
        table.iter().map(|(id, system, _)| ((*id).to_owned(), (*system).to_owned())).collect()
    }
    assert_eq!((runs_here, refused), (keys(&RUNS_HERE), keys(&REFUSED)));
    // 4.1 % of these answers; 5.2 % of those to all 919 questions.
    assert_eq!(rules_differ, 346);
}
