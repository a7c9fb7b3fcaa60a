//! The part of a result that a client's model may see: as much as `--rows` grants to prompts,
//! within the caps of an answer.

use serde_json::Value;
use syrch::report::AnswerBody;
use syrch::syrch_core::ports::RowsGrant;

/// The limit on the rows of a result that go to a client.
pub(crate) const MAX_ROWS: usize = 200;
/// The limit on the cells of a result that go to a client, in bytes of JSON.
const MAX_BYTES: usize = 64 << 10;
/// The limit on the length of a cell, in characters.
const MAX_CELL: usize = 4_000;

/// The number of rows that a grant lets a client see.
pub(crate) fn row_limit(grant: RowsGrant) -> usize {
    match grant {
        RowsGrant::None | RowsGrant::Aggregates => 0,
        RowsGrant::Sample(rows) => usize::try_from(rows).unwrap_or(usize::MAX).min(MAX_ROWS),
        RowsGrant::Full => MAX_ROWS,
    }
}

/// Cuts rows to that number and to the size of an answer, and long cells to their beginning.
pub(crate) fn cut(rows: &mut Vec<Vec<Value>>, most: usize) {
    rows.truncate(most);
    rows.iter_mut().flatten().for_each(cut_cell);
    let mut left = MAX_BYTES;
    let fitting = rows.iter().take_while(|row| {
        let size: usize = row.iter().map(|cell| cell.to_string().len()).sum();
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    });
    let fitting = fitting.count();
    rows.truncate(fitting);
}

fn cut_cell(cell: &mut Value) {
    if let Value::String(text) = cell
        && let Some((end, _)) = text.char_indices().nth(MAX_CELL)
    {
        text.truncate(end);
        text.push('…');
    }
}

/// Withholds the rows of an answer that the grant or the caps do not let through. Returns a warning
/// if there are such rows.
pub(crate) fn withhold(body: &mut AnswerBody, grant: RowsGrant) -> Option<String> {
    let all = body.rows.len();
    cut(&mut body.rows, row_limit(grant));
    let shown = body.rows.len();
    (shown < all).then(|| {
        format!(
            "{shown} of {all} rows are shown: --rows {grant} of the server grants no more, or they \
             are too large; the SQL gives all of them"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(rows: usize) -> AnswerBody {
        AnswerBody {
            text: "There are some.".into(),
            columns: vec!["n".into()],
            rows: (0..rows).map(|n| vec![json!(n)]).collect(),
            row_count: rows as u64,
            truncated: false,
            basis: Vec::new(),
        }
    }

    #[test]
    fn the_grant_and_the_caps_bound_what_is_shown() {
        for (grant, shown) in [
            (RowsGrant::None, 0),
            (RowsGrant::Aggregates, 0),
            (RowsGrant::Sample(3), 3),
            (RowsGrant::Sample(9_999), MAX_ROWS),
            (RowsGrant::Full, MAX_ROWS),
        ] {
            let mut answer = body(500);
            let warning = withhold(&mut answer, grant).unwrap();
            assert_eq!((answer.rows.len(), answer.row_count), (shown, 500), "{grant}");
            assert!(warning.starts_with(&format!("{shown} of 500 rows")), "{warning}");
        }
        assert_eq!(withhold(&mut body(3), RowsGrant::Sample(3)), None);
    }

    #[test]
    fn large_cells_are_cut_and_large_rows_left_out() {
        let mut rows = vec![vec![json!("é".repeat(9_000))]; 30];
        cut(&mut rows, 30);
        let Value::String(text) = &rows[0][0] else { panic!("{rows:?}") };
        assert_eq!(text.chars().count(), MAX_CELL + 1);
        assert_eq!(rows.len(), 8);
    }
}
