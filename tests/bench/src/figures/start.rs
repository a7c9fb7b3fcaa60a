//! What starting costs: commands from the start of their process to its end.

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

/// A search of three tasks whose every reply is in the cache, with compiled plugins in theirs.
pub(crate) fn cached_search(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = three_tasks();
    let (shop, url) = (world.shop.display().to_string(), endpoint.url());
    let arguments = ["-q", QUESTION, "--db", &shop, "--llm", "openai", "--model", "mock", "--base-url", &url];
    let mut search = host(world, &arguments)?;
    crate::child::succeeded(&search.output()?)?;
    let asked = endpoint.count();
    let times = times(&mut search, RUNS)?;
    let memory = peak(&search)?;
    if endpoint.count() > asked {
        let more = endpoint.count() - asked;
        return Err(format!("the cache did not answer: {more} further requests after the first {asked}").into());
    }
    let worst = greatest(&times);
    let time = Figure::new("a search answered from the cache, from process start", median(times), "ms").at_most(60.0);
    Ok(vec![
        time.note(format!("three tasks, {asked} cached calls; median of {RUNS}, worst {worst:.1} ms")),
        Figure::new("its peak memory", memory, "MiB").at_most(80.0),
    ])
}
