//! `doctor --sandbox`: runs a hostile plugin in each of its ways on this machine, and reports how
//! the sandbox ended each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use syrch::plugins::Probed;
use syrch::settings::PluginSource;
use syrch::syrch_core::RoleError;
use syrch::syrch_core::text::clip;
use syrch::{Settings, Shared, Silent, files, plugins};
use syrch_cases::{Base, Case, Ran, RunError};

use super::{Check, State, line};
use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid};

/// Bytes of a plugin's own words in a report.
const WORDS: usize = 200;

/// A way in which the plugin is hostile.
struct Attack {
    /// The behaviour, as the plugin calls it.
    name: &'static str,
    role: &'static str,
    /// The attempt in words, after "it".
    tries: &'static str,
    /// A text that stands in the end that it must come to.
    ends: &'static str,
}

const fn attack(
    role: &'static str,
    name: &'static str,
    tries: &'static str,
    ends: &'static str,
) -> Attack {
    Attack { name, role, tries, ends }
}

/// The attacks, in the order in which they run.
const ATTACKS: &[Attack] = &[
    attack("planner", "spin", "computes without end", "`cpu-per-call`"),
    attack("planner", "bulk-memory", "fills memory without end", "`cpu-per-call`"),
    attack("planner", "sleep", "sleeps for an hour", "`idle`"),
    attack("planner", "naps", "takes naps without end", "`idle`"),
    attack("planner", "memory", "takes all memory", "`memory`"),
    attack("planner", "recursion", "calls itself without end", "`wasm-stack`"),
    attack("planner", "spin-in-configure", "computes while it is loaded", "`cpu-per-call`"),
    attack("planner", "call-flood", "calls the host without end", "`host-calls`"),
    attack("planner", "huge-return", "returns 100 MiB", "`planner.plan`"),
    attack("planner", "trap", "breaks off", "trapped in `planner.plan`"),
    attack("planner", "probe", "opens files, the network, the environment, a clock", "nothing"),
    attack("planner", "read-cells", "searches cells through retrieval", "Denied"),
    attack("planner", "bad-id", "hides text by control characters in an id", "task.id"),
    attack("planner", "nan-priority", "returns a priority that is no number", "task.priority"),
    attack("linker", "link-nan", "returns a score that is no number", "relevant.score"),
    attack("solver", "nan", "claims a confidence that is no number", "raw-confidence"),
    attack("solver", "over-one", "claims to be more than sure", "raw-confidence"),
    attack("solver", "sql-flood", "runs 10,000 statements", "9500 refused"),
    attack("solver", "prompt-bomb", "sends a prompt of 1 MiB", "BOMB: refused"),
    attack("solver", "schema-bomb", "asks for replies of an expensive schema", "BOMB: refused"),
    attack("solver", "handle-leak", "opens a million handles", "`handles`"),
    attack("solver", "wait-flood", "waits for a million calls", "`handles`"),
    attack("solver", "held-bytes", "has the host hold 800 MB of prompts", "`held-bytes`"),
    attack("planner", "bad-text", "passes a text that is no UTF-8", "trapped in `planner.plan`"),
    attack("planner", "text-outside", "passes what lies outside of its memory", "trapped in `plan"),
    attack("planner", "bad-level", "passes a value that a type does not have", "trapped in `plan"),
    attack("planner", "forged-handle", "uses a handle that it was not given", "trapped in `plan"),
    attack("solver", "double-drop", "gives a handle back twice", "trapped in `solver.solve`"),
    attack("reward", "infinite-score", "returns an infinite score", "opinion.score"),
];

/// The behaviour with which the plugin does nothing wrong.
const GOOD: &str = "none";

/// The component in a file, which is removed afterwards.
struct Component(PathBuf);

impl Component {
    fn write(folder: &Path) -> Outcome<Self> {
        let component = plugins::hostile_component().ok_or_else(|| {
            Failure::config("this build has no plugins, and no hostile one either")
                .hint("use a build with the feature `builtins`")
        })?;
        let file = Self(folder.join(format!(".sandbox.{}.wasm", std::process::id())));
        let written = files::make_folder(folder).and_then(|()| files::replace(&file.0, &component));
        written.map_err(|error| Failure::config(format!("`{}`: {error}", folder.display())))?;
        Ok(file)
    }
}

impl Drop for Component {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// The end of an attack.
struct Contained {
    /// The name, the role and the attempt of the attack.
    name: &'static str,
    role: &'static str,
    tries: String,
    seconds: f64,
    /// The end in words.
    ended: String,
    /// True if it is the expected one, and a good call gives afterwards what it gave before.
    holds: bool,
}

/// Runs all attacks and prints how each ended. Returns the exit code.
pub(super) async fn run(context: &Context) -> Outcome {
    let folder = context.environment.state_dir().ok_or_else(|| {
        Failure::config("there is no folder for the hostile plugin")
            .hint("set SYRCH_STATE_DIR to a folder of yours")
    })?;
    let component = Component::write(&folder)?;
    let plugin = PluginSource::File(component.0.clone());
    let base = Base {
        settings: context.config.effective.settings.clone(),
        with_database: false,
        rows: None,
        shared: Shared::new(),
    };
    context.console.progress("compiling the hostile plugin");
    let good = call(&plugin, &base, "planner", GOOD).await?.document;
    let mut all = Vec::new();
    for attack in ATTACKS {
        let place = all.len() + 1;
        let of = ATTACKS.len();
        context.console.progress(&format!("{place} of {of}: it {}", attack.tries));
        let start = Instant::now();
        let ended = describe(call(&plugin, &base, attack.role, attack.name).await, &component.0);
        let seconds = start.elapsed().as_secs_f64();
        let after = call(&plugin, &base, "planner", GOOD).await;
        let is_same = after.is_ok_and(|after| after.document == good);
        let holds = is_same && ended.contains(attack.ends);
        let ended = if is_same { ended } else { format!("{ended}; a good call fails since") };
        let Attack { name, role, tries, .. } = attack;
        let one = Contained { name, role, tries: (*tries).to_owned(), seconds, ended, holds };
        print_line(context, &one)?;
        all.push(one);
    }
    if base.settings.compile.worker.is_some() {
        let probed = probe_worker(&plugin, &base.settings).await?;
        probed.iter().try_for_each(|one| print_line(context, one))?;
        all.extend(probed);
    }
    context.console.clear();
    print(context, &all)?;
    let is_held = all.iter().all(|one| one.holds);
    Ok(if is_held { Exit::Answered } else { Exit::Config })
}

/// Has the plugin's process try what it must not be able to do even if its plugin controls it.
async fn probe_worker(plugin: &PluginSource, settings: &Settings) -> Outcome<Vec<Contained>> {
    let start = Instant::now();
    let probed = plugins::probe_worker(plugin, settings).await?;
    let seconds = start.elapsed().as_secs_f64() / probed.len().max(1) as f64;
    Ok(probed
        .into_iter()
        .map(|Probed { tried, error }| Contained {
            name: "process",
            role: "any",
            tries: format!("runs in a process that tries to {tried}"),
            seconds,
            holds: error.is_some(),
            ended: error.unwrap_or_else(|| "it could".to_owned()),
        })
        .collect())
}

/// Calls a role with a behaviour, over a table of three rows and a model that refuses.
async fn call(
    plugin: &PluginSource,
    base: &Base,
    role: &str,
    behaviour: &str,
) -> Result<Ran, RunError> {
    let input = match role {
        "reward" => "{rivals: [{candidate: {id: a, sql: SELECT 1}}]}",
        _ => "{}",
    };
    let text = format!(
        "role: {role}\nsettings: {{behaviour: \"{behaviour}\"}}\ninput: {input}\ndatabase: |\n  \
         CREATE TABLE customers (id INTEGER);\n  INSERT INTO customers VALUES (1), (2), (3);\n"
    );
    let case = Case::parse(&text, behaviour, Path::new("."));
    let case = case.map_err(|error| {
        let message = error.to_string();
        RunError::Input { role: "planner", message }
    })?;
    syrch_cases::run(&case, plugin, base, Arc::new(Silent)).await
}

/// The end of a call in words, without the path of the component.
fn describe(ran: Result<Ran, RunError>, component: &Path) -> String {
    let words = match ran {
        Ok(Ran { error: Some(RoleError::Failure { failure, .. }), .. }) => failure.to_string(),
        Ok(Ran { error: Some(error), .. }) => error.to_string(),
        Ok(Ran { error: None, .. }) => {
            "it returned a value, which is checked no further".to_owned()
        }
        Err(error) => error.to_string(),
    };
    let words = words.replace(&component.display().to_string(), "it");
    clip(words.trim(), WORDS).to_owned()
}

fn is_text(context: &Context) -> bool {
    matches!(context.format, Format::Auto | Format::Table)
}

/// Prints the line of an attack as soon as it has ended, where the output is for people.
fn print_line(context: &Context, one: &Contained) -> Outcome<()> {
    if !is_text(context) {
        return Ok(());
    }
    let Contained { name, tries, seconds, ended, holds, .. } = one;
    let detail = format!("it {tries}; ended in {seconds:.1} s: {ended}");
    let state = if *holds { State::Ok } else { State::Fail };
    context.console.clear();
    let text = line(&Check { name, state, detail, fix: None });
    context.output.write(&context.scrubber.text(&text))
}

/// Prints the sum, or the document of all attacks.
fn print(context: &Context, all: &[Contained]) -> Outcome<()> {
    let held = all.iter().filter(|one| one.holds).count();
    let of = all.len();
    if is_text(context) {
        return context.output.write(&format!("{held} of {of} contained\n"));
    }
    let mut grid = Grid::new(["name", "role", "tries", "ended", "seconds", "contained"]);
    grid.rows = all
        .iter()
        .map(|one| {
            let seconds = (one.seconds * 1e3).round() / 1e3;
            vec![
                json!(one.name),
                json!(one.role),
                json!(one.tries),
                json!(one.ended),
                json!(seconds),
                json!(one.holds),
            ]
        })
        .collect();
    let cases: Vec<_> = grid
        .rows
        .iter()
        .map(|row| {
            json!({
                "name": row[0], "role": row[1], "tries": row[2], "ended": row[3],
                "seconds": row[4], "contained": row[5],
            })
        })
        .collect();
    context.rows(grid, || {
        json!({
            "schema": "syrch.doctor-sandbox/1", "contained": held, "of": of, "cases": cases
        })
    })
}
