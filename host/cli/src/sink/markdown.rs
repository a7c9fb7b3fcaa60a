//! GitHub's Markdown, for reports and issues. Nothing in a cell becomes a link, an image, HTML or a new row.

use serde_json::Value;

use super::{Grid, plain, terminal};

/// A table.
pub(crate) fn table(grid: &Grid) -> String {
    if grid.columns.is_empty() {
        return String::new();
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = row(grid.columns.iter().map(|name| text(name)).collect());
    let numeric = |column: usize| {
        let mut cells = grid.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_null()).peekable();
        cells.peek().is_some() && cells.all(Value::is_number)
    };
    let rule = |column| if numeric(column) { "---:" } else { "---" }.to_owned();
    out += &row((0..grid.columns.len()).map(rule).collect());
    for cells in &grid.rows {
        out += &row(cells.iter().map(cell).collect());
    }
    out
}

/// A number has no character of Markdown's that would mean something there, and is read by programs, too.
fn cell(value: &Value) -> String {
    if value.is_number() { plain(value) } else { text(&plain(value)) }
}

/// A text on one line, without markup; line breaks become `<br>`.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let text = text.replace("\r\n", "\n");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_word = chars.peek().is_none_or(|next| next.is_whitespace());
        match c {
            '\n' => out.push_str("<br>"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // `:`, `@` and `.` keep bare addresses from becoming links; the others are Markdown's own.
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' | ':' | '@' => {
                out.push('\\');
                out.push(c);
            }
            '-' | '+' | '=' if out.is_empty() => {
                out.push('\\');
                out.push(c);
            }
            // `1.` and `1)` begin a list; `1.5` does not.
            '.' | ')' if ends_word && is_list(&out) => {
                out.push('\\');
                out.push(c);
            }
            '.' if is_address(&out) => out.push_str("\\."),
            c => out.push_str(&terminal::line(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

fn is_address(before: &str) -> bool {
    before.get(before.len().saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

fn is_list(before: &str) -> bool {
    !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit())
}

/// A block of code, whose fence is longer than any inside.
pub(crate) fn code(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", terminal::block(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(text("a|b\nc"), "a\\|b<br>c");
        assert_eq!(text("<img src=x>&"), "&lt;img src=x&gt;&amp;");
        assert_eq!(text("[x](https://e.example)"), "\\[x\\](https\\://e.example)");
        assert_eq!(text("see www.e.example"), "see www\\.e.example");
        assert_eq!(text("1. a"), "1\\. a");
        assert_eq!((text("2) a").as_str(), text("7.").as_str()), ("2\\) a", "7\\."));
        assert_eq!(text("315.0"), "315.0");
        assert_eq!(text("\u{1b}[0m 3.5"), "\\u{1b}\\[0m 3.5");
    }

    #[test]
    fn columns_of_numbers_stand_right() {
        let grid = Grid {
            columns: vec!["a".into(), "n".into()],
            rows: vec![vec![json!("x"), json!(1)], vec![json!("y"), json!(null)]],
        };
        assert_eq!(table(&grid), "| a | n |\n| --- | ---: |\n| x | 1 |\n| y |  |\n");
    }

    #[test]
    fn numbers_stay_bare() {
        let grid = Grid { columns: vec!["n".into(); 3], rows: vec![vec![json!(315.0), json!(-5), json!("-5")]] };
        assert!(table(&grid).ends_with("| 315.0 | -5 | \\-5 |\n"));
    }

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(code("sql", "SELECT '```'"), "````sql\nSELECT '```'\n````\n");
    }

    proptest! {
        #[test]
        fn a_cell_stays_in_its_row(cell in any::<String>()) {
            let shown = text(&cell);
            prop_assert!(!shown.contains('\n') && !shown.replace("<br>", "").contains(['<', '>']));
            let mut escaped = false;
            for c in shown.chars() {
                prop_assert!(escaped || !matches!(c, '|' | '[' | ']' | '`'), "{}", shown);
                escaped = c == '\\' && !escaped;
            }
        }
    }
}
