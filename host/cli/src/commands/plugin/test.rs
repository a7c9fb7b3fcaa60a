//! `plugin test`: runs the cases of a project, and compares what they give with their golden files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use syrch::plugins::LoadError;
use syrch::settings::PluginSource;
use syrch::syrch_core::text::clip;
use syrch::{Error, Observer, SearchEvent, Shared};
use syrch_cases::golden::{self, Comparison};
use syrch_cases::{Base, Case, Ran, RunError, folder};
use syrch_projects::Project;

use super::{Context, Run};
use crate::config::Given;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::shell;
use crate::sink::{Format, Grid, table, terminal};

/// The folder of a project's cases.
const CASES: &str = "tests";

#[derive(Args)]
pub(crate) struct TestArgs {
    /// The folder of a project, a component, or a built-in's name
    #[arg(value_name = "DIR|FILE|NAME", default_value = ".")]
    plugin: String,
    /// The folder of the cases [default: tests in the project's folder]
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Write what the cases give into their golden files
    #[arg(long)]
    update: bool,
    /// Only the cases whose names hold this text
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
}

impl Run for TestArgs {
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given { any_strategy: true, ..Given::default() })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let place = Path::new(&self.plugin);
        match Project::read(place) {
            Ok(project) => vec![(super::PLUGIN, project.component_in(place))],
            Err(_) => super::sheet::files(&self.plugin).into_iter().collect(),
        }
    }

    async fn run(self, context: Context) -> Outcome {
        let tested = self.resolve_plugin()?;
        let files = self.files(&tested)?;
        let settings = context.config.effective.settings.clone();
        let base = Base { settings, with_database: false, rows: None, shared: Shared::new() };
        let observer: Arc<dyn Observer> = Arc::new(Compilation(Arc::clone(&context.console)));
        let mut results = Vec::new();
        for file in files {
            let case = Case::read(&file, &tested.project);
            let name = folder::name(&file);
            let role = case.as_ref().ok().map(|case| case.role().name());
            let ran = match case {
                Ok(case) => {
                    syrch_cases::run(&case, &tested.plugin, &base, Arc::clone(&observer)).await
                }
                Err(error) => {
                    results.push(TestResult { name, role, used: Vec::new(), end: broken(&error) });
                    continue;
                }
            };
            if let Err(RunError::Host(error)) = ran {
                if is_of_the_plugin(&error) {
                    return Err(error.into());
                }
                let end = broken(&Failure::from(error).message);
                results.push(TestResult { name, role, used: Vec::new(), end });
                continue;
            }
            let used =
                ran.as_ref().map(|ran| ran.used.iter().cloned().collect()).unwrap_or_default();
            let end = ran.map_or_else(|error| broken(&error), |ran| self.judge(&file, &ran));
            results.push(TestResult { name, role, used, end });
        }
        show(&context, &self.plugin, &results)?;
        Ok(if results.iter().all(TestResult::is_good) { Exit::Answered } else { Exit::Gate })
    }
}

/// The plugin under test, and where its cases are.
struct Tested {
    plugin: PluginSource,
    cases: PathBuf,
    /// The folder in which the files are that cases may name.
    project: PathBuf,
}

impl TestArgs {
    fn resolve_plugin(&self) -> Outcome<Tested> {
        let place = Path::new(&self.plugin);
        if place.is_dir() {
            let component = Project::read(place)
                .map_err(|error| {
                    Failure::from(error).hint(
                        "name the folder of a plugin's project, as `syrch-host plugin new` makes \
                         it, or a component and --cases",
                    )
                })?
                .component();
            if !component.is_file() {
                let message = format!("there is no component `{}`", component.display());
                return Err(Failure::new(Exit::PluginRejected, message).hint(format!(
                    "build it by `syrch-host plugin build {}`",
                    shell::quote(&self.plugin)
                )));
            }
            let plugin = PluginSource::File(component);
            if let Some(cases) = self.cases.clone() {
                let project = super::call::project_of(&cases);
                return Ok(Tested { plugin, cases, project });
            }
            let cases = place.join(CASES);
            // Golden files are written where the cases are.
            if cases.is_symlink() {
                let message = format!(
                    "`{}` is a symbolic link, which leads to wherever its maker liked",
                    cases.display()
                );
                return Err(
                    Failure::config(message).hint("name the folder of the cases by --cases DIR")
                );
            }
            return Ok(Tested { plugin, cases, project: place.to_owned() });
        }
        let Some(cases) = self.cases.clone() else {
            let hint = match place.exists() {
                true => "name their folder by --cases DIR, or the folder of a project".to_owned(),
                false => format!(
                    "there is no folder `{}`; the cases of a built-in plugin are named \
                     by --cases DIR",
                    self.plugin
                ),
            };
            return Err(Failure::usage("no cases").hint(hint));
        };
        let project = super::call::project_of(&cases);
        Ok(Tested { plugin: PluginSource::parse(&self.plugin), cases, project })
    }

    fn files(&self, tested: &Tested) -> Outcome<Vec<PathBuf>> {
        let mut files = folder::cases(&tested.cases).map_err(|error| {
            Failure::usage(error.to_string()).hint("name the folder of the cases by --cases DIR")
        })?;
        if let Some(part) = &self.filter {
            files.retain(|file| folder::name(file).contains(part));
        }
        if files.is_empty() {
            let of = self
                .filter
                .as_ref()
                .map(|part| format!(" whose name holds `{part}`"))
                .unwrap_or_default();
            return Err(Failure::usage(format!("no case{of} in `{}`", tested.cases.display()))
                .hint("a case is a file NAME.yml; docs/plugins.md has an example"));
        }
        Ok(files)
    }

    fn judge(&self, file: &Path, ran: &Ran) -> End {
        let golden = golden::path(file);
        // A golden file that cannot be read is replaced by --update as any other.
        let compared = golden::compare(&golden, &ran.document);
        match (compared, self.update) {
            (Ok(Comparison::Equal), _) => End::Same,
            (_, true) => golden::write(&golden, &ran.document)
                .map_or_else(|error| broken(&error), |()| End::Updated(failure(&ran.document))),
            (Ok(Comparison::Missing), false) => End::Missing(failure(&ran.document)),
            (Ok(Comparison::Differs(lines)), false) => {
                End::Differs { lines, failure: failure(&ran.document) }
            }
            (Err(error), false) => broken(&error),
        }
    }
}

/// Returns true if an error is the plugin's, so that no case can be run with it.
fn is_of_the_plugin(error: &Error) -> bool {
    match error {
        Error::PluginRejected { source, .. } => {
            !matches!(source, LoadError::Config(_) | LoadError::WrongRole { .. })
        }
        Error::UnknownPlugin { .. } | Error::Internal(_) => true,
        _ => false,
    }
}

/// Reports that a plugin is being compiled, and nothing else: what the plugin remarks is in the
/// golden files.
struct Compilation(Arc<Console>);

impl Observer for Compilation {
    fn event(&self, event: &SearchEvent) {
        if let SearchEvent::Compiling { plugin } = event {
            self.0.note(&format!("compiling {plugin} (once)"));
        }
    }
}

/// The end of a case.
enum End {
    Same,
    /// The golden file was written, with this failure or error in it.
    Updated(Option<String>),
    /// It has no golden file; what the plugin failed with, if it did.
    Missing(Option<String>),
    Differs {
        lines: Vec<String>,
        /// The failure of the plugin, if it failed: a long difference may leave it out.
        failure: Option<String>,
    },
    /// It could not be run.
    Broken(String),
}

/// The failure or the error of a call, as its golden file would have it.
fn failure(document: &Value) -> Option<String> {
    ["failure", "error"]
        .iter()
        .find_map(|member| Some(format!("{member}: {}", document.get(member)?)))
}

/// The end of a case that could not be run.
fn broken(error: &impl ToString) -> End {
    End::Broken(short(&error.to_string()))
}

/// A message may quote as much as a file holds, and there may be many cases.
fn short(message: &str) -> String {
    const SHOWN: usize = 2_000;
    let head = clip(message, SHOWN);
    if head.len() < message.len() { format!("{head}…") } else { message.to_owned() }
}

struct TestResult {
    name: String,
    role: Option<&'static str>,
    used: Vec<String>,
    end: End,
}

impl TestResult {
    fn is_good(&self) -> bool {
        matches!(self.end, End::Same | End::Updated(_))
    }

    /// Returns true if the plugin failed, and not as its golden file has it.
    fn has_failed(&self) -> bool {
        matches!(&self.end, End::Missing(Some(_)) | End::Differs { failure: Some(_), .. })
    }

    fn word(&self) -> &'static str {
        match self.end {
            End::Same => "same",
            End::Updated(_) => "updated",
            End::Missing(_) => "no golden file",
            End::Differs { .. } => "differs",
            End::Broken(_) => "cannot be run",
        }
    }

    /// Returns the details that are printed below the table.
    fn details(&self) -> Option<String> {
        let text = match &self.end {
            End::Same => return None,
            End::Updated(failure) | End::Missing(failure) => short(failure.as_deref()?),
            End::Differs { lines, failure } => {
                let failure = failure.as_deref().map(|failure| format!("{}\n\n", short(failure)));
                format!("{}{}", failure.unwrap_or_default(), lines.join("\n"))
            }
            End::Broken(message) => message.clone(),
        };
        Some(format!("\n{} {}:\n{text}\n", self.name, self.word()))
    }

    fn document(&self) -> Value {
        let (difference, message) = match &self.end {
            End::Differs { lines, .. } => (json!(lines), Value::Null),
            End::Broken(message) => (json!([]), json!(message)),
            End::Updated(failure) | End::Missing(failure) => (json!([]), json!(failure)),
            End::Same => (json!([]), Value::Null),
        };
        json!({
            "name": self.name,
            "role": self.role,
            "result": self.word(),
            "used": self.used,
            "difference": difference,
            "message": message,
        })
    }
}

fn show(context: &Context, plugin: &str, results: &[TestResult]) -> Outcome<()> {
    let bad = results.iter().filter(|result| !result.is_good()).count();
    let mut grid = Grid::new(["case", "role", "result", "ports used"]);
    for result in results {
        let role = result.role.map_or(Value::Null, Value::from);
        grid.rows.push(vec![json!(result.name), role, json!(result.word()), json!(result.used)]);
    }
    if !matches!(context.format, Format::Auto | Format::Table) {
        return context.rows(grid, || {
            let cases: Vec<Value> = results.iter().map(TestResult::document).collect();
            json!({
                "schema": "syrch.plugin-test/1", "plugin": plugin, "cases": cases, "failed": bad
            })
        });
    }
    context.scrubber.grid(&mut grid);
    let mut text = table::render(&grid, context.output.width());
    for details in results.iter().filter_map(TestResult::details) {
        text.push_str(&terminal::block(&context.scrubber.text(&details)));
    }
    let same = results.len() - bad;
    text.push_str(&format!("\n{same} of {} cases agree with their golden files\n", results.len()));
    context.output.write(&text)?;
    if results.iter().any(TestResult::has_failed) {
        context
            .console
            .note("`syrch-host plugin call FILE --case CASE.yml -vv` shows the stack of a failure");
    }
    if results.iter().any(|result| matches!(result.end, End::Differs { .. })) {
        context
            .console
            .note("- is the golden file, + is what the case gives now; --update writes it");
    } else if results.iter().any(|result| matches!(result.end, End::Missing(_))) {
        context.console.note("--update writes what the cases give now into their golden files");
    }
    Ok(())
}
