//! The policy of a search: what it is called in strategy files, and its ranges, for these files and
//! for everybody else who sets it.

use serde_json::{Value, json};
use syrch_core::ports::Policy;

/// One value of a policy, with its range.
#[derive(Debug)]
pub struct Limit {
    /// Its key in strategy files.
    pub key: &'static str,
    /// True if it is a whole number of at least the least, or a number above it.
    pub whole: bool,
    /// The least value, or for a share the number that it must be above.
    pub min: u32,
    /// The greatest value that is allowed.
    pub max: u32,
    get: fn(&Policy) -> Value,
    set: fn(&mut Policy, f64),
}

/// The whole policy, in the order of its keys.
pub static LIMITS: [Limit; 5] = [
    Limit::HIGH_CONFIDENCE,
    Limit::MAX_ATTEMPTS,
    Limit::MAX_DEPTH,
    Limit::MAX_PARALLEL,
    Limit::MAX_ROUNDS,
];

const fn whole_number(
    key: &'static str,
    max: u32,
    get: fn(&Policy) -> Value,
    set: fn(&mut Policy, f64),
) -> Limit {
    Limit { key, whole: true, min: 1, max, get, set }
}

impl Limit {
    /// Stop trying at or above this confidence.
    pub const HIGH_CONFIDENCE: Self = Self {
        key: "high_confidence",
        whole: false,
        min: 0,
        max: 1,
        get: |policy| json!(policy.high_confidence),
        set: |policy, number| policy.high_confidence = number,
    };
    /// Statements tried for one task.
    pub const MAX_ATTEMPTS: Self = whole_number(
        "max_attempts",
        100,
        |policy| json!(policy.max_attempts),
        |policy, n| policy.max_attempts = n as u32,
    );
    /// The levels to which a planner may divide tasks.
    pub const MAX_DEPTH: Self = whole_number(
        "max_depth",
        16,
        |policy| json!(policy.max_depth),
        |policy, n| policy.max_depth = n as u32,
    );
    /// Tasks under way at once.
    pub const MAX_PARALLEL: Self = whole_number(
        "max_parallel",
        64,
        |policy| json!(policy.max_parallel),
        |policy, n| policy.max_parallel = n as u32,
    );
    /// Steps of the planner that may change the graph.
    pub const MAX_ROUNDS: Self = whole_number(
        "max_rounds",
        256,
        |policy| json!(policy.max_rounds),
        |policy, n| policy.max_rounds = n as u32,
    );

    /// The limit of that key.
    #[must_use]
    pub fn for_key(key: &str) -> Option<&'static Self> {
        LIMITS.iter().find(|limit| limit.key == key)
    }

    /// Returns whether a value is within it.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        let min = f64::from(self.min);
        let max = f64::from(self.max);
        match self.whole {
            true => value
                .as_u64()
                .is_some_and(|n| (u64::from(self.min)..=u64::from(self.max)).contains(&n)),
            false => value.as_f64().is_some_and(|n| n > min && n <= max),
        }
    }

    /// Returns a description of the values that are allowed.
    #[must_use]
    pub fn describe_range(&self) -> String {
        let Self { min, max, .. } = self;
        match self.whole {
            true => format!("a whole number from {min} to {max}"),
            false => format!("a number above {min}, at most {max}"),
        }
    }

    /// The value that is in force.
    #[must_use]
    pub fn get(&self, policy: &Policy) -> Value {
        (self.get)(policy)
    }

    /// Sets a value that [`Limit::admits`] accepts.
    pub fn set(&self, policy: &mut Policy, value: &Value) {
        if let Some(number) = value.as_f64() {
            (self.set)(policy, number);
        }
    }
}
