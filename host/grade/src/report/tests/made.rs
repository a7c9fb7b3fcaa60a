//! Runs that were never run: answers made from a seed, so that a report on them is always the same.

use std::collections::BTreeMap;

use serde_json::json;
use syrch_basics::Random;

use crate::Verdict;
use crate::run::{
    Arm, Cost, End, Fault, Graded, Header, Judged, PluginOfArm, RUN_FORMAT, SuiteOfRun,
};

pub(crate) const DATABASES: [&str; 12] = [
    "car_1",
    "concert_singer",
    "cre_Doc_Template_Mgt",
    "dog_kennels",
    "flight_2",
    "network_1",
    "pets_1",
    "student_transcripts",
    "tvshow",
    "voter_1",
    "world_1",
    "wta_1",
];

/// Numbers from 0 to 1.
struct Dice(Random);

impl Dice {
    fn next(&mut self) -> f64 {
        (self.0.number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub(crate) fn header(arms: &[&str], questions: u64) -> Header {
    Header {
        format: RUN_FORMAT.into(),
        id: "20260101T000000-0001".into(),
        host: "0.1.0".into(),
        suite: SuiteOfRun {
            path: "suites/spider.jsonl".into(),
            digest: "cd".repeat(32),
            questions,
        },
        arms: arms
            .iter()
            .map(|name: &&str| Arm {
                name: (*name).to_owned(),
                strategy: format!("{name}-strategy"),
                plugins: vec![PluginOfArm {
                    role: "planner".into(),
                    source: "direct".into(),
                    digest: "ab".repeat(32),
                }],
                settings: json!({"model": "mock", "samples": 5}),
                again: None,
            })
            .collect(),
        databases: DATABASES.iter().map(|db| ((*db).to_owned(), "ef".repeat(32))).collect(),
        rule: "bag-v1".into(),
        shard: None,
        seed: 7,
        fuzz: None,
        simulated: None,
        stop_early: false,
    }
}

/// A right or wrong answer under both of two rules.
pub(crate) fn answer(arm: &str, place: u64, verdict: Verdict) -> Graded {
    let judged = Judged { verdict, fingerprint: Some(format!("{place}")) };
    let verdicts = ["bag-v1", "spider-ex"].map(|rule| (rule.to_owned(), judged.clone()));
    Graded {
        arm: arm.into(),
        id: format!("q{place:04}"),
        place,
        db: DATABASES[place as usize % DATABASES.len()].into(),
        question: format!("How many singers are there in band {place}?"),
        fields: BTreeMap::from([(
            "difficulty".to_owned(),
            ["easy", "medium", "hard", "extra"][place as usize % 4].to_owned(),
        )]),
        turn: None,
        end: End::Answered,
        origin: None,
        fault: None,
        sql: Some(format!("SELECT count(*) FROM singer WHERE band = {place}")),
        gold_sql: Some(format!("SELECT COUNT(*) FROM singer WHERE band_id = {place}")),
        verdicts: verdicts.into_iter().collect(),
        gold_fault: None,
        soft_f1: Some(if verdict.is_right() { 1.0 } else { 0.25 }),
        rows: Some(1),
        gold_rows: Some(1),
        confidence: None,
        candidate_confidence: None,
        judgements: Vec::new(),
        access: Vec::new(),
        cost: Cost {
            calls: 1,
            cached: 0,
            input_tokens: 800,
            output_tokens: 60,
            usd: Some(0.001),
            sql_runs: 1,
        },
        time_ms: 250.0,
        retried: false,
        run: Some(format!("run-{arm}-{place}")),
    }
}

/// An arm: how often it is right, and how many calls it takes.
#[derive(Clone, Copy)]
pub(crate) struct Skill {
    pub(crate) name: &'static str,
    pub(crate) right: f64,
    pub(crate) calls: u32,
}

pub(crate) const SKILLS: [Skill; 3] = [
    Skill { name: "one-sample", right: 0.72, calls: 1 },
    Skill { name: "vote-of-5", right: 0.8, calls: 5 },
    Skill { name: "repair", right: 0.75, calls: 2 },
];

/// A run as a real one is: errors, unknown confidences, slow answers, disagreeing rules.
pub(crate) fn run(skills: &[Skill], questions: u64) -> (Header, Vec<Graded>) {
    let mut graded = Vec::new();
    for place in 0..questions {
        // How hard the question is, for all arms.
        let hard = Dice(Random::new(place.wrapping_mul(31))).next();
        for (arm, skill) in skills.iter().enumerate() {
            let mut dice = Dice(Random::new(place * 1_000 + arm as u64));
            graded.push(one(skill, place, hard, &mut dice));
        }
    }
    (header(&skills.iter().map(|skill| skill.name).collect::<Vec<_>>(), questions), graded)
}

fn one(skill: &Skill, place: u64, hard: f64, dice: &mut Dice) -> Graded {
    let mut chance = (skill.right + (0.5 - hard) * 0.9).clamp(0.02, 0.98);
    if place % 4 == 3 {
        chance *= 0.7;
    }
    let is_right = dice.next() < chance;
    let verdict = if dice.next() < 0.01 {
        Verdict::Excluded
    } else if is_right {
        Verdict::Right
    } else {
        Verdict::Wrong
    };
    let mut graded = answer(skill.name, place, verdict);
    if dice.next() < 0.05
        && let Some(judged) = graded.verdicts.get_mut("spider-ex")
    {
        judged.verdict = if is_right { Verdict::Wrong } else { Verdict::Right };
    }
    graded.confidence = (dice.next() > 0.03)
        .then(|| (chance * 0.6 + 0.35 + 0.2 * (dice.next() - 0.5)).clamp(0.0, 1.0));
    graded.cost.calls = (1.0 + f64::from(skill.calls) * dice.next()) as u32;
    graded.cost.cached = (f64::from(skill.calls) * dice.next() * 0.5) as u32;
    graded.cost.usd = Some(0.0004 * f64::from(graded.cost.calls));
    graded.time_ms = 120.0 * f64::from(skill.calls) * (0.5 + dice.next() * dice.next() * 4.0);
    let fate = dice.next();
    if !is_right && fate < 0.3 {
        fail(
            &mut graded,
            if fate < 0.1 { End::NoAnswer } else { End::Failed },
            if fate < 0.2 { "database" } else { "model" },
        );
    }
    graded
}

/// Makes an answer end without one: wrong under every rule.
pub(crate) fn fail(graded: &mut Graded, end: End, class: &str) {
    graded.end = end;
    (graded.sql, graded.soft_f1, graded.rows, graded.confidence) = (None, None, None, None);
    graded
        .verdicts
        .values_mut()
        .for_each(|judged| *judged = Judged { verdict: Verdict::Wrong, fingerprint: None });
    if end == End::Failed {
        graded.fault =
            Some(Fault { class: class.into(), message: format!("the {class} did not answer") });
    }
}
