//! Role calls by language: of the plugin that each language's SDK is tested with.

use std::time::{Duration, Instant};

use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::roles::{Calibrator, Call, Role};
use syrch_core::{Limits, Signals};
use syrch_runtime::{CompileSettings, Configured, Origin, Runtime};

use crate::Outcome;
use crate::figure::Figure;
use crate::ports::nothing;
use crate::rates::{self, ROUNDS};
use crate::samples::{median, milliseconds};
use crate::world::World;

/// The languages by the names of their files in `tests/languages/built`.
const LANGUAGES: [(&str, &str); 5] =
    [("rust", "Rust"), ("c", "C"), ("js", "JavaScript"), ("go", "Go"), ("python", "Python")];

/// Calls per second of the calibrator of each language, in turns, and how long its component took
/// to compile.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let runtime = Runtime::new(Limits::default(), &CompileSettings::default())?;
    let mut figures = Vec::new();
    let mut calibrators = Vec::new();
    for (file, language) in LANGUAGES {
        match load(world, &runtime, file) {
            Ok(loaded) => {
                let figure = Figure::new(
                    format!("compiling a plugin in {language}, once"),
                    loaded.milliseconds,
                    "ms",
                );
                figures.push(figure.note(format!("{:.1} MB", loaded.megabytes)));
                calibrators.push((language, loaded.calibrator));
            }
            // One language that is not there does not keep back the others.
            Err(error) => figures.push(Figure::without_measure(what(language), error.to_string())),
        }
    }
    let mut contenders: Vec<_> =
        calibrators.iter().map(|(_, calibrator)| caller(world, calibrator)).collect();
    for ((language, _), rates) in calibrators.iter().zip(rates::measure(&mut contenders)?) {
        let rate = median(rates);
        let figure = Figure::new(what(language), rate, "calls/s");
        let figure = figure.note(format!("{:.2} ms each; median of {ROUNDS} rounds", 1e3 / rate));
        // A hundred microseconds each.
        figures.push(if *language == "Rust" { figure.at_least(10_000.0) } else { figure });
    }
    Ok(figures)
}

fn what(language: &str) -> String {
    format!("role calls of a plugin in {language}")
}

/// A plugin that was compiled.
struct Loaded {
    calibrator: Configured,
    milliseconds: f64,
    megabytes: f64,
}

fn load(world: &World, runtime: &Runtime, file: &str) -> Outcome<Loaded> {
    let component = component(file)?;
    let megabytes = component.len() as f64 / 1e6;
    let begin = Instant::now();
    let plugin =
        world.runtime.block_on(runtime.load(file, component, Origin::ThirdParty, &|| {}))?;
    let milliseconds = milliseconds(begin);
    let calibrator =
        world.runtime.block_on(plugin.configure(Role::Calibrator, &serde_json::Map::new()))?;
    Ok(Loaded { calibrator, milliseconds, megabytes })
}

/// Reads the built component; an error names the command that builds it.
fn component(file: &str) -> Outcome<Vec<u8>> {
    let name = format!("{file}.wasm.gz");
    if !syrch_kit::languages::components_folder().join(&name).is_file() {
        let builder = format!("`sh tests/languages/build.sh {file}`");
        return Err(
            format!("`tests/languages/built/{name}` is missing: {builder} builds it").into()
        );
    }
    Ok(syrch_kit::languages::component(file))
}

/// A call whose probability is checked: half of what was claimed, and a thousandth for the attempt.
fn caller<'a>(world: &'a World, calibrator: &'a Configured) -> rates::Call<'a> {
    // A budget that the rounds cannot use up.
    let budgets = Budgets { cpu: Duration::from_secs(3_600), ..Budgets::default() };
    let call = Call {
        label: "calibrator".to_owned(),
        ports: nothing(),
        ledger: Ledger::new(budgets),
        memory: None,
        cpu: None,
    };
    let claims = [(0.9, Signals { attempts: 1, max_attempts: 3, ..Signals::default() })];
    Box::new(move || {
        let calibrated = world.runtime.block_on(calibrator.calibrate(call.clone(), &claims))?;
        match calibrated[..] {
            [probability] if (probability - 0.451).abs() < 1e-9 => Ok(()),
            _ => Err(format!("the calibrator returned {calibrated:?}").into()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_component_is_named_with_what_builds_it() {
        let message = component("cobol").unwrap_err().to_string();
        assert!(
            message.starts_with("`tests/languages/built/cobol.wasm.gz` is missing"),
            "{message}"
        );
        assert!(message.ends_with("`sh tests/languages/build.sh cobol` builds it"), "{message}");
    }
}
