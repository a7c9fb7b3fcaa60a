//! The result of a call: a right answer or one of the wrong ones, and the confidence that is
//! claimed for it.

use syrch_core::ports::{Purpose, Request};

use super::chance::Chance;
use super::difficulty::{logit, mean, sigmoid};
use super::knobs::SimulatedKnobs;

/// The exponent s of the weights of wrong answers: the n-th of a menu has the weight n⁻ˢ (Zipf).
/// For the recorded systems s is 2.3 to 2.8.
const ZIPF: f64 = 2.5;

/// The answer that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawn {
    /// The expected statement was drawn.
    Right,
    /// The wrong answer at this place of the menu; `None` if the menu is empty.
    Wrong(Option<usize>),
}

/// The source of all draws of a call: equal calls have equal draws, whatever calls were made
/// before.
pub(super) fn source(seed: u64, question: &str, request: &Request) -> Chance {
    let seed = seed.to_le_bytes();
    let sample = request.sample.to_le_bytes();
    let parts = [
        seed.as_slice(),
        question.as_bytes(),
        request.purpose.name().as_bytes(),
        sample.as_slice(),
    ];
    let messages = request.messages.iter().map(|message| message.text.as_bytes());
    let subjects = request.subjects.iter().map(|sql| sql.as_bytes());
    let count = (request.messages.len() as u64).to_le_bytes();
    Chance::from_parts(parts).and([count.as_slice()]).and(messages).and(subjects)
}

/// The probability that a sample of a question with that ease is right.
pub(super) fn probability(knobs: &SimulatedKnobs, ease: f64) -> f64 {
    let odds = if knobs.naive { logit(mean()) } else { ease };
    sigmoid(odds + knobs.skill)
}

/// Draws an answer. `can_be_right` is whether the call shows all tables and columns of the expected
/// statement, and `wrong` the number of wrong answers in the menu.
pub(super) fn draw(
    knobs: &SimulatedKnobs,
    ease: f64,
    source: &Chance,
    request: &Request,
    can_be_right: bool,
    wrong: usize,
) -> Drawn {
    let is_lucky = source.uniform("right") < probability(knobs, ease);
    let is_repaired =
        request.purpose == Purpose::Repair && source.uniform("repair") < knobs.repair_rate;
    if can_be_right && (is_lucky || is_repaired) {
        return Drawn::Right;
    }
    if knobs.naive {
        // Each sample has a wrong answer of its own, as long as there are any.
        let turn = (request.sample as usize).saturating_add(request.subjects.len());
        return Drawn::Wrong(turn.checked_rem(wrong));
    }
    let weights: Vec<f64> = (1..=wrong).map(|rank| (rank as f64).powf(-ZIPF)).collect();
    Drawn::Wrong(source.pick("menu", &weights))
}

/// The claimed confidence, 0.01 to 0.99 in hundredths: the probability of being right, with the
/// bias and the noise of the settings.
pub(super) fn claim(knobs: &SimulatedKnobs, ease: f64, source: &Chance) -> f64 {
    let noise = knobs.confidence_spread * source.normal("claim");
    let odds =
        logit(probability(knobs, ease).clamp(1e-6, 1.0 - 1e-6)) + knobs.confidence_bias + noise;
    (sigmoid(odds) * 100.0).round().clamp(1.0, 99.0) / 100.0
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Message, Shape, Speaker};

    use super::*;

    fn request(purpose: Purpose, sample: u32) -> Request {
        Request {
            sample,
            ..Request::new(
                purpose,
                vec![Message { speaker: Speaker::User, text: "Write SQL.".to_owned() }],
                Shape::Sql,
            )
        }
    }

    /// Draws 2,000 samples.
    fn all(knobs: &SimulatedKnobs, ease: f64, purpose: &Purpose, can_be_right: bool) -> Vec<Drawn> {
        (0..2_000)
            .map(|sample| {
                let request = request(purpose.clone(), sample);
                draw(knobs, ease, &source(1, "q", &request), &request, can_be_right, 6)
            })
            .collect()
    }

    fn share(drawn: &[Drawn], of: Drawn) -> f64 {
        drawn.iter().filter(|one| **one == of).count() as f64 / drawn.len() as f64
    }

    #[test]
    fn the_source_is_all_that_a_call_asks() {
        let base = request(Purpose::Generate, 0);
        let of = |seed, question, request: &Request| source(seed, question, request).uniform("x");
        let first = of(1, "q", &base);
        assert_eq!(first, of(1, "q", &base.clone()));
        let mut prompt = base.clone();
        prompt.messages[0].text += "!";
        let mut tried = base.clone();
        tried.subjects.push("SELECT 1".to_owned());
        let others = [
            of(2, "q", &base),
            of(1, "r", &base),
            of(1, "q", &request(Purpose::Repair, 0)),
            of(1, "q", &request(Purpose::Generate, 1)),
            of(1, "q", &prompt),
            of(1, "q", &tried),
        ];
        assert!(!others.contains(&first), "{others:?}");
    }

    #[test]
    fn right_answers_come_as_often_as_they_should_and_wrong_ones_by_their_ranks() {
        let knobs = SimulatedKnobs::default();
        let drawn = all(&knobs, logit(0.6), &Purpose::Generate, true);
        assert!((share(&drawn, Drawn::Right) - 0.6).abs() < 0.03);
        let wrong: Vec<Drawn> = drawn.into_iter().filter(|one| *one != Drawn::Right).collect();
        let first = share(&wrong, Drawn::Wrong(Some(0)));
        let all_ranks: f64 = (1..=6).map(|rank| f64::from(rank).powf(-ZIPF)).sum();
        assert!((first - 1.0 / all_ranks).abs() < 0.04, "{first}");
        let skilled = all(
            &SimulatedKnobs { skill: 1.0, ..knobs.clone() },
            logit(0.6),
            &Purpose::Generate,
            true,
        );
        assert!((share(&skilled, Drawn::Right) - sigmoid(logit(0.6) + 1.0)).abs() < 0.03);
        let never = all(&knobs, logit(0.999), &Purpose::Generate, false);
        assert_eq!(share(&never, Drawn::Right), 0.0);
    }

    #[test]
    fn repairs_are_right_as_often_as_set() {
        let knobs = SimulatedKnobs { repair_rate: 0.5, ..SimulatedKnobs::default() };
        fn share_of(knobs: &SimulatedKnobs, purpose: Purpose) -> f64 {
            share(&all(knobs, logit(0.4), &purpose, true), Drawn::Right)
        }
        assert!((share_of(&knobs, Purpose::Generate) - 0.4).abs() < 0.03);
        assert!((share_of(&knobs, Purpose::Repair) - 0.7).abs() < 0.03);
    }

    #[test]
    fn the_naive_one_knows_no_difficulty_and_no_two_wrong_answers_alike() {
        let knobs = SimulatedKnobs { naive: true, ..SimulatedKnobs::default() };
        for ease in [-5.0, 5.0] {
            assert!(
                (share(&all(&knobs, ease, &Purpose::Generate, true), Drawn::Right) - mean()).abs()
                    < 0.03
            );
        }
        assert_eq!(
            (0..7)
                .map(|sample| {
                    let request = request(Purpose::Generate, sample);
                    draw(&knobs, 0.0, &source(1, "q", &request), &request, false, 6)
                })
                .collect::<Vec<_>>()[..6],
            (0..6).map(|at| Drawn::Wrong(Some(at))).collect::<Vec<_>>()
        );
        let request = request(Purpose::Generate, 0);
        assert_eq!(
            draw(&knobs, 0.0, &source(1, "q", &request), &request, false, 0),
            Drawn::Wrong(None)
        );
    }

    #[test]
    fn claims_follow_what_is_true_their_bias_and_their_spread() {
        fn claims(knobs: &SimulatedKnobs) -> Vec<f64> {
            (0..500)
                .map(|sample| {
                    claim(knobs, logit(0.6), &source(1, "q", &request(Purpose::Generate, sample)))
                })
                .collect()
        }
        let exact = SimulatedKnobs { confidence_spread: 0.0, ..SimulatedKnobs::default() };
        assert!(claims(&exact).iter().all(|claim| *claim == 0.6));
        let biased = SimulatedKnobs { confidence_bias: 2.0, ..exact.clone() };
        assert!(claims(&biased).iter().all(|claim| *claim == 0.92));
        let spread = claims(&SimulatedKnobs { confidence_spread: 1.0, ..exact });
        let low = spread.iter().copied().fold(1.0, f64::min);
        let high = spread.iter().copied().fold(0.0, f64::max);
        assert!(
            low < 0.3 && high > 0.85 && spread.iter().all(|claim| (0.01..=0.99).contains(claim)),
            "{low} {high}"
        );
    }
}
