//! `doctor`: checks everything that a search needs, and reports the state of each part and how to
//! fix it.

mod advisories;
mod endpoint;
mod folders;
mod inputs;
mod machine;
mod probe;
mod sandbox;

use clap::Args;

use super::Run;
use crate::config::Given;
use crate::config::flags::Flags;
use serde_json::{Value, json};
use syrch::databases::role_sql;

use super::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, terminal};

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Searches work, something else may not.
    Warn,
    /// Searches do not work as they are configured.
    Fail,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// The result of the check of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    /// The name of the part.
    name: &'static str,
    /// The state of the part.
    state: State,
    /// The result in a few words, or the message of the error.
    detail: String,
    /// The way to fix it: a command, or an instruction.
    fix: Option<String>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, state: State::Ok, detail: detail.into(), fix: None }
    }

    fn warn(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, state: State::Warn, detail: detail.into(), fix: Some(fix.into()) }
    }

    fn fail(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Fail, ..Self::warn(name, detail, fix) }
    }

    /// The check of a part that would end a search with this failure.
    fn from_failure(name: &'static str, failure: Failure) -> Self {
        Self { name, state: State::Fail, detail: failure.message, fix: failure.hint }
    }
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Print the statements that make a role which only reads the database of --db, for an
    /// administrator to run; of these schemas, with commas between them [default: public]
    #[arg(
        long, value_name = "SCHEMAS", num_args = 0..=1, require_equals = true,
        default_missing_value = "public", value_delimiter = ','
    )]
    pub(crate) print_role_sql: Option<Vec<String>>,
    /// Measure the model endpoint, too, by some seven short calls, which may cost money: its speed,
    /// its context, how many calls it serves at once, whether it obeys a JSON schema, and which
    /// flags follow from that
    #[arg(long)]
    pub(crate) probe: bool,
    /// Run hostile plugins, and nothing else: print how each was contained. It takes half a minute,
    /// and needs neither a database nor a model
    #[arg(long, conflicts_with_all = ["probe", "print_role_sql"])]
    pub(crate) sandbox: bool,
    /// The mistake in the configuration, found before any check.
    #[arg(skip)]
    pub(crate) broken: Option<Failure>,
    /// Flags of a search, to see what they would do.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl Run for DoctorArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    fn shows_broken(&mut self, failure: &Failure) -> bool {
        self.broken = Some(failure.clone());
        self.print_role_sql.is_none()
    }

    async fn run(self, context: Context) -> Outcome {
        if let Some(schemas) = &self.print_role_sql {
            let written = role_sql(&context.config.effective.settings, schemas)?;
            context.output.write(&context.scrubber.text(&written))?;
            return Ok(Exit::Answered);
        }
        if self.sandbox {
            return sandbox::run(&context).await;
        }
        let mut checks = run_checks(&context, self.broken.clone()).await;
        if self.probe && self.broken.is_none() {
            checks.extend(probe::measure_endpoint(&context.config.effective.settings).await);
        }
        finish(&context, &checks)
    }
}

/// Checks everything with the configuration of a command that runs: the document
/// `syrch.doctor/1`.
pub(super) async fn check_all(context: &Context) -> Value {
    document(&run_checks(context, None).await)
}

/// Prints the checks. Returns the exit code.
fn finish(context: &Context, checks: &[Check]) -> Outcome {
    context.console.clear();
    print(context, checks)?;
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed { Exit::Config } else { Exit::Answered })
}

/// Every check, one line each. With a mistake in the configuration, `broken`, the defaults are
/// checked. The folders come after the plugins, which make the first of them.
async fn run_checks(context: &Context, broken: Option<Failure>) -> Vec<Check> {
    let settings = &context.config.effective.settings;
    let is_broken = broken.is_some();
    let mut checks = vec![machine::host(), advisories::engine()];
    checks.extend(machine::toolchain().await);
    checks.push(inputs::config(&context.config.files, broken));
    checks.push(inputs::builtins(context).await);
    if is_broken {
        checks.push(inputs::skip_check("strategy"));
    } else {
        checks.push(inputs::strategy(context).await);
        checks.extend(inputs::retrieval(&context.config.effective.settings));
    }
    checks.extend(inputs::plugin_files(context).await);
    checks.push(folders::check_compiled(&settings.compile));
    checks.push(machine::compiler(&settings.compile));
    checks.push(machine::isolation(&settings.compile));
    checks.push(match &settings.cache.shared {
        Some(place) => folders::check_shared(settings, place).await,
        None => folders::answers(
            context.config.effective.cache,
            context.environment.cache_dir().as_deref(),
        ),
    });
    checks.push(folders::journals(
        context.config.effective.journal,
        context.environment.state_dir().as_deref(),
    ));
    checks.push(folders::history(context.environment.state_dir().as_deref()));
    if is_broken {
        checks.push(inputs::skip_check("endpoint"));
    } else {
        checks.extend(endpoint::check_endpoints(settings).await);
    }
    if is_broken {
        checks.push(inputs::skip_check("database"));
    } else {
        checks.extend(inputs::database(settings).await);
    }
    checks.push(machine::terminal(&context.environment, context.output.width()));
    checks
}

fn print(context: &Context, checks: &[Check]) -> Outcome<()> {
    if matches!(context.format, Format::Auto | Format::Table) {
        let lines: String = checks.iter().map(line).collect();
        return context.output.write(&context.scrubber.text(&lines));
    }
    let mut grid = Grid::new(["check", "state", "detail", "fix"]);
    grid.rows = checks
        .iter()
        .map(|check| {
            vec![
                json!(check.name),
                json!(check.state.name()),
                json!(check.detail),
                json!(check.fix),
            ]
        })
        .collect();
    context.rows(grid, || document(checks))
}

/// `ok    database   7 tables`, and below it the fix.
fn line(check: &Check) -> String {
    let indented =
        |text: &str| terminal::block(text.trim_end()).replace('\n', "\n                   ");
    let fix = check.fix.as_ref().map(|fix| format!("                   fix: {}\n", indented(fix)));
    format!(
        "{:<5} {:<12} {}\n{}",
        check.state.name(),
        check.name,
        indented(&check.detail),
        fix.unwrap_or_default()
    )
}

/// The checks as the document `syrch.doctor/1`.
fn document(checks: &[Check]) -> Value {
    let check = |check: &Check| {
        json!({
            "name": check.name, "state": check.state.name(), "detail": check.detail,
            "fix": check.fix
        })
    };
    json!({
        "schema": "syrch.doctor/1",
        "ok": checks.iter().all(|check| check.state != State::Fail),
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_state_of_a_part_and_its_fix() {
        assert_eq!(line(&Check::ok("host", "1.0")), "ok    host         1.0\n");
        let check = Check::warn("toolchain", "a\nb\u{1b}[2J", "rustup update");
        assert_eq!(
            line(&check),
            "warn  toolchain    a\n                   b\\u{1b}[2J\n                   fix: \
             rustup update\n"
        );
    }

    #[test]
    fn only_failures_make_it_not_ok() {
        let warned = [Check::ok("a", ""), Check::warn("b", "", "c")];
        assert_eq!(document(&warned)["ok"], true);
        let failed = document(&[Check::fail("b", "broken", "mend it")]);
        assert_eq!(failed["ok"], false);
        let expected = json!({"name": "b", "state": "fail", "detail": "broken", "fix": "mend it"});
        assert_eq!(failed["checks"][0], expected);
    }
}
