//! The cells of each group of three characters, made when a comparison first needs them.

use std::collections::HashMap;
use std::mem;

use syrch_core::SqlError;

use super::trigram::{Trigram, trigrams};
use super::{grown_by, list_bytes, reserve};

/// Bytes of a group in the table of groups, when one eighth of its places are free. It doubles when
/// it is full.
const GROUP: usize = (size_of::<(Trigram, u32)>() + 1) * 8 / 7;
/// Cells between two checks of the time.
const CHECKED: usize = 256;

/// The cells of each group.
#[derive(Default)]
pub(super) struct Groups {
    /// The number of each group.
    known: HashMap<Trigram, u32>,
    /// The number of groups of each cell.
    counts: Vec<u32>,
    /// While the index is built: the numbers of the groups of each cell, one cell after the other.
    numbers: Vec<u32>,
    /// Once it is built: the cells of each group, one group after the other, and where those of
    /// each group begin.
    cells: Vec<u32>,
    starts: Vec<u32>,
}

impl Groups {
    /// The groups of the first texts, as far as they find space in so many bytes.
    ///
    /// # Errors
    /// Those of `check`, which is called now and then.
    pub(super) fn new<'t>(
        texts: impl Iterator<Item = &'t str>,
        bytes: usize,
        check: &impl Fn() -> Result<(), SqlError>,
    ) -> Result<Self, SqlError> {
        let mut made = Self::default();
        for (at, text) in texts.enumerate() {
            if at.is_multiple_of(CHECKED) {
                check()?;
            }
            let groups = trigrams(text);
            if made.bytes() + made.grown_by(groups.len()) > bytes {
                break;
            }
            made.add(&groups);
        }
        check()?;
        made.finish();
        Ok(made)
    }

    fn add(&mut self, groups: &[Trigram]) {
        reserve(&mut self.numbers, groups.len());
        reserve(&mut self.counts, 1);
        self.counts.push(u32::try_from(groups.len()).unwrap_or(u32::MAX));
        for group in groups {
            let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
            self.numbers.push(*self.known.entry(*group).or_insert(next));
        }
    }

    /// Sorts the cells by group.
    fn finish(&mut self) {
        let numbers = mem::take(&mut self.numbers);
        self.starts = vec![0; self.known.len() + 1];
        for number in &numbers {
            self.starts[*number as usize + 1] += 1;
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        self.cells = vec![0; numbers.len()];
        let counts = self.counts.iter();
        let cells =
            (0..).zip(counts).flat_map(|(cell, count)| std::iter::repeat_n(cell, *count as usize));
        for (number, cell) in numbers.iter().zip(cells) {
            let next = &mut self.starts[*number as usize];
            self.cells[*next as usize] = cell;
            *next += 1;
        }
        // Each begins where the one before it ends now.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn cells(&self, group: &Trigram) -> &[u32] {
        let Some(number) = self.known.get(group) else { return &[] };
        let at = *number as usize;
        let range = self.starts[at] as usize..self.starts[at + 1] as usize;
        &self.cells[range]
    }

    /// The bytes that it holds at the most: the list of numbers and the sorted cells stand beside
    /// each other.
    fn bytes(&self) -> usize {
        let known = self.known.capacity() * GROUP + self.known.len() * size_of::<u32>();
        known
            + list_bytes(&self.counts)
            + list_bytes(&self.numbers)
            + self.numbers.len() * size_of::<u32>()
    }

    /// The number of bytes that it would hold in addition with so many groups of one more cell: a
    /// table that grows stands beside the old one.
    fn grown_by(&self, groups: usize) -> usize {
        let is_grown = self.known.len() + groups > self.known.capacity();
        let known = if is_grown { 2 * self.known.capacity() * GROUP } else { 0 };
        let lists = grown_by(&self.numbers, groups) + grown_by(&self.counts, 1);
        known + lists + 2 * groups * size_of::<u32>()
    }
}

/// The numbers of groups that cells share with a phrase.
pub(super) struct Shared<'g> {
    groups: &'g Groups,
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl<'g> Shared<'g> {
    pub(super) fn new(groups: &'g Groups) -> Self {
        Self { groups, counts: vec![0; groups.counts.len()], touched: Vec::new() }
    }

    /// Counts anew, over the cells of a phrase's groups. Returns cells with how many groups they
    /// share and how many they have.
    pub(super) fn count(&mut self, phrase: &[Trigram]) -> impl Iterator<Item = (u32, u32, u32)> {
        for id in phrase.iter().flat_map(|group| self.groups.cells(group)) {
            if let Some(count) = self.counts.get_mut(*id as usize) {
                if *count == 0 {
                    self.touched.push(*id);
                }
                *count += 1;
            }
        }
        let counts = &mut self.counts;
        let all = &self.groups.counts;
        self.touched.drain(..).filter_map(|id| {
            let at = id as usize;
            Some((id, mem::take(counts.get_mut(at)?), *all.get(at)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_cells() {
        let texts = ["Cat", "", "cat dog", "dog"];
        let groups = Groups::new(texts.into_iter(), usize::MAX, &|| Ok(())).unwrap();
        let cells = |group: [char; 3]| groups.cells(&group).to_vec();
        assert_eq!(cells(['c', 'a', 't']), [0, 2]);
        assert_eq!(cells(['d', 'o', 'g']), [2, 3]);
        assert_eq!(cells(['o', 'g', ' ']), [2, 3]);
        assert!(cells(['x', 'x', 'x']).is_empty());
    }
}
