//! The search graph of a round as SVG: a box for each task, after all that it waits for, with a
//! mark for each candidate.

use std::collections::{HashMap, HashSet};

use syrch::journal::{Round, TaskNode};
use syrch::syrch_core::Ending;
use syrch_report::Html;
use unicode_width::UnicodeWidthChar;

use super::words;

const WIDTH: u64 = 216;
const HEIGHT: u64 = 74;
const GAP: u64 = 56;
const ROW: u64 = 96;
const MARGIN: u64 = 8;

/// Columns of a task's text in its box; the rest stands below.
const TEXT: usize = 28;

/// Marks of candidates in a box.
const MARKS: usize = 12;

/// Colours that the page has for results.
const COLOURS: [&str; 8] = [" c1", " c2", " c3", " c4", " c5", " c6", " c7", " c8"];

/// The places of the boxes.
struct Layout<'a> {
    places: Vec<(u64, u64)>,
    by_id: HashMap<&'a str, usize>,
    width: u64,
    height: u64,
}

/// Each task stands one column after the last of those that it waits for, in a row that no edge
/// runs along.
fn layout(round: &Round) -> Layout<'_> {
    let by_id: HashMap<&str, usize> =
        round.tasks.iter().enumerate().map(|(place, task)| (task.id.as_str(), place)).collect();
    let columns = columns(round, &by_id);
    let rows = rows(round, &by_id, &columns);
    let place = |(column, row): (u64, u64)| (MARGIN + column * (WIDTH + GAP), MARGIN + row * ROW);
    let places: Vec<(u64, u64)> = columns.into_iter().zip(rows).map(place).collect();
    let most = |take: fn(&(u64, u64)) -> u64| places.iter().map(take).max().unwrap_or(0);
    let width = most(|place| place.0) + WIDTH + MARGIN;
    let height = most(|place| place.1) + HEIGHT + MARGIN;
    Layout { places, by_id, width, height }
}

fn columns(round: &Round, by_id: &HashMap<&str, usize>) -> Vec<u64> {
    let mut columns = vec![0_u64; round.tasks.len()];
    // As many passes as there are tasks are enough, also where a damaged journal holds a cycle.
    for _ in 0..round.tasks.len() {
        let mut is_settled = true;
        for (place, task) in round.tasks.iter().enumerate() {
            let before =
                before(task).filter_map(|id| by_id.get(id)).map(|other| columns[*other] + 1).max();
            let column = before.unwrap_or(0).min(round.tasks.len() as u64 - 1);
            if column > columns[place] {
                columns[place] = column;
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    columns
}

/// The first free row of each; an edge over several columns keeps the row of the task that it comes
/// from.
fn rows(round: &Round, by_id: &HashMap<&str, usize>, columns: &[u64]) -> Vec<u64> {
    let mut farthest = columns.to_vec();
    for (place, task) in round.tasks.iter().enumerate() {
        for other in before(task).filter_map(|id| by_id.get(id)) {
            farthest[*other] = farthest[*other].max(columns[place]);
        }
    }
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|place| columns[*place]);
    let mut rows = vec![0; columns.len()];
    let mut taken = HashSet::new();
    for place in order {
        let column = columns[place];
        let end = farthest[place];
        let row = (0..).find(|row| !taken.contains(&(column, *row))).unwrap_or(0);
        rows[place] = row;
        taken.extend((column..end.max(column + 1)).map(|column| (column, row)));
    }
    rows
}

/// The tasks that come before one: those that it waits for, and those in its place.
fn before(task: &TaskNode) -> impl Iterator<Item = &str> {
    task.depends_on.iter().chain(&task.subtasks).map(String::as_str)
}

/// The graph of a round as an SVG element. `number` is the index of the round, which makes its
/// anchors unique.
pub(super) fn svg(round: &Round, number: u64) -> Html {
    let layout = layout(round);
    let mut svg = Html::default();
    svg.open_drawing("graph", "search graph", layout.width, layout.height);
    for (place, task) in round.tasks.iter().enumerate() {
        for id in &task.depends_on {
            edge(&mut svg, &layout, id, place, "<path class=\"edge\" d=\"M");
        }
        for id in &task.subtasks {
            edge(&mut svg, &layout, id, place, "<path class=\"edge part\" d=\"M");
        }
    }
    for (place, task) in round.tasks.iter().enumerate() {
        let is_answer = round.answer.as_ref() == Some(&task.id);
        node(&mut svg, task, layout.places[place], is_answer, (number, place as u64));
    }
    svg.raw("</svg>\n");
    svg
}

fn edge(svg: &mut Html, layout: &Layout<'_>, from: &str, to: usize, open: &'static str) {
    let Some((x, y)) = layout.by_id.get(from).map(|place| layout.places[*place]) else { return };
    let (left, top) = layout.places[to];
    let x = x + WIDTH;
    let y = y + HEIGHT / 2;
    let top = top + HEIGHT / 2;
    let bend = left.saturating_sub(GAP).max(x);
    svg.numbers([(open, x), (" ", y), (" H", bend), (" C", bend + GAP / 2), (" ", y)]);
    svg.numbers([(" ", left.saturating_sub(GAP / 2)), (" ", top), (" ", left), (" ", top)]);
    svg.raw("\"/>\n");
}

/// The CSS class of a task's box.
fn class(task: &TaskNode) -> &'static str {
    match &task.ending {
        Some(Ending::Solved | Ending::Empty) => "good",
        Some(Ending::Failed(_)) => "bad",
        Some(_) => "skipped",
        None => "open",
    }
}

fn node(svg: &mut Html, task: &TaskNode, (x, y): (u64, u64), is_answer: bool, anchor: (u64, u64)) {
    svg.numbers([("<a href=\"#t", anchor.0), ("-", anchor.1)]);
    svg.raw("\"><g class=\"task ").raw(class(task));
    svg.raw(if is_answer { " result\">" } else { "\">" });
    svg.raw("<title>").text(&task.text).raw("</title>");
    svg.numbers([("<rect rx=\"6\" x=\"", x), ("\" y=\"", y)]);
    svg.numbers([("\" width=\"", WIDTH), ("\" height=\"", HEIGHT)]).raw("\"/>");
    let best = task.candidates.iter().filter_map(|candidate| candidate.confidence).reduce(f64::max);
    let best = best.map(|confidence| format!(" · {confidence:.2}")).unwrap_or_default();
    line(svg, x, y + 18, "<text class=\"name\" x=\"", &format!("{}{best}", clip(&task.id, 20)));
    line(svg, x, y + 36, "<text x=\"", &clip(&task.text, TEXT));
    line(svg, x, y + 52, "<text class=\"faint\" x=\"", &clip(&words::ending(task), TEXT));
    for (place, candidate) in task.candidates.iter().take(MARKS).enumerate() {
        svg.raw("<circle class=\"")
            .raw(words::class(candidate.status))
            .raw(colour(candidate.cluster));
        let x = x + 14 + 15 * place as u64;
        svg.numbers([("\" r=\"4.5\" cx=\"", x), ("\" cy=\"", y + 63)]).raw("\"><title>");
        svg.text(&format!("{} {}", candidate.id, candidate.status.name())).raw("</title></circle>");
    }
    svg.raw("</g></a>\n");
}

/// The colour of a result; equal results have one.
pub(super) fn colour(cluster: Option<u32>) -> &'static str {
    let place = cluster
        .and_then(|number| usize::try_from(number).ok())
        .map(|number| number.saturating_sub(1));
    place.map_or("", |place| COLOURS[place % COLOURS.len()])
}

fn line(svg: &mut Html, x: u64, y: u64, open: &'static str, text: &str) {
    svg.numbers([(open, x + 10), ("\" y=\"", y)]).wrap_text("\">", text, "</text>");
}

/// The beginning of a text that is wider than so many columns.
fn clip(text: &str, most: usize) -> String {
    let mut used = 0;
    let short: String = text
        .chars()
        .take_while(|c: &char| {
            used += c.width().unwrap_or(0);
            used <= most
        })
        .collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(edges: &[(&str, &[&str])]) -> Round {
        Round {
            tasks: edges
                .iter()
                .map(|(id, after): &(&str, &[&str])| TaskNode {
                    id: (*id).to_owned(),
                    depends_on: after.iter().map(|id| (*id).to_owned()).collect(),
                    ..TaskNode::default()
                })
                .collect(),
            ..Round::default()
        }
    }

    fn places(edges: &[(&str, &[&str])]) -> Vec<(u64, u64)> {
        layout(&round(edges))
            .places
            .iter()
            .map(|(x, y): &(u64, u64)| ((x - MARGIN) / (WIDTH + GAP), (y - MARGIN) / ROW))
            .collect()
    }

    fn columns(edges: &[(&str, &[&str])]) -> Vec<u64> {
        places(edges).into_iter().map(|(column, _)| column).collect()
    }

    #[test]
    fn texts_fit_their_boxes() {
        assert_eq!(
            (clip("abc", 3).as_str(), clip("abcd", 3).as_str(), clip("漢字漢字", 5).as_str()),
            ("abc", "abc…", "漢字…")
        );
    }

    #[test]
    fn no_task_stands_on_an_edge() {
        // A leads past B and C to D.
        assert_eq!(
            places(&[("A", &[]), ("B", &["A"]), ("C", &["B"]), ("D", &["A", "C"])]),
            [(0, 0), (1, 1), (2, 1), (3, 0)]
        );
        assert_eq!(places(&[("A", &[]), ("B", &["A"]), ("C", &["A"])]), [(0, 0), (1, 0), (1, 1)]);
    }

    #[test]
    fn a_task_stands_after_all_that_it_waits_for() {
        assert_eq!(
            columns(&[("D", &["B", "C"]), ("A", &[]), ("B", &["A"]), ("C", &["B"])]),
            [3, 0, 1, 2]
        );
        assert_eq!(columns(&[("A", &["none"])]), [0]);
        // A cycle, which no host writes, ends too.
        assert_eq!(columns(&[("A", &["B"]), ("B", &["A"]), ("C", &["C"])]).len(), 3);
        assert!(columns(&[]).is_empty());
    }
}
