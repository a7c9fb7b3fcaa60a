//! Fits a calibrator on a graded run, and makes the strategy that uses it.
//!
//! A curve may only be applied to values like those that it was fitted on. Three things follow from
//! that:
//!
//! - It is fitted on the confidences that the calibrator `signals` gave to the answers of the run.
//!   The calibrator `fitted` computes the same confidences and applies the curve to them.
//! - The strategy's threshold is moved along the curve, so that a search stops where it stopped in
//!   the run.
//! - The aggregator `evidence` lowers no confidence any more, since its doubts are part of the
//!   shares that the curve was fitted on.
//!
//! The confidence of an answer then is the value of the curve. A model can notice that only where a
//! prompt quotes a confidence.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use syrch::Error;
use syrch::databases::database_name;
use syrch::internal::{BASIS, Basis, model_name};
use syrch::settings::PluginSource;
use syrch::strategies::{Definition, LIMITS, Part};
use syrch_core::DatabaseUrl;
use syrch_core::ports::Policy;
use syrch_core::roles::Role;
use syrch_grade::Verdict;
use syrch_grade::calibrate::{
    Bands, CalibrateError, Curve, LEAST_ISOTONIC, Method, Point, Report, bands, cross_validate,
};
use syrch_grade::run::{Arm, End, Graded, RunRecord};

/// The calibrator on whose confidences a curve is fitted.
const MEASURED: &str = "signals";
/// The calibrator that applies a curve.
const FITTED: &str = "fitted";
/// Settings of [`FITTED`] that are not those of [`MEASURED`].
const CURVE: [&str; 6] = ["method", "thresholds", "values", "slope", "intercept", BASIS];
/// The aggregator that lowers the confidence of doubtful answers.
const DOUBTING: &str = "evidence";
/// The settings of [`DOUBTING`] that, at 0, keep it from doing so.
const DOUBTS: [&str; 2] = ["ambiguity", "cap"];
/// The greatest length of a strategy's name, in bytes.
const NAME: usize = 64;

/// The result of [`calibrate`].
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The id of the graded run.
    pub run: String,
    /// The name of the arm on whose answers the curve is fitted.
    pub arm: String,
    /// The comparison rule by which the answers are right or wrong.
    pub rule: String,
    /// The model that answered in the run, or what answered in place of a model.
    pub model: String,
    /// The quality of each method on held-out answers.
    pub report: Report,
    /// The method of [`Calibration::curve`].
    pub method: Method,
    /// The curve, fitted on all answers.
    pub curve: Curve,
    /// The shares that the footers of answers quote: how often answers of a confidence were right,
    /// where each confidence is that of a curve which was fitted without the answer.
    pub bands: Bands,
    /// The strategy of the arm with this calibrator.
    pub definition: Definition,
    /// The number of graded answers that are not used, since no candidate of their own was
    /// calibrated: joins of several tasks, and answers that come from a file.
    pub left_out: u64,
}

/// Fits a curve on the answers of one arm of a run. `arm` may be `None` if the run has one arm.
/// Without a `method`, the one that does best on held-out answers is used.
///
/// # Errors
/// When there is no such arm, its calibrator is not one on whose confidences a curve can be fitted,
/// or the answers are too few or too alike.
pub fn calibrate(
    record: &RunRecord,
    arm: Option<&str>,
    method: Option<Method>,
) -> Result<Calibration, Error> {
    let header = &record.header;
    let unfit = |why: String| {
        Error::Unfit(format!("the run `{}` cannot be calibrated on: {why}", header.id))
    };
    let arm = choose_arm(&header.arms, arm).map_err(unfit)?;
    let parts = Parts::from_arm(arm).map_err(unfit)?;
    let (points, left_out) = points(record, arm, &parts);
    if points.is_empty() && left_out > 0 {
        return Err(unfit(format!(
            "none of its {left_out} answers has a confidence from a calibrator; grade a \
             run of searches"
        )));
    }
    let report = cross_validate(&points).map_err(|error| unfit(error.to_string()))?;
    let method = method.unwrap_or(report.chosen);
    if method == Method::Isotonic && points.len() < LEAST_ISOTONIC {
        return Err(unfit(CalibrateError::TooFewForIsotonic { answers: points.len() }.to_string()));
    }
    let curve = Curve::fit(method, &points);
    // A curve is too sure of the answers that it was fitted on. Therefore the bands count the
    // values of curves that were fitted without them.
    let held_out = report
        .measured
        .iter()
        .find(|measured| measured.method == method)
        .map(|measured| &measured.held_out);
    let counted = points.iter().zip(held_out.into_iter().flatten());
    let bands = bands(
        counted
            .map(|(point, sure)| (point.database.as_str(), round_confidence(*sure), point.right)),
    );
    let model = header.simulated.clone().unwrap_or_else(|| parts.model.clone());
    let mut basis = Basis::new(&header.id, &header.rule, &model, &bands);
    let suite =
        Path::new(&header.suite.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    basis.suite = suite.unwrap_or_default();
    basis.over = report.databases.keys().cloned().collect();
    let definition = parts.definition(arm, &curve, &basis, points.len())?;
    Ok(Calibration {
        run: header.id.clone(),
        arm: arm.name.clone(),
        rule: header.rule.clone(),
        model,
        report,
        method,
        curve,
        bands,
        definition,
        left_out,
    })
}

fn choose_arm<'a>(arms: &'a [Arm], name: Option<&str>) -> Result<&'a Arm, String> {
    let names = || arms.iter().map(|arm| format!("`{}`", arm.name)).collect::<Vec<_>>().join(", ");
    let own: Vec<&Arm> = arms.iter().filter(|arm| arm.again.is_none()).collect();
    match (name, own.as_slice()) {
        (None, [arm]) => Ok(arm),
        (None, _) => Err(format!("it has several arms; choose one with --arm: {}", names())),
        (Some(name), _) => arms
            .iter()
            .find(|arm| arm.name == name)
            .ok_or_else(|| format!("it has no arm `{name}`, but {}", names())),
    }
}

/// The answers that a curve can be fitted on, and the number of those that have no confidence.
fn points(record: &RunRecord, arm: &Arm, parts: &Parts) -> (Vec<Point>, u64) {
    let mut left_out = 0;
    let mut points = Vec::new();
    for graded in record
        .graded
        .iter()
        .filter(|graded: &&Graded| graded.arm == arm.name && graded.end == End::Answered)
    {
        let right = match graded.verdict(&record.header.rule) {
            Some(Verdict::Right) => true,
            Some(Verdict::Wrong) => false,
            Some(Verdict::Excluded) | None => continue,
        };
        let (Some(confidence), Some(printed)) = (graded.candidate_confidence, graded.confidence)
        else {
            left_out += 1;
            continue;
        };
        let share = if confidence > 0.0 { (printed / confidence).clamp(0.0, 1.0) } else { 1.0 };
        let left = if parts.doubts() { 1.0 } else { share };
        let database = database_name(&DatabaseUrl::parse(&graded.db));
        points.push(Point { database, confidence, printed, left, right });
    }
    (points, left_out)
}

/// The confidence rounded as the aggregator `evidence` rounds it. An answer at the edge of a band
/// must be counted in the band in which it will be searched.
fn round_confidence(confidence: f64) -> f64 {
    (confidence * 1000.0).round() / 1000.0
}

/// The plugins, the policy and the model of an arm.
struct Parts {
    roles: BTreeMap<Role, (PluginSource, Map<String, Value>)>,
    policy: Policy,
    model: String,
}

impl Parts {
    fn from_arm(arm: &Arm) -> Result<Self, String> {
        if arm.settings.get("answers").is_some() {
            return Err(
                "its answers come from a file (--answers), so no strategy can be made of it"
                    .to_owned(),
            );
        }
        let mut config: BTreeMap<Role, Map<String, Value>> = setting(arm, "/strategy/config")?;
        let mut roles = BTreeMap::new();
        for plugin in &arm.plugins {
            let role = Role::ALL.into_iter().find(|role| role.name() == plugin.role);
            let role = role.ok_or_else(|| {
                format!("its arm `{}` has an unknown role `{}`", arm.name, plugin.role)
            })?;
            let config = config.remove(&role).unwrap_or_default();
            roles.insert(role, (PluginSource::parse(&plugin.source), config));
        }
        let mut parts = Self {
            roles,
            policy: setting(arm, "/policy")?,
            model: model_name(&setting(arm, "/model")?),
        };
        parts.prepare_calibrator()?;
        Ok(parts)
    }

    /// Checks that the calibrator computes the confidences that a curve will be applied to, and
    /// removes all of its settings but the weights.
    fn prepare_calibrator(&mut self) -> Result<(), String> {
        let instead =
            "only what `signals` gives can have a curve; run the suite with that calibrator";
        let Some((source, config)) = self.roles.get_mut(&Role::Calibrator) else {
            return Err(format!("its arm has no calibrator; {instead}"));
        };
        let is = |name: &str| *source == PluginSource::Builtin(name.to_owned());
        let has_curve = config.get("method").is_some_and(|method| method != "none");
        if is(FITTED) && has_curve {
            return Err(format!("its calibrator `{FITTED}` has a curve already; {instead}"));
        }
        if !is(FITTED) && !is(MEASURED) {
            return Err(format!("its calibrator is `{source}`; {instead}"));
        }
        config.retain(|key, _| !CURVE.contains(&key.as_str()));
        Ok(())
    }

    /// Returns true if the aggregator lowers the confidence of doubtful answers and has settings
    /// that stop it.
    fn doubts(&self) -> bool {
        let aggregator = self.roles.get(&Role::Aggregator).map(|(source, _)| source);
        aggregator == Some(&PluginSource::Builtin(DOUBTING.to_owned()))
    }

    fn definition(
        &self,
        arm: &Arm,
        curve: &Curve,
        basis: &Basis,
        answers: usize,
    ) -> Result<Definition, Error> {
        let mut roles = self.roles.clone();
        let config = roles.remove(&Role::Calibrator).map(|(_, config)| config).unwrap_or_default();
        let written =
            serde_json::to_value(basis).map_err(|error| Error::Internal(error.to_string()))?;
        let curve_settings = settings_of(curve).into_iter().chain([(BASIS.to_owned(), written)]);
        let config = config.into_iter().chain(curve_settings).collect();
        roles.insert(Role::Calibrator, (PluginSource::Builtin(FITTED.to_owned()), config));
        if *curve != Curve::None
            && self.doubts()
            && let Some((_, config)) = roles.get_mut(&Role::Aggregator)
        {
            config.extend(DOUBTS.map(|key| (key.to_owned(), json!(0.0))));
        }
        let roles = roles
            .into_iter()
            .map(|(role, (source, config))| (role, Part::new(source, config)))
            .collect();
        let policy = Policy {
            high_confidence: threshold(curve, self.policy.high_confidence),
            ..self.policy.clone()
        };
        let policy =
            LIMITS.iter().map(|limit| (limit.key.to_owned(), limit.get(&policy))).collect();
        let mut definition = Definition::new(&name_of(arm), roles, policy);
        let Basis { run, rule, model, databases, .. } = basis;
        definition.summary =
            format!("{}, with confidences fitted on {answers} graded answers", arm.strategy);
        definition.idea = format!(
            "Made by `calibrate fit` from the run {run}: {answers} answers of the arm {} over \
             {databases} databases, by the rule {rule}, with {model}. A confidence is how often \
             answers like it were right there.",
            arm.name
        );
        definition.when =
            "Over databases like those of the run, with the same model: the run says \
             nothing of others."
                .to_owned();
        Ok(definition)
    }
}

fn setting<T: DeserializeOwned>(arm: &Arm, pointer: &str) -> Result<T, String> {
    let value = arm.settings.pointer(pointer).cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|error| {
        let key = pointer.trim_start_matches('/').replace('/', ".");
        format!("its arm `{}` has settings that this host does not know ({key}: {error})", arm.name)
    })
}

/// The threshold of the strategy. The confidence and the threshold both follow the curve, which
/// never falls, so that a search stops where it stopped in the run.
fn threshold(curve: &Curve, high_confidence: f64) -> f64 {
    match curve {
        Curve::None => high_confidence,
        // A component's arithmetic may differ in the last digit, and a confidence at the threshold
        // must not fall below it.
        _ => ((curve.apply(high_confidence) * 1e9).floor() / 1e9).max(1e-9),
    }
}

fn settings_of(curve: &Curve) -> Map<String, Value> {
    let settings = match curve {
        Curve::None => json!({"method": "none"}),
        Curve::Isotonic(curve) => {
            json!({"method": "isotonic", "thresholds": curve.thresholds, "values": curve.values})
        }
        Curve::Logistic(curve) => {
            json!({"method": "logistic", "slope": curve.slope, "intercept": curve.intercept})
        }
    };
    settings.as_object().cloned().unwrap_or_default()
}

/// The name of the arm's strategy with `-fitted` behind it, in the characters that strategy files
/// allow.
fn name_of(arm: &Arm) -> String {
    let stem: String = arm
        .strategy
        .chars()
        .map(
            |c: char| {
                if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }
            },
        )
        .take(NAME - "-fitted".len())
        .collect();
    let stem = stem.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    format!(
        "{}-fitted",
        if stem.is_empty() { "strategy" } else { stem.trim_end_matches("-fitted") }
    )
}

#[cfg(test)]
mod tests;
