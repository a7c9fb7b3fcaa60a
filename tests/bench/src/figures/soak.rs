//! Measures whether the memory of a host grows with its searches: many searches in one process of
//! its own, against an endpoint in this one.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde::{Deserialize, Serialize};
use syrch::{Host, Silent};

use crate::child::check_success;
use crate::figure::Figure;
use crate::machine::resident;
use crate::world::{World, add_cache, add_journal, one_task, runtime, search, settings};
use crate::{Outcome, text};

/// Searches under way at once.
const WORKERS: u32 = 4;
/// The memory is measured after each tenth.
const LOOKS: u32 = 10;

/// The arguments of the process.
#[derive(Args)]
pub(crate) struct Soak {
    /// The path of the database to search.
    #[arg(long)]
    database: PathBuf,
    /// The URL of the endpoint to call.
    #[arg(long)]
    url: String,
    /// The folder of compiled plugins, cached answers and journals.
    #[arg(long)]
    folder: PathBuf,
    /// The number of searches to make.
    #[arg(long)]
    searches: u32,
}

/// The report of the process.
#[derive(Serialize, Deserialize)]
struct Reported {
    /// Bytes of memory after each tenth of the searches.
    resident: Vec<u64>,
    /// The duration of all searches together.
    seconds: f64,
}

/// Starts the process and compares what it had after the first tenth with what it has at the end.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = one_task();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["soak", "--url", &endpoint.url(), "--searches", &world.searches.to_string()]);
    command
        .arg("--database")
        .arg(&world.shop)
        .arg("--folder")
        .arg(world.place("soak")?)
        .stdin(Stdio::null());
    let output = command.output()?;
    check_success(&output)?;
    let reported: Reported = serde_json::from_str(&text(&output.stdout))?;
    let (Some(first), Some(last)) = (reported.resident.first(), reported.resident.last()) else {
        return Err("this system does not tell how much memory a process has".into());
    };
    let first = *first as f64 / f64::from(1 << 20);
    let last = *last as f64 / f64::from(1 << 20);
    let tenth = world.searches / LOOKS;
    let what = format!("memory after {} searches, against {tenth}", tenth * LOOKS);
    let asked = format!("journals and cache on, {WORKERS} at once, {} requests", endpoint.count());
    Ok(vec![
        Figure::new(what, last / first, "×")
            .at_most(1.1)
            .note(format!("{last:.1} MiB, {first:.1} MiB")),
        Figure::new(
            "searches of one task against the mock endpoint",
            f64::from(tenth * LOOKS) / reported.seconds,
            "/s",
        )
        .note(asked),
    ])
}

/// The process: searches, each for something else, with journals and a cache as by default.
///
/// # Errors
/// When a search fails.
pub(crate) fn run(soak: &Soak) -> Outcome<()> {
    let reported = runtime()?.block_on(all(soak))?;
    serde_json::to_writer(std::io::stdout(), &reported)?;
    Ok(())
}

async fn all(soak: &Soak) -> Outcome<Reported> {
    let settings = settings(&soak.database, &soak.url, &soak.folder);
    let settings = add_cache(add_journal(settings, &soak.folder.join("runs")), &soak.folder);
    let host = Arc::new(Host::open(settings, &Silent).await?);
    let begin = Instant::now();
    let each = soak.searches / LOOKS;
    let mut seen = Vec::new();
    for look in 0..LOOKS {
        let workers = (0..WORKERS).map(|worker| {
            let host = Arc::clone(&host);
            let numbers = (look * each..(look + 1) * each).skip(worker as usize);
            tokio::spawn(async move {
                for number in numbers.step_by(WORKERS as usize) {
                    search(
                        &host,
                        &format!("How many customers are there in each country, number {number}?"),
                    )
                    .await?;
                }
                Outcome::Ok(())
            })
        });
        for worker in futures::future::join_all(workers).await {
            worker??;
        }
        seen.extend(resident());
    }
    Ok(Reported { resident: seen, seconds: begin.elapsed().as_secs_f64() })
}
