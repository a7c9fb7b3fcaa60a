//! The prompts that expand a node.

use syrch_plugin::brief::{Brief, Tried, feedback};
use syrch_plugin::draws::Ran;
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::text::{clip, count, count32, line};

use crate::solver::tree::{Cluster, ROOT, Tree};

// As much of a statement as a prompt shows.
const STATEMENT: usize = 4000;

/// Expansion a node is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// A new statement, which knows nothing of the others.
    Draw,
    /// A repair of one that failed.
    Repair,
    /// A revision of one that ran.
    Revise,
}

impl Expansion {
    /// The origin of the candidates that it makes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Draw => "generate",
            Self::Repair => "repair",
            Self::Revise => "revise",
        }
    }

    pub(crate) fn for_node(tree: &Tree<'_>, place: usize) -> Self {
        match (place, tree.nodes[place].ran()) {
            (ROOT, _) => Self::Draw,
            (_, Some(_)) => Self::Revise,
            (_, None) => Self::Repair,
        }
    }
}

/// The request that expands a node. `asked` is the number of requests before it: with the
/// statements that the request is about taken off it becomes the sample, so that a provider with a
/// list of answers gives each of them once.
pub(crate) fn request(
    host: &impl Rows,
    brief: &Brief<'_>,
    tree: &Tree<'_>,
    place: usize,
    asked: u32,
) -> Request {
    let mut request = match Expansion::for_node(tree, place) {
        Expansion::Draw => brief.request(&[], 0),
        Expansion::Repair => brief.request(&failures(tree, place), 0),
        Expansion::Revise => revision(host, brief, tree, place),
    };
    request.sample = asked.saturating_sub(count32(request.subjects.len()));
    if tree.settings.temperature > 0.0 {
        request.temperature = Some(tree.settings.temperature as f32);
    }
    request
}

/// The failures on the way to a node, its own, and those of its children.
fn failures(tree: &Tree<'_>, place: usize) -> Vec<Tried> {
    let all = tree.path(place).into_iter().chain(tree.nodes[place].children.iter().copied());
    all.filter_map(|place: usize| {
        let node = &tree.nodes[place];
        node.ended
            .wrong()
            .map(|wrong| Tried { sql: node.candidate.sql.clone(), wrong: wrong.to_owned() })
    })
    .collect()
}

fn revision(host: &impl Rows, brief: &Brief<'_>, tree: &Tree<'_>, place: usize) -> Request {
    let mut more = "\nA statement for this task that runs:\n".to_owned();
    more += &describe_result(host, tree, place);
    let others = other_results(tree, place);
    if !others.is_empty() {
        more += "\nOther statements for it run too and give something else:\n";
        more.extend(others.iter().map(|other| describe_result(host, tree, *other)));
    }
    let failed = failures(tree, place);
    more += &feedback(&failed);
    more += "\nCompare what they return with what is asked, and write the statement that answers \
             it. Repeat the first one if it does.\n";
    let ran =
        [place].into_iter().chain(others).map(|place| tree.nodes[place].candidate.sql.clone());
    let subjects = ran.chain(failed.into_iter().map(|tried| tried.sql)).collect();
    brief.ask(Purpose::Repair, brief.instructions(), &more).subjects(subjects).sql()
}

/// The earliest statement of each other result, the strongest result first.
fn other_results(tree: &Tree<'_>, place: usize) -> Vec<usize> {
    let clusters = tree.clusters().into_iter().filter(|cluster| !cluster.members.contains(&place));
    clusters
        .filter_map(|cluster: Cluster| cluster.members.first().copied())
        .take(tree.settings.others as usize)
        .collect()
}

/// A statement that ran, its result as far as it may be shown, and the number of statements that
/// agree.
fn describe_result(host: &impl Rows, tree: &Tree<'_>, place: usize) -> String {
    let node = &tree.nodes[place];
    let Some(ran) = node.ran() else { return String::new() };
    let mut out = format!("{}\n", clip(&node.candidate.sql, STATEMENT));
    out += &format!("It returns {}", shape(ran));
    for doubt in &ran.doubts {
        out += &format!("; {doubt}");
    }
    out += &format!(". {} of {} statements agree.\n", tree.agreeing(place), tree.running());
    if tree.settings.shown_rows > 0
        && ran.profile.rows > 0
        // Without the grant the shape has to do.
        && let Ok(page) = host.read(&ran.results, 0, tree.settings.shown_rows)
    {
        out += &format!("Its first rows:\n{}", prompt::rows(&page));
    }
    out
}

fn shape(ran: &Ran) -> String {
    let columns: Vec<String> =
        ran.profile.columns.iter().take(20).map(|column| line(&column.column.name, 80)).collect();
    format!("{} of {}", count(ran.profile.rows, "row"), columns.join(", "))
}
