//! The part of a run that this process works on: that of `--shard`, else that of the environment,
//! so that every worker of a cluster is started by the same command.

use syrch_grading::grade::run::Shard;

use super::Context;
use crate::environment::Environment;
use crate::environment::scheduler::{COUNT, FIRST, INDEX, LAST, SHARD, SHARDS, STEP, TASK};
use crate::failure::{Failure, Outcome};

/// The advice for an environment that names no part.
const NAME_IT: &str = "name the part by --shard i/n or SYRCH_SHARD=i/n; 1/1 is the whole";

/// Finds the part of this process, and lets it use its part of all rates of endpoints. `flag` is
/// that of `--shard`.
///
/// # Errors
/// When the environment contradicts itself, or names no part of a whole.
pub(crate) fn choose_shard(flag: Option<Shard>, context: &mut Context) -> Outcome<Option<Shard>> {
    let shard = match flag {
        Some(shard) => Some(shard),
        None => {
            let found = find_shard(&context.environment)?;
            if let Some((shard, variable)) = &found {
                context.console.note(&format!("shard {shard}, by {variable}"));
            }
            found.map(|(shard, _)| shard)
        }
    };
    context.config.effective.settings.model.shard = shard;
    Ok(shard)
}

/// Returns the advice to run these shards again.
pub(crate) fn advise_runs(shards: &[Shard]) -> String {
    /// Shards that are named.
    const NAMED: usize = 8;
    let named: Vec<String> =
        shards.iter().take(NAMED).map(|shard| format!("--shard {shard}")).collect();
    let further = match shards.len().saturating_sub(NAMED) {
        0 => String::new(),
        further => format!(" and {further} more"),
    };
    format!("run again, by the command that began it: {}{further}", named.join(", "))
}

/// The part that the environment names, with the variable that names it.
fn find_shard(environment: &Environment) -> Outcome<Option<(Shard, &'static str)>> {
    let parts = read_parts(environment)?;
    if let Some(word) = environment.syrch.get(SHARD) {
        let shard: Shard = word
            .as_deref()
            .unwrap_or_default()
            .parse()
            .map_err(|error| contradict(format!("environment variable {SHARD}: {error}")))?;
        check_parts(SHARD, shard, parts)?;
        return Ok(Some((shard, SHARD)));
    }
    let of_slurm = find_slurm(environment, parts)?.map(|shard| (shard, TASK));
    let of_kubernetes = find_kubernetes(environment, parts)?.map(|shard| (shard, INDEX));
    match (of_slurm, of_kubernetes) {
        (Some((one, _)), Some((other, _))) if one != other => Err(contradict(format!(
            "{TASK} says that this is shard {one}, and {INDEX} that it is shard {other}"
        ))),
        (None, None) if parts.is_some() => Err(contradict(format!(
            "{SHARDS} says how many shards there are, and nothing says which this is"
        ))),
        (of_slurm, of_kubernetes) => Ok(of_slurm.or(of_kubernetes)),
    }
}

/// The number of shards that [`SHARDS`] names.
pub(crate) fn read_parts(environment: &Environment) -> Outcome<Option<u32>> {
    let word = environment.syrch.get(SHARDS);
    word.map(|word| read_number(SHARDS, word.as_deref().unwrap_or_default())).transpose()
}

/// The part of a task of a Slurm array: its place among the tasks, which need not be counted from 0
/// or 1, nor by ones.
fn find_slurm(environment: &Environment, parts: Option<u32>) -> Outcome<Option<Shard>> {
    let Some(task) = read_variable(environment, TASK)? else { return Ok(None) };
    let count = require_variable(environment, COUNT)?;
    let first = require_variable(environment, FIRST)?;
    let step = read_variable(environment, STEP)?.unwrap_or(1);
    // A task that is started again alone would otherwise ask everything.
    if count == 1 && parts != Some(1) {
        return Err(contradict(format!(
            "{TASK} is {task} in an array of one task, which names no part of a whole"
        )));
    }
    let last = u64::from(first) + u64::from(step) * u64::from(count.saturating_sub(1));
    let is_last = read_variable(environment, LAST)?.is_none_or(|known| u64::from(known) == last);
    let place = task.checked_sub(first).filter(|_| u64::from(task) <= last);
    let place = place.filter(|place| step > 0 && place % step == 0);
    let (Some(place), true) = (place, is_last) else {
        return Err(contradict(format!(
            "the tasks of the array are not counted evenly: {COUNT} is {count}, {FIRST} {first}, \
             {STEP} {step}, and {TASK} {task}"
        )));
    };
    let shard = Shard { index: place / step + 1, of: count };
    check_parts(TASK, shard, parts)?;
    Ok(Some(shard))
}

/// The part of a pod of an Indexed Job, which knows its place and not the number of all.
fn find_kubernetes(environment: &Environment, parts: Option<u32>) -> Outcome<Option<Shard>> {
    let Some(index) = read_variable(environment, INDEX)? else { return Ok(None) };
    let Some(parts) = parts else {
        return Err(Failure::usage(format!("{INDEX} is {index}, and {SHARDS} is missing"))
            .hint(format!("set {SHARDS} to the completions of the job")));
    };
    let shard = index.checked_add(1).and_then(|place| Shard::new(place, parts).ok());
    let shard = shard.ok_or_else(|| {
        contradict(format!("{INDEX} is {index}, and {SHARDS} only {parts}: indices begin at 0"))
    })?;
    Ok(Some(shard))
}

/// Refuses a part of another whole than [`SHARDS`] says.
fn check_parts(variable: &str, shard: Shard, parts: Option<u32>) -> Outcome<()> {
    match parts {
        Some(parts) if parts != shard.of => Err(contradict(format!(
            "{variable} says that there are {} shards, and {SHARDS} says {parts}",
            shard.of
        ))),
        _ => Ok(()),
    }
}

/// The number of a variable that is there beside [`TASK`].
fn require_variable(environment: &Environment, name: &'static str) -> Outcome<u32> {
    read_variable(environment, name)?
        .ok_or_else(|| contradict(format!("{TASK} is set, and {name} is missing")))
}

fn read_variable(environment: &Environment, name: &'static str) -> Outcome<Option<u32>> {
    environment.scheduler.get(name).map(|word| read_number(name, word)).transpose()
}

fn read_number(name: &str, word: &str) -> Outcome<u32> {
    let digits = word.trim();
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.ok_or_else(|| {
        contradict(format!("environment variable {name}: `{word}` is no number of a task"))
    })
}

fn contradict(message: String) -> Failure {
    Failure::usage(message).hint(NAME_IT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::scheduler::VARIABLES;

    /// Variables as `NAME=VALUE`, with blanks between them.
    fn environment(variables: &str) -> Environment {
        let mut environment = Environment::default();
        for pair in variables.split_whitespace() {
            let (name, value) = pair.split_once('=').unwrap();
            match VARIABLES.iter().find(|known| **known == name) {
                Some(known) => _ = environment.scheduler.insert(known, value.to_owned()),
                None => _ = environment.syrch.insert(name.to_owned(), Some(value.to_owned())),
            }
        }
        environment
    }

    /// The part of a task of an array, whose variables end in these values.
    fn slurm(task: u32, count: u32, first: u32, last: u32, step: u32) -> String {
        format!("{TASK}={task} {COUNT}={count} {FIRST}={first} {LAST}={last} {STEP}={step} ")
    }

    fn find(variables: &str) -> Result<String, String> {
        find_shard(&environment(variables))
            .map(|found| found.map_or("none".to_owned(), |(shard, _)| shard.to_string()))
            .map_err(|failure| failure.message)
    }

    #[test]
    fn the_environment_names_the_part() {
        for (variables, shard) in [
            (String::new(), "none"),
            (format!("{COUNT}=8"), "none"),
            ("SYRCH_SHARD=3/8".to_owned(), "3/8"),
            (slurm(0, 8, 0, 7, 1), "1/8"),
            (slurm(8, 8, 1, 8, 1), "8/8"),
            // --array=10-40:10
            (slurm(30, 4, 10, 40, 10), "3/4"),
            (format!("{TASK}=5 {COUNT}=3 {FIRST}=4"), "2/3"),
            (format!("{INDEX}=0 SYRCH_SHARDS=4"), "1/4"),
            (format!("{INDEX}=3 SYRCH_SHARDS=4"), "4/4"),
            // A part that is named beats that of the scheduler.
            (slurm(0, 1, 0, 0, 1) + "SYRCH_SHARD=3/8", "3/8"),
            (slurm(2, 8, 0, 7, 1) + "JOB_COMPLETION_INDEX=2 SYRCH_SHARDS=8", "3/8"),
            (slurm(0, 1, 0, 0, 1) + "SYRCH_SHARDS=1", "1/1"),
        ] {
            assert_eq!(find(&variables).as_deref(), Ok(shard), "{variables}");
        }
    }

    #[test]
    fn an_environment_that_contradicts_itself_is_refused() {
        for (variables, part) in [
            ("SYRCH_SHARD=9/8".to_owned(), "there is no shard 9 of 8"),
            ("SYRCH_SHARD=x".to_owned(), "names no shard"),
            ("SYRCH_SHARD=3/8 SYRCH_SHARDS=4".to_owned(), "and SYRCH_SHARDS says 4"),
            ("SYRCH_SHARDS=4".to_owned(), "nothing says which this is"),
            ("SYRCH_SHARDS=+4".to_owned(), "`+4` is no number"),
            (format!("{TASK}=1"), "SLURM_ARRAY_TASK_COUNT is missing"),
            (format!("{TASK}=1 {COUNT}=2"), "SLURM_ARRAY_TASK_MIN is missing"),
            (format!("{TASK}=x {COUNT}=2 {FIRST}=0"), "`x` is no number"),
            // --array=3: one task of a former array, started again.
            (slurm(3, 1, 3, 3, 1), "an array of one task"),
            // --array=1,5,7
            (slurm(5, 3, 1, 7, 1), "not counted evenly"),
            (slurm(25, 4, 10, 40, 10), "not counted evenly"),
            (slurm(9, 8, 0, 7, 1), "not counted evenly"),
            (slurm(0, 8, 1, 8, 1), "not counted evenly"),
            (slurm(0, 8, 0, 0, 0), "not counted evenly"),
            (slurm(0, 4, 0, 3, 1) + "SYRCH_SHARDS=8", "and SYRCH_SHARDS says 8"),
            (format!("{INDEX}=0"), "SYRCH_SHARDS is missing"),
            (format!("{INDEX}=4 SYRCH_SHARDS=4"), "indices begin at 0"),
            (format!("{INDEX}=4294967295 SYRCH_SHARDS=4"), "indices begin at 0"),
            (slurm(2, 4, 0, 3, 1) + "JOB_COMPLETION_INDEX=0 SYRCH_SHARDS=4", "that it is shard 1"),
        ] {
            let message = find(&variables).unwrap_err();
            assert!(message.contains(part), "{variables}: {message}");
        }
    }

    #[test]
    fn the_advice_names_some_shards() {
        let shards: Vec<Shard> = (1..=10).map(|index| Shard { index, of: 10 }).collect();
        assert!(advise_runs(&shards[..1]).ends_with(": --shard 1/10"));
        assert!(advise_runs(&shards).ends_with("--shard 8/10 and 2 more"));
    }
}
