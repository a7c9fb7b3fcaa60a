//! The variables that name the part of a run that a process works on: those of the user, and those
//! of schedulers.

/// The part, such as `2/8`.
pub(crate) const SHARD: &str = "SYRCH_SHARD";
/// The number of parts.
pub(crate) const SHARDS: &str = "SYRCH_SHARDS";

/// The number of a task of a Slurm array.
pub(crate) const TASK: &str = "SLURM_ARRAY_TASK_ID";
/// The number of tasks of the array.
pub(crate) const COUNT: &str = "SLURM_ARRAY_TASK_COUNT";
/// The number of the first task.
pub(crate) const FIRST: &str = "SLURM_ARRAY_TASK_MIN";
/// The number of the last task.
pub(crate) const LAST: &str = "SLURM_ARRAY_TASK_MAX";
/// The difference of the numbers of two tasks.
pub(crate) const STEP: &str = "SLURM_ARRAY_TASK_STEP";
/// The index of a pod of a Kubernetes Indexed Job, from 0.
pub(crate) const INDEX: &str = "JOB_COMPLETION_INDEX";

/// The variables of schedulers.
pub(crate) const VARIABLES: [&str; 6] = [TASK, COUNT, FIRST, LAST, STEP, INDEX];
