//! Measures what hostile plugins cost the searches beside them: those of another strategy must end
//! as they do alone, and not much later.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch::settings::PluginSource;
use syrch::{Host, Settings, Shared, Silent, Stop};
use syrch_core::Problem;
use syrch_core::roles::Role;
use syrch_kit::zoo;
use syrch_runtime::WorkerProcess;

use crate::figure::Figure;
use crate::samples::{greatest, median, milliseconds};
use crate::world::{World, endpoint_with_delay, search};
use crate::{Outcome, child, text};

/// Searches at once, a third of them hostile.
const AT_ONCE: usize = 64;
/// Those that are hostile.
const HOSTILE: usize = AT_ONCE / 3;
/// The time that the endpoint takes for a call.
const DELAY: Duration = Duration::from_millis(50);
/// Searches that each innocent client makes, one after the other.
const EACH: usize = 8;
/// The time that a search of a comparison may take.
const ARM_DEADLINE: Duration = Duration::from_secs(10);
/// The number of times that the arms are measured, alone and beside others.
const ROUNDS: usize = 3;
/// The behaviours of the hostile plugins, each with its role.
const BEHAVIOURS: [(Role, &str); 6] = [
    (Role::Planner, "spin"),
    (Role::Planner, "bulk-memory"),
    (Role::Planner, "memory"),
    (Role::Solver, "slow-statements"),
    (Role::Solver, "sql-flood"),
    (Role::Planner, "search-flood"),
];

/// The behaviours of the hostile arms of a comparison, one each.
const ARMS: [(Role, &str); 3] =
    [(Role::Planner, "spin"), (Role::Planner, "bulk-memory"), (Role::Solver, "slow-statements")];

/// Searches of one process, side by side: the hostile plugins in it, and in worker processes.
pub(crate) fn searches(world: &World) -> Outcome<Vec<Figure>> {
    let mut figures = vec![compare_searches(world, None)?];
    if let Some(worker) = world.worker() {
        figures.push(compare_searches(world, Some(worker))?);
    }
    Ok(figures)
}

/// Measures the ordinary searches alone, then beside hostile plugins that run in this process or in
/// the processes of `worker`.
fn compare_searches(world: &World, worker: Option<WorkerProcess>) -> Outcome<Figure> {
    let place = if worker.is_some() { " in worker processes" } else { "" };
    let plugin = hostile(world)?;
    let endpoint = endpoint_with_delay(DELAY);
    let mut settings = world.settings(&endpoint)?;
    settings.compile.worker = worker;
    let (alone, together, ended) = world.runtime.block_on(async {
        let shared = Shared::new();
        let innocent = Host::open_beside(settings.clone(), &shared, &Silent).await?;
        let innocent = Arc::new(innocent);
        let mut hosts = Vec::new();
        for (role, behaviour) in BEHAVIOURS {
            hosts.push(Arc::new(
                Host::open_beside(
                    with_hostile(&settings, role, behaviour, &plugin),
                    &shared,
                    &Silent,
                )
                .await?,
            ));
        }
        let alone = clients(&innocent).await?;
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::new(AtomicUsize::new(0));
        let hostile: Vec<_> = (0..HOSTILE)
            .map(|number| {
                let host = Arc::clone(&hosts[number % hosts.len()]);
                let over = Arc::clone(&over);
                let ended = Arc::clone(&ended);
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        let stop = Stop::new();
                        drop(
                            host.search(
                                Problem::new(format!("hostile {number}")),
                                Arc::new(Silent),
                                None,
                                &stop,
                            )
                            .await,
                        );
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        // They are at work before anybody is measured.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let together = clients(&innocent).await;
        over.store(true, Ordering::Relaxed);
        hostile.iter().for_each(tokio::task::JoinHandle::abort);
        Outcome::Ok((alone, together?, ended.load(Ordering::Relaxed)))
    })?;
    let p95_alone = p95(alone);
    let p95 = p95(together);
    let what = format!(
        "p95 of {} searches at once beside {HOSTILE} of hostile plugins{place}, against that alone",
        AT_ONCE - HOSTILE
    );
    let note = format!(
        "{p95:.0} ms, alone {p95_alone:.0} ms; {ended} hostile searches ended; every other \
         one answered"
    );
    Ok(Figure::new(what, p95 / p95_alone, "×").at_most(1.5).note(note))
}

/// The time of each search of all clients, in milliseconds. Every one must find its answer.
async fn clients(host: &Arc<Host>) -> Outcome<Vec<f64>> {
    let clients = (0..AT_ONCE - HOSTILE).map(|client| {
        let host = Arc::clone(host);
        tokio::spawn(async move {
            let mut times = Vec::with_capacity(EACH);
            for number in 0..EACH {
                let begin = Instant::now();
                search(
                    &host,
                    &format!(
                        "How many customers are there in each country, asked by {client}.{number}?"
                    ),
                )
                .await?;
                times.push(milliseconds(begin));
            }
            Outcome::Ok(times)
        })
    });
    let mut times = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        times.extend(client.await??);
    }
    Ok(times)
}

fn p95(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * 95).div_ceil(100) - 1]
}

/// A hostile plugin that fills eight memories and fourteen tables of the pool beside what it does.
fn hostile(world: &World) -> Outcome<PathBuf> {
    let path = world.place("hostile")?.join("hostile.wasm");
    std::fs::write(&path, zoo::with_ballast(std::fs::read(zoo::hostile())?, 7))?;
    Ok(path)
}

fn with_hostile(settings: &Settings, role: Role, behaviour: &str, plugin: &Path) -> Settings {
    let mut settings = settings.clone();
    settings.strategy.roles.insert(role, PluginSource::File(plugin.to_owned()));
    settings
        .strategy
        .config
        .entry(role)
        .or_default()
        .insert("behaviour".to_owned(), json!(behaviour));
    settings
}

/// Comparisons of one ordinary arm with hostile ones, through the binary.
pub(crate) fn arms(world: &World) -> Outcome<Vec<Figure>> {
    const QUESTIONS: u32 = 160;
    let plugin = hostile(world)?;
    let folder = world.place("arms")?;
    let suite = super::suites::suite(world, QUESTIONS)?.display().to_string();
    let mut hostile = Vec::new();
    for (role, behaviour) in ARMS {
        let path = folder.join(format!("{behaviour}.yml"));
        let role = role.name();
        let plugin = plugin.display();
        let strategy = format!(
            "name: {behaviour}\nroles: {{{role}: {{plugin: '{plugin}', config: {{behaviour: \
             {behaviour}}}}}}}\n"
        );
        std::fs::write(&path, strategy)?;
        hostile.push(path.display().to_string());
    }
    let endpoint = endpoint_with_delay(DELAY);
    let url = endpoint.url();
    // Hostile arms run until this deadline.
    let deadline = ARM_DEADLINE.as_secs().to_string();
    let trusted = plugin.display().to_string();
    let flags = [
        "--trust",
        &trusted,
        "--base-url",
        &url,
        "--model",
        "mock",
        "--no-cache",
        "--quiet",
        "--format",
        "json",
        "--deadline",
        &deadline,
    ];
    let beside = |others: &[String]| {
        let mut words = vec!["compare", "single"];
        words.extend(others.iter().map(String::as_str));
        words.extend([suite.as_str(), "--workers", "160"]);
        arm(world, &words, &flags)
    };
    let mut right = f64::INFINITY;
    let mut all = Vec::new();
    let mut each = vec![Vec::new(); hostile.len()];
    for _ in 0..ROUNDS {
        let alone =
            arm(world, &["benchmark", &suite, "--strategy", "single", "--workers", "160"], &flags)?;
        let together = beside(&hostile)?;
        right = right.min(together.0);
        all.push(together.1 / alone.1);
        for (ratios, one) in each.iter_mut().zip(&hostile) {
            ratios.push(beside(std::slice::from_ref(one))?.1 / alone.1);
        }
    }
    let each: Vec<f64> = each.into_iter().map(median).collect();
    let shown =
        each.iter().zip(ARMS).map(|(ratio, (_, behaviour))| format!("{behaviour} {ratio:.2}"));
    let slowest = greatest(&all);
    let note = format!("medians of {ROUNDS} rounds: {}", shown.collect::<Vec<_>>().join(", "));
    let what = |others| {
        format!("p95 of an arm beside {others}, against that alone, both at --workers 160")
    };
    Ok(vec![
        Figure::new("right answers of an arm beside three hostile ones", right, "")
            .at_least(QUESTIONS.into()),
        Figure::new(what("three hostile ones"), median(all), "×")
            .at_most(1.5)
            .note(format!("the median of {ROUNDS} rounds, the greatest {slowest:.2}")),
        Figure::new(what("one hostile one, the worst of three"), greatest(&each), "×")
            .at_most(2.0)
            .note(note),
    ])
}

/// Right answers of the ordinary arm, and its p95 in milliseconds.
fn arm(world: &World, words: &[&str], flags: &[&str]) -> Outcome<(f64, f64)> {
    let arguments: Vec<&str> = words.iter().chain(flags).copied().collect();
    let output = child::host(world, &arguments)?.output()?;
    let report: Value = serde_json::from_str(text(&output.stdout).trim())?;
    let arms = report["arms"].as_array();
    let arm =
        arms.and_then(|arms| arms.iter().find(|arm| arm["name"] == "single")).unwrap_or(&report);
    let right = arm["right"].as_f64().ok_or("the report has no arm `single`")?;
    let p95 = arm["costs"]["latency"]["p95_ms"].as_f64().ok_or("the report has no times")?;
    Ok((right, p95))
}
