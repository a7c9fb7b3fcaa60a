//! Measures the cost of a whole search beside the model and the statements, in a host that is
//! already open.

use std::time::Instant;

use syrch::{Host, Settings, Silent};

use crate::Outcome;
use crate::figure::Figure;
use crate::samples::{median, milliseconds};
use crate::world::{World, add_journal, search, three_tasks};

const WARM_UP: usize = 20;
const SEARCHES: usize = 200;

/// Searches of three tasks against an endpoint that answers at once. Its requests and the
/// statements are counted in, so that the overhead itself is less than what is shown.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = three_tasks();
    let settings = world.settings(&endpoint)?;
    let with_journal = add_journal(settings.clone(), &world.place("runs")?);
    let mut figures = Vec::new();
    for (what, settings) in [("without a journal", settings), ("with a journal", with_journal)] {
        let before = endpoint.count();
        let time = world.runtime.block_on(whole(settings))?;
        let calls = (endpoint.count() - before) / (WARM_UP + SEARCHES);
        let figure =
            Figure::new(format!("a whole search in process, {what}"), time, "ms").at_most(10.0);
        figures.push(figure.note(format!(
            "three tasks; {calls} requests to a mock endpoint and the SQL counted in"
        )));
    }
    Ok(figures)
}

/// The median of a search's time, in milliseconds.
async fn whole(settings: Settings) -> Outcome<f64> {
    let host = Host::open(settings, &Silent).await?;
    let mut times = Vec::with_capacity(SEARCHES);
    for round in 0..WARM_UP + SEARCHES {
        let begin = Instant::now();
        search(&host, "How many orders did the customers of each country place?").await?;
        if round >= WARM_UP {
            times.push(milliseconds(begin));
        }
    }
    Ok(median(times))
}
