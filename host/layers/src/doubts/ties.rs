//! A tie at the end of a ranking: the last row that is shown is no greater than one that is left
//! out.

use syrch_core::ports::{Cut, Outline};
use syrch_core::text::clip;
use syrch_core::{Doubt, DoubtKind, Value};

use super::words::{CELL, LONG};
use super::{Author, Counted, Judge};

/// The beginning of the statements that definitions give. They sort by the groups behind the key
/// that is asked for, so that their rows are the same every time.
pub(super) const DEFINED: &str = "WITH measured";

impl Judge<'_> {
    /// The doubt about the first rows of an order of which the last has the keys of another, which
    /// is left out.
    pub(super) async fn tie(&mut self, outline: &Outline) -> Option<Doubt> {
        if self.defined.is_none() && self.author != Author::Rules {
            return None;
        }
        let Cut { rows, keys, name } = outline.cut.as_ref()?;
        let limit = outline.limit.filter(|limit| self.results.0.row_count() == *limit)?;
        let Counted::Rows(rows) = self.count(rows.clone(), LONG).await else { return None };
        let width = rows.first()?.len().checked_sub(*keys)?;
        let compared = if self.defined.is_some() { 1 } else { *keys };
        let (last, behind) = rows.split_first()?;
        let (shown, keys) = last.split_at(width);
        let is_tie = keys.first() != Some(&Value::Null)
            && behind
                .iter()
                .map(|row| row.split_at(width))
                .any(|(other, at)| at[..compared] == keys[..compared] && other != shown);
        let shown = match limit {
            1 => "the one that is shown".to_owned(),
            limit => format!("the last of the {limit} that are shown"),
        };
        is_tie.then(|| doubt(&format!("another has the same {} as {shown}", clip(name, CELL))))
    }

    /// The doubt about the first rows of each group of a ranking of metrics, of which one is no
    /// greater than another in its group.
    pub(super) async fn tie_in_group(&mut self) -> Option<Doubt> {
        let Counted::Rows(rows) = self.count(count_ties(self.defined?)?, LONG).await else {
            return None;
        };
        let is_tie = matches!(rows.first()?.first()?, Value::Integer(ties) if *ties > 0);
        let text = "another in its group has the same as the last that is shown of the group";
        is_tie.then(|| doubt(text))
    }
}

fn doubt(text: &str) -> Doubt {
    Doubt { kind: DoubtKind::Tie, text: text.to_owned() }
}

/// The statement that counts the rows which a ranking within groups leaves out though they are as
/// great as one that it shows. The ranking is one that definitions gave, whose rows are numbered in
/// the relation `ranked`.
fn count_ties(sql: &str) -> Option<String> {
    let (before, rest) = sql.rsplit_once("\n    ROW_NUMBER() OVER (")?;
    let (window, after) = rest.split_once(") AS r0\n")?;
    let (source, shown) = after.rsplit_once("\n)\nSELECT ")?;
    let (_, shown) = shown.split_once("\nFROM ranked\nWHERE ranked.r0 <= ")?;
    let (limit, _) = shown.split_once("\nORDER BY ")?;
    limit.parse::<u64>().ok()?;
    let (groups, keys) = window.split_once(" ORDER BY ")?;
    let first = first_key(keys);
    // Where an engine has no NULLS LAST, `x IS NULL` stands before `x`.
    let first = match first.ends_with(" IS NULL") {
        true => first_key(keys[first.len()..].trim_start_matches([',', ' '])),
        false => first,
    };
    let key = [" DESC", " ASC", " NULLS"].iter().filter_map(|end| first.find(end)).min();
    let key = &first[..key.unwrap_or(first.len())];
    Some(format!(
        "{before}\n    CASE WHEN {key} IS NOT NULL THEN RANK() OVER ({groups} ORDER BY {first}) \
         END AS tied,\n    ROW_NUMBER() OVER ({window}) AS r0\n{source}\n)\nSELECT COUNT(*)\nFROM \
         ranked\nWHERE ranked.r0 > {limit} AND ranked.tied <= {limit}"
    ))
}

/// The first of several keys, between which there are commas outside of parentheses.
fn first_key(keys: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in keys.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return &keys[..at],
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_left_out_of_a_group_are_counted_by_their_rank() {
        let head = "WITH measured AS (\n  SELECT 1\n),\nranked AS (\n  SELECT measured.d0, \
                    measured.m0 AS x0,";
        let order = "COALESCE(measured.m0, 0) DESC NULLS LAST, measured.d0 NULLS LAST";
        let window = format!("PARTITION BY measured.d0 ORDER BY {order}");
        let tail = "FROM measured\n)";
        let sql = format!(
            "{head}\n    ROW_NUMBER() OVER ({window}) AS r0\n  {tail}\nSELECT ranked.d0 AS \
             country\nFROM ranked\nWHERE ranked.r0 <= 2\nORDER BY ranked.d0 NULLS LAST, ranked.r0"
        );
        let counted = format!(
            "{head}\n    CASE WHEN COALESCE(measured.m0, 0) IS NOT NULL THEN RANK() OVER \
             (PARTITION BY measured.d0 ORDER BY COALESCE(measured.m0, 0) DESC NULLS LAST) END AS \
             tied,\n    \
             ROW_NUMBER() OVER ({window}) AS r0\n  {tail}\nSELECT COUNT(*)\nFROM ranked\nWHERE \
             ranked.r0 > 2 AND ranked.tied <= 2"
        );
        assert_eq!(count_ties(&sql), Some(counted));
        // Of an engine without NULLS LAST.
        let other = "COALESCE(measured.m0, 0) IS NULL, COALESCE(measured.m0, 0) DESC";
        let counted = count_ties(&sql.replace(order, other)).unwrap();
        let rank =
            "RANK() OVER (PARTITION BY measured.d0 ORDER BY COALESCE(measured.m0, 0) DESC) END";
        assert!(counted.contains(rank), "{counted}");
        for other in [sql.replace("ranked.r0 <", "ranked.r1 <"), sql.replace("<= 2", "= 2")] {
            assert_eq!(count_ties(&other), None, "{other}");
        }
    }
}
