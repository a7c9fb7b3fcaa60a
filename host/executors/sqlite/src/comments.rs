//! Comments in a table's declaration. SQLite keeps none of its own, only the text of CREATE TABLE: a comment at the end of a column's
//! line, or on the lines before it, is that column's, one before the first parenthesis is the table's. They are whatever somebody once
//! wrote there, so nothing reads them unless the user asks for it.

use syrch_core::{Dialect, Table};
use syrch_guard::Kind;

/// Longer ones are cut.
const BYTES: usize = 500;

/// Fills in the comments that `sql` declares.
pub(crate) fn fill(table: &mut Table, sql: &str) {
    let tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).unwrap_or_default();
    let (mut depth, mut item, mut waiting) = (0_usize, None::<String>, Vec::new());
    let (mut is_first, mut last_end) = (true, 0);
    for token in &tokens {
        match token.text(sql) {
            text if token.kind == Kind::Comment => {
                let same_line = !sql[last_end..token.start].contains('\n');
                match &item {
                    _ if depth == 0 => add(&mut table.comment, text),
                    Some(name) if same_line => comment_on(table, name, &[text]),
                    _ => waiting.push(text),
                }
                continue;
            }
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "," if depth == 1 => {
                is_first = true;
                last_end = token.end;
                continue;
            }
            _ => {}
        }
        if depth == 1
            && is_first
            && let Some(name) = token.name(sql)
        {
            comment_on(table, &name, &std::mem::take(&mut waiting));
            item = Some(name);
            is_first = false;
        }
        if token.kind != Kind::Space {
            last_end = token.end;
        }
    }
}

fn comment_on(table: &mut Table, name: &str, comments: &[&str]) {
    if let Some(column) = table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(name)) {
        comments.iter().for_each(|comment| add(&mut column.comment, comment));
    }
}

fn add(comment: &mut Option<String>, raw: &str) {
    let text = raw.trim_start_matches("--").trim_start_matches("/*").trim_end_matches("*/").trim();
    if text.is_empty() {
        return;
    }
    let whole = comment.take().map_or_else(|| text.to_owned(), |before| format!("{before} {text}"));
    *comment = Some(syrch_core::text::clip(&whole, BYTES).to_owned());
}

#[cfg(test)]
mod tests {
    use syrch_core::Column;

    use super::*;

    #[test]
    fn comments_go_to_the_column_that_they_stand_by() {
        let sql = "CREATE TABLE t -- people\n(\n  id INT, -- the key\n  -- given\n  -- and family\n  name TEXT CHECK(name <> ','), /* x */\n  plain INT\n  -- end\n)";
        let column = |name: &str| Column { name: name.into(), ..Column::default() };
        let mut table = Table { columns: ["id", "name", "plain"].map(column).to_vec(), ..Table::default() };
        fill(&mut table, sql);
        let comments: Vec<Option<&str>> = table.columns.iter().map(|column| column.comment.as_deref()).collect();
        assert_eq!(comments, [Some("the key"), Some("given and family x"), None]);
        assert_eq!(table.comment.as_deref(), Some("people"));
    }
}
