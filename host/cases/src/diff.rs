//! The lines in which two texts differ.

/// Lines that stay the same, before and after those that differ.
const AROUND: usize = 3;
/// Lines that a difference shows.
const SHOWN: usize = 80;
/// Pairs of lines that are compared at most; beyond it all lines between the first and the last difference count as different.
const COMPARED: usize = 4_000_000;

/// The lines that differ, each after `-` if only `before` has it and after `+` if only `after` has it, with some lines around them. Empty if
/// the texts are equal.
#[must_use]
pub fn diff(before: &str, after: &str) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let head = before[start.saturating_sub(AROUND)..start].iter().map(|line| format!("  {line}"));
    let tail = before[before.len() - end..].iter().take(AROUND).map(|line| format!("  {line}"));
    let mut lines: Vec<String> = head.chain(middle(old, new)).chain(tail).collect();
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("… and {more} more lines"));
    }
    lines
}

/// What differs between two lists of lines, by their longest common subsequence.
fn middle(old: &[&str], new: &[&str]) -> Vec<String> {
    let (removed, added) = (|line: &&str| format!("- {line}"), |line: &&str| format!("+ {line}"));
    if old.len().saturating_mul(new.len()) > COMPARED {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = match old[i] == new[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut lines, mut same) = (0, 0, Vec::new(), Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            same.push(format!("  {}", old[i]));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let has_before = !lines.is_empty();
        lines.extend(shortened(std::mem::take(&mut same), has_before));
        if j == new.len() || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            lines.push(removed(&old[i]));
            i += 1;
        } else {
            lines.push(added(&new[j]));
            j += 1;
        }
    }
    lines
}

/// Lines that stay the same between two differences.
fn shortened(same: Vec<String>, has_before: bool) -> Vec<String> {
    if !has_before || same.len() <= 2 * AROUND + 1 {
        return same;
    }
    let tail = same[same.len() - AROUND..].to_vec();
    same.into_iter().take(AROUND).chain(["  …".to_owned()]).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        assert!(diff("a\nb\n", "a\nb").is_empty());
        assert_eq!(diff("a\nb\nc", "a\nx\nc"), ["  a", "- b", "+ x", "  c"]);
        assert_eq!(diff("", "a"), ["+ a"]);
        assert_eq!(diff("a\nb\nc\nd", "b\nc\ne"), ["- a", "  b", "  c", "- d", "+ e"]);
    }

    #[test]
    fn large_texts_are_cut() {
        let many = |word: &str| (0..5_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let lines = diff(&many("a"), &many("b"));
        assert_eq!((lines.len(), lines[80].as_str()), (81, "… and 9920 more lines"));
        let numbered: String = (0..30).map(|n| format!("{n}\n")).collect();
        let lines = diff(&numbered, &numbered.replace("2\n", "x\n").replace("25\n", "y\n"));
        assert!(lines.contains(&"  …".to_owned()), "{lines:?}");
    }
}
