//! Whether one guest's model calls are under way at once: five that take 200 ms each, against one.

use std::time::Duration;

use syrch::{Host, Silent};

use crate::Outcome;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::{World, search, subplans};

const DELAY: Duration = Duration::from_millis(200);
const CALLS: usize = 5;
const ROUNDS: usize = 5;

/// The built-in planner plans subtasks that are not atomic side by side; how long a search takes to
/// plan is what is compared.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let (one, five) = world.runtime.block_on(async {
        let lonely = subplans(1, DELAY);
        let together = subplans(CALLS, DELAY);
        let single = Host::open(world.settings(&lonely)?, &Silent).await?;
        let several = Host::open(world.settings(&together)?, &Silent).await?;
        let mut one = Vec::new();
        let mut five = Vec::new();
        for _ in 0..ROUNDS {
            one.push(search(&single, "How many customers are there?").await?);
            five.push(search(&several, "How many customers are there?").await?);
        }
        if together.peak() < CALLS {
            return Err(format!(
                "only {} of {CALLS} calls were under way at once",
                together.peak()
            )
            .into());
        }
        Outcome::Ok((median(one), median(five)))
    })?;
    let what = "five 200 ms model calls of one guest, against one";
    Ok(vec![
        Figure::new(what, five / one, "×").at_most(1.1).note(format!("{five:.1} ms, {one:.1} ms")),
    ])
}
