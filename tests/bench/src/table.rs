//! The table as Markdown, with the machine above it: figures of different machines cannot be
//! compared.

use crate::figure::{Figure, Verdict};
use crate::machine::Machine;

const HEADING: [&str; 4] = ["figure", "measured", "bound", "ratio, verdict"];

/// The Markdown page: the machine, and the table of all figures.
pub(crate) fn page(machine: &Machine, figures: &[Figure]) -> String {
    let mut out = format!("{}\n\n", machine.line());
    out += &row(&HEADING.map(str::to_owned));
    out += "|---|---:|---:|---|\n";
    for figure in figures {
        out += &row(&figure.cells());
    }
    out + &format!("\n{}\n", summary(figures))
}

/// A row. What would end a cell or the line is written so that it does not.
fn row(cells: &[String; 4]) -> String {
    let cells = cells
        .each_ref()
        .map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

fn summary(figures: &[Figure]) -> String {
    let count = |verdict| figures.iter().filter(|figure| figure.verdict() == verdict).count();
    let bounded = count(Verdict::Met) + count(Verdict::Missed);
    let unmeasured = match count(Verdict::Unmeasured) {
        0 => String::new(),
        some => format!("; {some} not measured"),
    };
    format!("{} of {bounded} bounds met{unmeasured}.", count(Verdict::Met))
}

/// Returns true if every bound is met and every figure measured.
pub(crate) fn is_good(figures: &[Figure]) -> bool {
    figures.iter().all(|figure| matches!(figure.verdict(), Verdict::Met | Verdict::Reported))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_row_and_the_misses_are_counted() {
        let figures = [
            Figure::new("a | b", 1.0, "ms").at_most(2.0),
            Figure::new("c", 3.0, "ms").at_most(2.0),
            Figure::without_measure("d", "no\npandas"),
            Figure::new("e", 5.0, "MiB"),
        ];
        let page = page(&Machine::default(), &figures);
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 2 + figures.len());
        assert_eq!(rows[2], "| a \\| b | 1.00 ms | ≤ 2.00 ms | 0.50 met |");
        assert!(rows[4].ends_with("no pandas |"), "{page}");
        assert!(page.ends_with("\n1 of 2 bounds met; 1 not measured.\n"), "{page}");
        assert!(!is_good(&figures) && is_good(&figures[..1]) && is_good(&figures[3..]));
    }
}
