//! Groups of statements by what they return.

use syrch_plugin::prelude::*;

/// By what a result is known: its multiset of rows. A host that knows no fingerprint leaves each text its own result.
pub(crate) fn mark(results: &ResultSet, sql: &str) -> String {
    results.fingerprint(&Equality::Bag).unwrap_or_else(|| format!("text {sql}"))
}

/// The places of equal marks together, ascending: the largest group first, and of equally large ones that with the earliest member.
pub(crate) fn grouped(marks: &[String]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, mark) in marks.iter().enumerate() {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| marks[*first] == *mark)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// A number of things as the contract counts them.
pub(crate) fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_group_comes_first_and_then_the_earliest() {
        let marks: Vec<String> = ["a", "b", "c", "b", "c"].iter().map(|mark| (*mark).to_owned()).collect();
        assert_eq!(grouped(&marks), [vec![1, 3], vec![2, 4], vec![0]]);
        assert!(grouped(&[]).is_empty());
    }
}
