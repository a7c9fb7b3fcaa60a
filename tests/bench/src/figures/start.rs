//! Measures the cost of starting: commands from the start of their process to its end.

use crate::Outcome;
use crate::child::{host, peak, times};
use crate::figure::Figure;
use crate::samples::{greatest, median};
use crate::world::{World, three_tasks};

const RUNS: usize = 30;
const QUESTION: &str = "How many orders did the customers of each country place?";

/// `schema` of the example database.
pub(crate) fn schema(world: &World) -> Outcome<Vec<Figure>> {
    let shop = world.shop.display().to_string();
    let times = times(&mut host(world, &["schema", &shop])?, RUNS)?;
    let worst = greatest(&times);
    let figure = Figure::new("`schema` from process start", median(times), "ms").at_most(30.0);
    Ok(vec![figure.note(format!("median of {RUNS}, worst {worst:.1} ms"))])
}

/// The first search on a machine where the host never ran, and the binary that makes it.
pub(crate) fn first_search(world: &World) -> Outcome<Vec<Figure>> {
    const MACHINES: usize = 10;
    let shop = world.shop.display().to_string();
    let mut times = Vec::with_capacity(MACHINES);
    for machine in 0..MACHINES {
        let home = world.place(&format!("first/{machine}"))?;
        let mut search = host(
            world,
            &["-q", "How many customers are there?", "--db", &shop, "--llm", "offline"],
        )?;
        search
            .env("HOME", &home)
            .env("SYRCH_CACHE_DIR", home.join("cache"))
            .env("SYRCH_STATE_DIR", home.join("state"));
        times.push(crate::child::time(&mut search)?);
    }
    let worst = greatest(&times);
    let time =
        Figure::new("the first search on a new machine, from process start", median(times), "ms");
    let size = std::fs::metadata(&world.host)?.len() as f64 / 1e6;
    Ok(vec![
        time.at_most(300.0).note(format!("by rules; median of {MACHINES}, worst {worst:.1} ms")),
        Figure::new("the binary", size, "MB").at_most(80.0),
    ])
}

/// A search of three tasks whose every reply is in the cache, with compiled plugins in theirs.
pub(crate) fn search_from_cache(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = three_tasks();
    let shop = world.shop.display().to_string();
    let url = endpoint.url();
    let arguments =
        ["-q", QUESTION, "--db", &shop, "--llm", "openai", "--model", "mock", "--base-url", &url];
    let mut search = host(world, &arguments)?;
    crate::child::check_success(&search.output()?)?;
    let asked = endpoint.count();
    let times = times(&mut search, RUNS)?;
    let memory = peak(&search)?;
    if endpoint.count() > asked {
        let more = endpoint.count() - asked;
        return Err(format!(
            "the cache did not answer: {more} further requests after the first {asked}"
        )
        .into());
    }
    let worst = greatest(&times);
    let time =
        Figure::new("a search answered from the cache, from process start", median(times), "ms")
            .at_most(30.0);
    Ok(vec![
        time.note(format!(
            "three tasks, {asked} cached calls; median of {RUNS}, worst {worst:.1} ms"
        )),
        Figure::new("its peak memory", memory, "MiB").at_most(80.0),
    ])
}
