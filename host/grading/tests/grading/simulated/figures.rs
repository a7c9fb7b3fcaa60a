//! The figures of the simulated model over 522 questions, compared with those of the recorded
//! answers.

use std::collections::BTreeMap;

use syrch_grade::report::plausible::{Plausibility, Sampled, beyond_reach, plausible};
use syrch_kit::recorded::{Answer, Execution, Question};
use syrch_simulated::SimulatedKnobs;

use super::drawn::{Drawn, World, gates};

/// The number of seeds of a band.
const SEEDS: [u64; 4] = [0, 1, 2, 3];
/// The number of orders of the recorded answers over which figures are averaged.
const ORDERS: u64 = 30;
/// The greatest distance of a figure from that of the recorded answers.
const NEAR: f64 = 0.03;

/// A share of right answers and a mean number of calls by the way to sample.
type Figures = BTreeMap<&'static str, (f64, f64)>;

fn figures(drawn: &[Drawn]) -> Figures {
    let count = drawn.len() as f64;
    let mut figures: Figures = gates()
        .iter()
        .map(|gate: &syrch_kit::recorded::Sampler| {
            let taken: Vec<_> = drawn.iter().map(|one| one.take(gate)).collect();
            let right = taken
                .iter()
                .filter(|taken| taken.answer.is_some_and(|answer| answer.is_right))
                .count();
            let calls: u32 = taken.iter().map(|taken| taken.calls).sum();
            (gate.name, (right as f64 / count, f64::from(calls) / count))
        })
        .collect();
    let solved =
        drawn.iter().filter(|one| one.samples.iter().any(|answer| answer.is_right)).count();
    figures.insert("oracle16", (solved as f64 / count, 16.0));
    figures
}

/// The figures of the recorded answers in the order of a seed.
fn draw_recorded(questions: &[Question], seed: u64) -> Vec<Drawn> {
    questions
        .iter()
        .map(|question: &Question| {
            let order: Vec<Answer> = question.order(seed).into_iter().cloned().collect();
            Drawn { id: question.id.clone(), chain: order.clone(), samples: order }
        })
        .collect()
}

/// The means over runs.
fn mean(runs: &[Figures]) -> Figures {
    let count = runs.len() as f64;
    runs[0]
        .keys()
        .map(|name: &&'static str| {
            let sums = runs
                .iter()
                .map(|run| run[name])
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            (*name, (sums.0 / count, sums.1 / count))
        })
        .collect()
}

/// The shares of wrong answers that fail, of the others those that have no rows, and of pairs of
/// executed ones those that are the same.
fn shares(drawn: &[Drawn]) -> (f64, f64, f64) {
    let mut failed = 0;
    let mut empty = 0;
    let mut wrong = 0;
    let mut same = 0;
    let mut pairs = 0;
    for one in drawn {
        let own: Vec<&Execution> = one
            .samples
            .iter()
            .filter(|answer| !answer.is_right)
            .map(|answer| &answer.outcome)
            .collect();
        let executed: Vec<&Execution> =
            own.iter().copied().filter(|outcome| **outcome != Execution::Failed).collect();
        wrong += own.len();
        failed += own.len() - executed.len();
        empty += executed.iter().filter(|outcome| ***outcome == Execution::Empty).count();
        for (at, outcome) in executed.iter().enumerate() {
            pairs += at;
            same += executed[..at].iter().filter(|other| *other == outcome).count();
        }
    }
    (
        failed as f64 / wrong as f64,
        empty as f64 / (wrong - failed) as f64,
        same as f64 / pairs as f64,
    )
}

/// Returns what the report finds on several samples of each question.
fn plausibility(drawn: &[Drawn], samples: usize) -> Plausibility {
    let text = |outcome: &Execution| match outcome {
        Execution::Failed => None,
        Execution::Empty => Some("empty".to_owned()),
        Execution::Rows(rows) => Some(format!("{rows:?}")),
    };
    let texts: Vec<Vec<(Option<String>, bool)>> = drawn
        .iter()
        .map(|one| {
            one.samples
                .iter()
                .take(samples)
                .map(|answer| (text(&answer.outcome), answer.is_right))
                .collect()
        })
        .collect();
    let groups: Vec<Vec<Sampled<'_>>> = texts
        .iter()
        .map(|group| {
            group
                .iter()
                .map(|(result, is_right)| Sampled {
                    result: result.as_deref(),
                    is_right: *is_right,
                })
                .collect()
        })
        .collect();
    plausible(groups.iter().map(Vec::as_slice))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn the_figures_are_those_of_recorded_systems() {
    let Some(data) = syrch_kit::data_root() else { return };
    let folder = data.join("spider");
    let questions = syrch_kit::recorded::questions(&folder);
    let replay: Vec<_> =
        (0..ORDERS).map(|seed| figures(&draw_recorded(&questions, seed))).collect();
    let replay = mean(&replay);
    let all = World::open(&folder).await.draw(&SEEDS, &SimulatedKnobs::default()).await;
    let runs: Vec<Figures> = all.iter().map(|drawn| figures(drawn)).collect();
    let simulated = mean(&runs);
    for (name, (right, calls)) in &simulated {
        let (replayed, replayed_calls) = replay[name];
        let band: Vec<f64> = runs.iter().map(|run| run[name].0).collect();
        println!(
            "{name}: {right:.4} right with {calls:.2} calls, {replayed:.4} with \
             {replayed_calls:.2} by replay; band {band:.4?}"
        );
        assert!((right - replayed).abs() <= NEAR, "{name}");
        assert!(
            band.iter().all(|right| (right - replayed).abs() <= NEAR),
            "{name} under each seed"
        );
        assert!((calls - replayed_calls).abs() <= 0.25, "{name}");
    }
    let drawn: Vec<Drawn> = all.iter().flatten().cloned().collect();
    let (failed, empty, same) = shares(&drawn);
    println!(
        "of wrong answers {failed:.3} fail; of the others {empty:.3} are empty, and pairs of them \
         {same:.3} the same"
    );
    assert!((failed - 0.126).abs() <= 0.03, "{failed}");
    assert!((empty - 0.183).abs() <= 0.03, "{empty}");
    assert!((0.54..=0.70).contains(&same), "{same}");
    assert!(
        drawn
            .iter()
            .flat_map(|one| &one.samples)
            .all(|answer| !answer.is_right || answer.outcome != Execution::Empty)
    );
    for drawn in &all {
        for samples in [5, 16] {
            let found = plausibility(drawn, samples);
            assert_eq!(found.too_good, Vec::<String>::new(), "{found:?}");
        }
    }
    // The oracle knows what is right; nothing else gets so far.
    let others = simulated.iter().filter(|(name, _)| **name != "oracle16");
    assert!(
        others
            .map(|(_, (right, _))| (right * 522.0) as u64)
            .all(|right| beyond_reach(right, 522).is_none())
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn the_naive_model_makes_every_search_look_perfect_and_is_found_out() {
    let Some(data) = syrch_kit::data_root() else { return };
    let knobs = SimulatedKnobs { naive: true, ..SimulatedKnobs::default() };
    let all = World::open(&data.join("spider")).await.draw(&SEEDS[..2], &knobs).await;
    for drawn in &all {
        let found = figures(drawn);
        println!("naive: {found:?}");
        assert!((found["single"].0 - 0.82).abs() <= 0.03);
        for name in ["vote5", "gate2of5", "gate3of9", "vote16", "oracle16"] {
            assert!(found[name].0 >= 0.98, "{name}: {}", found[name].0);
            assert!(beyond_reach((found[name].0 * 522.0).round() as u64, 522).is_some(), "{name}");
        }
        assert!(shares(drawn).2 < 0.1);
        assert_eq!(plausibility(drawn, 5).too_good.len(), 2);
        assert_eq!(plausibility(drawn, 16).too_good.len(), 2);
    }
}

/// With the difficulty that was measured over all 919 questions, which the skill stands for here,
/// the figures are those of the design.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `make figures` makes it"]
async fn less_skill_gives_the_figures_of_harder_questions() {
    let Some(data) = syrch_kit::data_root() else { return };
    let knobs = SimulatedKnobs { skill: -0.25, ..SimulatedKnobs::default() };
    let all = World::open(&data.join("spider")).await.draw(&SEEDS[..2], &knobs).await;
    let found = mean(&all.iter().map(|drawn| figures(drawn)).collect::<Vec<_>>());
    for (name, design) in [
        ("single", 0.793),
        ("retry3", 0.831),
        ("vote5", 0.871),
        ("gate2of5", 0.866),
        ("gate3of9", 0.879),
        ("vote16", 0.882),
        ("oracle16", 0.958),
    ] {
        println!("{name}: {:.4}, {design} in the design", found[name].0);
        assert!((found[name].0 - design).abs() <= NEAR, "{name}: {}", found[name].0);
    }
}
