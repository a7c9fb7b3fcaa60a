//! The use that a third-party plugin made of its grants in a search.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The use that one plugin which is not built in made of its grants in a search: what it asks for,
/// what it may have, and what it used of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Access {
    /// The name of the plugin in the lock, or the path of its file.
    pub plugin: String,
    /// The sha256 of its component, in hex.
    pub digest: String,
    /// The grants that it asks for; without a lock the ports that it imports.
    pub wanted: Vec<String>,
    /// The grants that it has; `None` if no lock names it, and it has all ports of its roles.
    pub granted: Option<Vec<String>>,
    /// Calls of each port that were granted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub used: BTreeMap<String, u64>,
    /// Calls of each port that were denied.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub denied: BTreeMap<String, u64>,
    /// The number of times that each limit stopped it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, u64>,
}

impl Access {
    /// Adds what the same plugin used in another search.
    pub fn add(&mut self, other: &Self) {
        for (own, others) in [
            (&mut self.used, &other.used),
            (&mut self.denied, &other.denied),
            (&mut self.limits, &other.limits),
        ] {
            for (name, count) in others {
                let sum = own.entry(name.clone()).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
    }

    /// The line that people read: `wanted llm, sql; granted llm; used llm 3; denied sql 1`.
    #[must_use]
    pub fn describe(&self) -> String {
        let granted = self.granted.as_ref();
        let granted = granted.map_or_else(|| "all (in no lock)".to_owned(), |words| list(words));
        let mut line = format!(
            "wanted {}; granted {granted}; used {}",
            list(&self.wanted),
            count_each(&self.used)
        );
        if !self.denied.is_empty() {
            line.push_str(&format!("; denied {}", count_each(&self.denied)));
        }
        if !self.limits.is_empty() {
            line.push_str(&format!("; stopped by {}", count_each(&self.limits)));
        }
        line
    }
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// The names with their counts, such as `llm 3, sql 1`.
fn count_each(counts: &BTreeMap<String, u64>) -> String {
    let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
    list(&each.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_of_several_searches_are_added_and_described() {
        let mut access = Access {
            wanted: vec!["llm".to_owned(), "sql".to_owned()],
            granted: Some(vec!["llm".to_owned()]),
            ..Access::default()
        };
        assert_eq!(access.describe(), "wanted llm, sql; granted llm; used nothing");
        let other = Access {
            used: BTreeMap::from([("llm".to_owned(), 2)]),
            denied: BTreeMap::from([("sql".to_owned(), 1)]),
            limits: BTreeMap::from([("model-calls".to_owned(), u64::MAX)]),
            ..Access::default()
        };
        access.add(&other);
        access.add(&other);
        assert_eq!(
            access.describe(),
            format!(
                "wanted llm, sql; granted llm; used llm 4; denied sql 2; stopped by model-calls {}",
                u64::MAX
            )
        );
        access.granted = None;
        assert!(access.describe().contains("granted all (in no lock)"));
    }
}
