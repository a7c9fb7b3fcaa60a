//! R-VES: the reward for statements that are right and quick.

/// The greatest distance of a measurement from the mean, in standard deviations.
const SIGMAS: f64 = 3.0;

/// Returns how many times as fast as the expected statement a prediction is, from repeated
/// measurements of both in seconds, taken in turn: the mean of the ratios, those three standard
/// deviations or more from their mean left out (`clean_abnormal` and `iterated_execute_sql` in the
/// `evaluation_ves.py` of BIRD's mini-dev). Above 1 the prediction is the quicker. `None` if there
/// is no pair of positive finite times.
///
/// If all ratios are the same, the original leaves all of them out and gives nothing; here none is
/// left out.
#[must_use]
pub fn time_ratio(gold_times: &[f64], predicted_times: &[f64]) -> Option<f64> {
    fn is_valid_time(time: &f64) -> bool {
        time.is_finite() && *time > 0.0
    }
    let pairs = gold_times
        .iter()
        .zip(predicted_times)
        .filter(|(gold, predicted)| is_valid_time(gold) && is_valid_time(predicted));
    let ratios: Vec<f64> = pairs.map(|(gold, predicted)| gold / predicted).collect();
    let average = mean(&ratios)?;
    let squares: Vec<f64> = ratios.iter().map(|ratio| (ratio - average).powi(2)).collect();
    let reach = SIGMAS * mean(&squares)?.sqrt();
    let usual: Vec<f64> =
        ratios.iter().copied().filter(|ratio| (ratio - average).abs() < reach).collect();
    mean(&usual).or(Some(average))
}

/// The reward for one right answer by its [`time_ratio`] (the same source): 1.25 when it is at
/// least twice as quick as the expected statement, 1 when as quick, 0.75 down to half, 0.5 down to
/// a quarter, else 0.25.
#[must_use]
pub fn reward(ratio: f64) -> f64 {
    const STEPS: [(f64, f64); 4] = [(2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5)];
    STEPS.iter().find(|(from, _)| ratio >= *from).map_or(0.25, |(_, reward)| *reward)
}

/// R-VES of a whole run, in percent: the mean over all questions of the square root of each
/// [`reward`] (`compute_ves`, the same source); a question that was not answered rightly (`None`)
/// has 0. From 0 to 111.8; 0 over no questions.
#[must_use]
pub fn r_ves(ratios: &[Option<f64>]) -> f64 {
    let roots: Vec<f64> =
        ratios.iter().map(|ratio| ratio.map_or(0.0, |ratio| reward(ratio).sqrt())).collect();
    mean(&roots).unwrap_or(0.0) * 100.0
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_go_by_steps() {
        let rewards = [3.0, 2.0, 1.99, 1.0, 0.99, 0.5, 0.49, 0.25, 0.24].map(reward);
        assert_eq!(rewards, [1.25, 1.25, 1.0, 1.0, 0.75, 0.75, 0.5, 0.5, 0.25]);
    }

    #[test]
    fn the_score_is_the_mean_root_of_the_rewards() {
        let score = r_ves(&[Some(2.5), Some(1.1), Some(0.3), None]);
        assert!((score - 100.0 * (1.25_f64.sqrt() + 1.0 + 0.5_f64.sqrt()) / 4.0).abs() < 1e-9);
        assert!((r_ves(&[Some(9.0)]) - 111.803_398_874).abs() < 1e-6);
        assert_eq!((r_ves(&[]), r_ves(&[None])), (0.0, 0.0));
    }

    #[test]
    fn outliers_are_dropped() {
        let mut gold = vec![1.0; 30];
        let predicted = vec![0.5; 30];
        assert_eq!(time_ratio(&gold, &predicted), Some(2.0));
        gold[7] = 100.0;
        let ratio = time_ratio(&gold, &predicted).unwrap();
        assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
        // Of few measurements none can lie three deviations away.
        assert_eq!(time_ratio(&[1.0, 3.0], &[1.0, 1.0]), Some(2.0));
    }

    #[test]
    fn what_was_not_measured_has_no_ratio() {
        assert_eq!(time_ratio(&[], &[]), None);
        assert_eq!(time_ratio(&[1.0], &[0.0]), None);
        assert_eq!(time_ratio(&[1.0, f64::NAN], &[0.5, 1.0]), Some(2.0));
    }
}
