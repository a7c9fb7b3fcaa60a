//! Names as they are compared: without their letter case, and, where people may use other forms of
//! their words, by the stems of these.

use std::collections::HashMap;

/// Names of one kind, each with its place in a list.
#[derive(Debug, Default)]
pub(crate) struct Names {
    by_lower: HashMap<String, usize>,
    declared: Vec<String>,
}

impl Names {
    /// Adds a name. Returns the earlier one where the name is taken.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), usize> {
        let lower = name.to_lowercase();
        if let Some(&earlier) = self.by_lower.get(&lower) {
            return Err(earlier);
        }
        self.by_lower.insert(lower, self.declared.len());
        self.declared.push(name.to_owned());
        Ok(())
    }

    /// Returns the position of a name in the order in which names were added.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_lower.get(&name.to_lowercase()).copied()
    }

    /// Returns the name as it is declared.
    pub(crate) fn spelling(&self, name: &str) -> Option<&str> {
        self.find(name).map(|index| self.declared[index].as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().map(String::as_str)
    }
}

/// The stems of a name's words, in order, by which `Order items` and `order_item` are equal.
pub(crate) fn stems(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(syrch_words::stem).collect::<Vec<_>>().join(" ")
}
