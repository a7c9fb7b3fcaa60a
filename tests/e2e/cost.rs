//! Tests of the cost that a plugin from outside may cause the host before and while it runs:
//! schemas, compilation, long instructions, and memory for stores.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use syrch::plugins::{CompileProcess, CompileSettings, LoadError};
use syrch::settings::PluginSource;
use syrch::{Settings, Silent};
use syrch_core::Limits;
use syrch_kit::{MockEndpoint, Reply, Script, zoo};

use crate::bad_input::Place;
use crate::endpoint::Said;
use crate::{host, shop};

fn inspect_refusal(place: &Place, plugin: &std::path::Path) -> String {
    let output = place.words("plugin inspect").arg(plugin).output().unwrap();
    let said = Said::from_output(output);
    assert_eq!(said.code, 13, "{}", said.all());
    said.stderr
}

/// A component that exports two roles' names and has code that is expensive to compile: loops
/// within loops, each of which changes all of many local variables.
fn expensive(functions: usize, loops: usize, locals: usize) -> Vec<u8> {
    let sets: String = (0..locals)
        .map(|n| {
            format!("(local.set {n} (i32.add (local.get {}) (i32.const 1)))", (n + 1) % locals)
        })
        .collect();
    let body = format!(
        "{}{}",
        format!("(loop {sets}").repeat(loops),
        "(br_if 0 (local.get 0)))".repeat(loops)
    );
    let function = format!("(func (param i32) {} {body})", "(local i32)".repeat(locals));
    let exports = r#"(instance $i) (export "syrch:plugin/calibrator@0.1.0" (instance $i)) (export "syrch:plugin/about@0.1.0" (instance $i))"#;
    wat::parse_str(format!("(component (core module {}) {exports})", function.repeat(functions)))
        .unwrap()
}

#[test]
fn a_schema_of_settings_that_is_expensive_to_compile_is_refused() {
    let stderr = inspect_refusal(&Place::new(), &zoo::schema());
    assert!(stderr.contains("`pattern` and `patternProperties` are not allowed"), "{stderr}");
}

#[test]
fn a_schema_of_a_reply_that_is_expensive_to_compile_is_refused_and_not_sent() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::new().on([""], Reply::text("{}")));
    let mut command = place.words(
        "--llm openai --model mock --format json -P solver.behaviour=schema-bomb -q Why? --db",
    );
    command.arg(shop(place.path())).args(["--base-url", &endpoint.url(), "--solver"]);
    let output = command.arg(zoo::hostile()).output().unwrap();
    let said = Said::from_output(output);
    assert!(said.all().contains("BOMB: refused"), "{}", said.all());
    assert!(
        endpoint.requests().iter().all(|request| request.prompt().trim() != "again"),
        "it was sent"
    );
}

#[test]
fn code_that_is_expensive_to_compile_is_refused_before_it_is_compiled() {
    let place = Place::new();
    let plugin = place.path().join("nested.wasm");
    fs::write(&plugin, expensive(1, 3_000, 500)).unwrap();
    let stderr = inspect_refusal(&place, &plugin);
    assert!(
        stderr.contains("too complex to compile") && stderr.contains("over the limit"),
        "{stderr}"
    );
}

/// A component that passes the checks meets the limits of the process that compiles it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_compilation_ends_at_its_limits_of_cpu_time_and_memory() {
    let folder = syrch_kit::scratch();
    let plugin = folder.path().join("slow.wasm");
    fs::write(&plugin, expensive(40, 100, 300)).unwrap();
    let inspect = async |limits: Limits| {
        let process = CompileProcess {
            program: PathBuf::from(env!("CARGO_BIN_EXE_syrch-host")),
            arguments: vec!["__compile-component".into()],
        };
        let compile = CompileSettings { cache: None, process: Some(process), worker: None };
        let settings = Settings { compile, limits, ..Settings::default() };
        match syrch::plugins::inspect(&PluginSource::File(plugin.clone()), &settings, &Silent).await
        {
            Err(syrch::Error::PluginRejected {
                source: LoadError::CompileLimit(limit), ..
            }) => limit,
            other => panic!("{other:?}"),
        }
    };
    let quick = Limits { compile_cpu: Duration::from_secs(1), ..Limits::default() };
    assert_eq!(inspect(quick).await, "1 CPU-seconds");
    // On a busy machine a second of CPU time takes far longer.
    let busy = Limits {
        compile: Duration::from_millis(900),
        compile_cpu: Duration::from_secs(1),
        ..Limits::default()
    };
    assert_eq!(inspect(busy).await, "1 CPU-seconds");
    let small = Limits { compile_memory: 250_000_000, ..Limits::default() };
    assert_eq!(inspect(small).await, "250 MB of memory");
}

#[test]
fn the_child_that_compiles_is_no_command_for_people() {
    let output = host().arg("__compile-component").output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no command for people"));
    let help = host().arg("--help").output().unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("__compile"));
}

/// Three arms whose components take eight memories and sixteen tables each, 120 at once, and hold
/// them until they are stopped: the ordinary arm ends as it does alone.
#[test]
fn arms_that_fill_the_pool_take_nothing_from_others() {
    const QUESTIONS: usize = 40;
    let place = Place::new();
    let plugin = place.path().join("large.wasm");
    fs::write(&plugin, zoo::with_ballast(fs::read(zoo::hostile()).unwrap(), 7)).unwrap();
    shop(place.path());
    let line = |n: usize| {
        json!({
            "id": format!("q{n}"), "db": "shop", "question": format!("Is it {n}?"),
            "gold_sql": "SELECT 1"
        })
    };
    place.file("suite.jsonl", (0..QUESTIONS).map(|n| format!("{}\n", line(n))).collect::<String>());
    let mut arms = String::new();
    for (name, depth) in [("one", 1), ("two", 2), ("three", 4)] {
        let config = format!("{{plugin: '{}', config: {{behaviour: sleep}}}}", plugin.display());
        place.file(
            &format!("{name}.yml"),
            format!("name: {name}\nroles: {{planner: {config}}}\npolicy: {{max_depth: {depth}}}\n"),
        );
        arms += &format!(" {name}.yml");
    }
    let endpoint =
        MockEndpoint::start(Script::new().on([""], Reply::sql("SELECT 1", 0.9).delay_ms(20)));
    let words = format!(
        "compare single{arms} suite.jsonl --workers 160 --no-cache --llm openai --model mock \
         --format json"
    );
    let said = Said::from_output(
        place
            .words(&words)
            .args(["--base-url", &endpoint.url(), "--trust"])
            .arg(&plugin)
            .output()
            .unwrap(),
    );
    let document: Value =
        serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.all()));
    let Some(rows) = document["results"].as_array() else { panic!("{}", said.all()) };
    let (ordinary, hostile): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["arm"] == "single");
    assert_eq!((ordinary.len(), hostile.len()), (QUESTIONS, 3 * QUESTIONS), "{document}");
    for row in ordinary {
        assert_eq!(row["verdict"], "right", "{row}");
    }
    for row in hostile {
        assert!(row["error"].to_string().contains("the limit `idle`"), "{row}");
    }
}
