//! Measures how many of twenty slow statements the rules make faster, verified and confirmed, and
//! by how much: on `orders_10dim` in SQLite and on a schema like that of TPC-H in PostgreSQL.

mod statements;

use syrch::Host;
use syrch_kit::postgres::Server;
use syrch_optimizing::{IterationState, Optimized, Optimizes, Outcome as Ending, Report};
use syrch_orders::{Scale, make_orders};

use self::statements::{POSTGRES, SQLITE, Slow, TPCH};
use crate::Outcome;
use crate::figure::Figure;
use crate::say;
use crate::world::World;

/// A figure for each statement and one for each engine.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let path = world.place("slow")?.join("orders_10dim.sqlite");
    make_orders(&path, Scale::new(world.slow_scale)?, true, &mut |_| ())?;
    // Where the originals take long, there is no time for the pairs that confirm.
    let is_bounded = world.slow_scale <= 0.1;
    let mut figures = over(world, "SQLite", &path.display().to_string(), &SQLITE, is_bounded)?;
    match Server::start() {
        Some(server) => {
            server.database("tpch", TPCH);
            figures.extend(over(
                world,
                "PostgreSQL",
                &server.url("reader", "tpch"),
                &POSTGRES,
                true,
            )?);
        }
        None => figures.push(Figure::without_measure(
            all("PostgreSQL", POSTGRES.len()),
            "PostgreSQL is left out",
        )),
    }
    Ok(figures)
}

fn all(engine: &str, count: usize) -> String {
    format!(
        "of {count} slow statements in {engine}, those that rules make faster and the final \
         measurement confirms"
    )
}

fn over(
    world: &World,
    engine: &str,
    database: &str,
    statements: &[Slow],
    is_bounded: bool,
) -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut faster = 0_u32;
    for statement in statements {
        let run = Host::builder().database(database).optimize(statement.sql).run();
        let what = format!("{engine}, {}: speed relative to the original", statement.kind);
        // One statement that fails, such as by its deadline at a large scale, does not keep back
        // the others.
        let figure = match world.runtime.block_on(run) {
            Ok(Optimized { report, .. }) => {
                faster += u32::from(is_faster(&report));
                Figure::new(what, ratio(&report), "×").note(note(&report))
            }
            Err(error) => Figure::without_measure(what, error.to_string()),
        };
        // At a large scale the table comes after more than an hour.
        say(&figure.cells().join(" | "));
        figures.push(figure);
    }
    let total = Figure::new(all(engine, statements.len()), f64::from(faster), "").note("in-sample");
    // Two of three, since early stops and the engine's own planner leave some as they are.
    figures.push(if is_bounded {
        total.at_least((statements.len() * 2 / 3) as f64)
    } else {
        total
    });
    Ok(figures)
}

fn is_faster(report: &Report) -> bool {
    report.outcome == Ending::Optimized && report.is_confirmed()
}

/// The measured ratio; 1 where the statement stays as it is.
fn ratio(report: &Report) -> f64 {
    report
        .confirmation
        .as_ref()
        .filter(|_| report.outcome == Ending::Optimized)
        .map_or(1.0, |found| found.ratio)
}

/// The rule and the interval, or what became of the proposals.
fn note(report: &Report) -> String {
    let families = |is_kept: bool| {
        let iterations = report
            .iterations
            .iter()
            .filter(|iteration| !is_kept || iteration.state == IterationState::Kept);
        iterations.map(|iteration| iteration.family.as_str()).collect::<Vec<_>>().join(", ")
    };
    let Some(confirmation) =
        report.confirmation.as_ref().filter(|_| report.outcome == Ending::Optimized)
    else {
        let why = report.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        return format!("{}{why}; tried: {}", report.outcome.name(), families(false));
    };
    fn ms(ns: u64) -> f64 {
        ns as f64 / 1e6
    }
    let interval = confirmation
        .interval
        .map_or_else(String::new, |(low, high)| format!(", interval {low:.2}–{high:.2}"));
    format!(
        "{}: {:.0} → {:.0} ms{interval}, {} of {} pairs",
        families(true),
        ms(confirmation.original_ns),
        ms(confirmation.best_ns),
        confirmation.won,
        confirmation.pairs.len()
    )
}
