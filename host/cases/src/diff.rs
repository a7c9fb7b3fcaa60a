//! The lines in which two texts differ.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use syrch_core::text::clip;

/// Lines that stay the same, before and after those that differ.
const AROUND: usize = 3;
/// Lines that a difference shows.
const SHOWN: usize = 80;
/// Bytes of a line that it shows: a prompt may be one line.
const WIDTH: usize = 400;
/// Time for the smallest difference; after it a larger one is shown.
const DEADLINE: Duration = Duration::from_secs(2);

/// The lines that differ, each after `-` if only `before` has it and after `+` if only `after` has
/// it, with some lines around them and `…` for those that are left out. Empty if the texts are
/// equal.
#[must_use]
pub(crate) fn diff(before: &str, after: &str) -> Vec<String> {
    let compared = TextDiff::configure().timeout(DEADLINE).diff_lines(before, after);
    let mut lines = Vec::new();
    let mut more = 0;
    let mut push = |line: &dyn Fn() -> String| match lines.len() {
        0..SHOWN => lines.push(line()),
        _ => more += 1,
    };
    for (at, group) in compared.grouped_ops(AROUND).iter().enumerate() {
        if at > 0 {
            push(&|| "  …".to_owned());
        }
        for change in group.iter().flat_map(|change| compared.iter_changes(change)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            push(&|| format_line(sign, change.value().trim_end_matches('\n')));
        }
    }
    if more > 0 {
        lines.push(format!("… and {more} more lines"));
    }
    lines
}

fn format_line(sign: char, line: &str) -> String {
    let head = clip(line, WIDTH);
    match line.len() - head.len() {
        0 => format!("{sign} {head}"),
        more => format!("{sign} {head}… and {more} more bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        assert!(diff("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(diff("a\nb\nc\n", "a\nx\nc\n"), ["  a", "- b", "+ x", "  c"]);
        assert_eq!(diff("", "a\n"), ["+ a"]);
        assert_eq!(diff("a\nb\nc\nd\n", "b\nc\ne\n"), ["- a", "  b", "  c", "- d", "+ e"]);
    }

    #[test]
    fn large_texts_are_cut() {
        let many = |word: &str| (0..5_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let lines = diff(&many("a"), &many("b"));
        assert_eq!((lines.len(), lines[80].as_str()), (81, "… and 9920 more lines"));
        let wide = diff(&"ä".repeat(5_000), "");
        assert_eq!(wide, [format!("- {}… and 9600 more bytes", "ä".repeat(200))]);
        let numbered: String = (0..30).map(|n| format!("{n}\n")).collect();
        let lines = diff(&numbered, &numbered.replace("2\n", "x\n").replace("25\n", "y\n"));
        assert!(lines.contains(&"  …".to_owned()), "{lines:?}");
    }
}
