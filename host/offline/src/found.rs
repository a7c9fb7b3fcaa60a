//! The cells that phrases of a question name.

use super::query::Operand;
use super::schema::ColumnRef;

/// A phrase of the question that is a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) column: ColumnRef,
    /// The cell as the database spells it.
    pub(crate) text: String,
    /// Further spellings of it in the same column, which differ in letter case only.
    pub(crate) also: Vec<String>,
    /// The likeness: 1 for the phrase itself, less for another form of it.
    pub(crate) weight: f64,
}

impl Found {
    /// Returns the operand with which a column is compared to find the cell in all its spellings.
    pub(crate) fn operand(self) -> Operand {
        if self.also.is_empty() {
            return Operand::Text(self.text);
        }
        let mut also = self.also;
        also.sort_unstable();
        Operand::Texts(std::iter::once(self.text).chain(also).collect())
    }
}
