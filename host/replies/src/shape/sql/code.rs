//! The statements in fences, between tags, and in prose.

use std::ops::Range;

use super::{Found, MAX_FOUND, leave_out};
use crate::shape::confidence;
use crate::shape::marks::{Mark, mark, mark_at, mark_next};
use crate::shape::mend::{Curly, hides_line, is_damaged, mend};
use crate::shape::prose::{Fence, blocks};
use crate::statement::{Reader, Standing, ends_with_separator, first_keyword, looks_like_query};

/// Languages of a fence that does not hold SQL.
const NOT_SQL: [&str; 12] = [
    "json",
    "jsonc",
    "yaml",
    "yml",
    "python",
    "py",
    "bash",
    "sh",
    "csv",
    "markdown",
    "md",
    "javascript",
];

/// The statements in fences and between tags.
pub(super) fn from_blocks(text: &str, reader: &mut Reader) -> Vec<Found> {
    let blocks: Vec<Fence> = blocks(text)
        .into_iter()
        .filter(|fence| !NOT_SQL.contains(&fence.language.as_str()))
        .collect();
    let mut found: Vec<Found> = Vec::new();
    for block in &blocks {
        let is_labelled = !["", "text", "plaintext", "txt"].contains(&block.language.as_str());
        let body = block.body.start..code_end(text, &block.body);
        let from = found.last().map_or(0, |found| found.place.end);
        let code = from_code(text, body, from, is_labelled, reader);
        found.extend(
            code.into_iter()
                .map(|one| Found { ended: block.closed || is_ended(text, &one.place), ..one }),
        );
    }
    found.truncate(MAX_FOUND);
    let places: Vec<Range<usize>> = found.iter().map(|found| found.place.clone()).collect();
    for (index, one) in found.iter_mut().enumerate() {
        // What the reply says of this statement stands before the next one; else the reply may say
        // it of all.
        let others = blocks
            .iter()
            .map(|block| block.body.clone())
            .filter(|body| !body.contains(&one.place.start));
        let hidden: Vec<Range<usize>> = others.chain([one.place.clone()]).collect();
        let until = places
            .get(index + 1..)
            .and_then(|later| later.iter().find(|later| later.start >= one.place.end));
        let near = until.and_then(|next| {
            let inside = hidden
                .iter()
                .filter(|part| part.start >= one.place.start && part.end <= next.start);
            let parts = inside
                .map(|part| part.start - one.place.start..part.end - one.place.start)
                .collect();
            confidence::find_confidence(&leave_out(&text[one.place.start..next.start], parts))
        });
        one.confidence = near.or_else(|| confidence::find_confidence(&leave_out(text, hidden)));
    }
    found
}

/// Returns true if a semicolon outside of texts and comments ends what stands at that place, with
/// nothing behind it on its line.
fn is_ended(text: &str, place: &Range<usize>) -> bool {
    let behind = text[place.end..].trim_start_matches([' ', '\t']);
    let more = if behind.starts_with(';') { text.len() - behind.len() + 1 - place.end } else { 0 };
    let end = place.end + more;
    let rest = text[end..].lines().next().unwrap_or_default();
    rest.trim_matches(|c: char| c.is_whitespace() || "`;".contains(c)).is_empty()
        && ends_with_separator(&text[place.start..end])
}

/// Returns the place where a fence's code ends: before a line that states the confidence.
fn code_end(text: &str, body: &Range<usize>) -> usize {
    let mut at = body.start;
    for line in text[body.clone()].split_inclusive('\n') {
        let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "-#*/_".contains(c));
        if confidence::begins_with_word(bare) && confidence::find_confidence(line).is_some() {
            return at;
        }
        at += line.len();
    }
    body.end
}

/// The statements of a place with code, as they are written or, if none of them is a query or they
/// are damaged, as they are mended. `from` is where the statement before it ends; `is_labelled`: it
/// is marked as SQL.
pub(super) fn from_code(
    text: &str,
    place: Range<usize>,
    from: usize,
    is_labelled: bool,
    reader: &mut Reader,
) -> Vec<Found> {
    let code = &text[place.clone()];
    let before = text.get(from..place.start).unwrap_or_default();
    let mark_first: fn(&str) -> Mark = if from == 0 { mark } else { mark_next };
    let before = (before, mark_first);
    let mut found = examine(code, before, is_labelled, reader);
    for one in &mut found {
        one.place = place.start + one.place.start..place.start + one.place.end;
    }
    fn is_query(found: &Found) -> bool {
        found.standing == Standing::Query
    }
    let is_damaged = is_damaged(code);
    if found.iter().any(is_query) && !is_damaged && !hides_line(code, true) {
        return found;
    }
    let mended = [Curly::Names, Curly::Texts]
        .into_iter()
        .filter_map(|curly| mend(unquoted(code).as_ref(), curly));
    let read: Vec<Found> =
        mended.flat_map(|code| examine(&code, before, is_labelled, reader)).collect();
    let (mut instead, broken): (Vec<Found>, Vec<Found>) = read.into_iter().partition(is_query);
    if instead.is_empty() && is_damaged {
        // What parses in spite of its damage is a part of the statement, or another one.
        instead = broken;
    }
    if instead.is_empty() && code.trim_start().starts_with('>') {
        instead = examine(unquoted(code).as_ref(), before, is_labelled, reader)
            .into_iter()
            .filter(is_query)
            .collect();
    }
    if instead.is_empty() {
        return found;
    }
    instead.into_iter().map(|one| Found { place: place.clone(), ..one }).collect()
}

/// The code without the marks of a quotation before each of its lines.
fn unquoted(code: &str) -> std::borrow::Cow<'_, str> {
    let lines = || code.lines().filter(|line| !line.trim().is_empty());
    if lines().next().is_none() || !lines().all(|line| line.trim_start().starts_with('>')) {
        return code.into();
    }
    code.lines()
        .map(|line: &str| line.trim_start().trim_start_matches('>').to_owned() + "\n")
        .collect::<String>()
        .into()
}

/// The statements of code, each at its place in it. `before`: the text before the code, and what
/// reads the mark of the first statement in it.
fn examine(
    code: &str,
    (before, mark_first): (&str, fn(&str) -> Mark),
    is_labelled: bool,
    reader: &mut Reader,
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for part in reader.split(code, 0..code.len()) {
        let sql = &code[part.clone()];
        let standing = match reader.classify(sql) {
            Some(Standing::Other) if !is_labelled => continue,
            Some(standing) => standing,
            None if looks_like_query(sql) || (is_labelled && first_keyword(sql).is_some()) => {
                Standing::Broken
            }
            None => continue,
        };
        let mark = match found.last() {
            Some(last) => mark_next(&code[last.place.end..part.start]),
            None => mark_first(&format!("{before}{}", &code[..part.start])),
        };
        let ended = is_ended(code, &part);
        found.push(Found {
            sql: sql.to_owned(),
            standing,
            mark,
            confidence: None,
            place: part,
            ended,
            is_doubted: false,
        });
    }
    found
}

/// The statements in prose without a fence: those at the beginnings of lines, else those within
/// lines.
pub(super) fn from_prose(text: &str, reader: &mut Reader) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    let mut take = |found: &mut Vec<Found>, at: &mut usize, start: usize, is_head: bool| {
        if start < *at {
            return;
        }
        if let Some(place) = statement_around(text, *at, start, reader) {
            found.push(Found {
                sql: text[place.clone()].to_owned(),
                standing: Standing::Other,
                mark: mark_at(text, *at, place.start),
                confidence: None,
                ended: is_ended(text, &place),
                is_doubted: false,
                place: place.clone(),
            });
            *at = place.end;
            return;
        }
        let read = query_at(text, start, reader)
            .map(|(sql, end)| (sql, end, Standing::Query))
            .or_else(|| {
                let is_broken = is_head && looks_like_query(&text[start..]);
                let end = is_broken.then(|| reader.first_end(text, start))?;
                Some((vec![text[start..end].to_owned()], end, Standing::Broken))
            });
        if let Some((statements, end, standing)) = read {
            let mark = mark_at(text, *at, start);
            let place = start..end;
            let ended = is_ended(text, &place);
            found.extend(statements.into_iter().map(|sql| Found {
                sql,
                standing,
                mark,
                confidence: None,
                place: place.clone(),
                ended,
                is_doubted: false,
            }));
            *at = end;
        }
    };
    starts(text, true).into_iter().for_each(|start| take(&mut found, &mut at, start, true));
    if found.is_empty() {
        starts(text, false).into_iter().for_each(|start| take(&mut found, &mut at, start, false));
    }
    let places: Vec<Range<usize>> = found.iter().map(|found| found.place.clone()).collect();
    for one in &mut found {
        let next = places
            .iter()
            .find(|later| later.start >= one.place.end)
            .map_or(text.len(), |later| later.start);
        let near = confidence::find_confidence(&text[one.place.end..next]);
        one.confidence =
            near.or_else(|| confidence::find_confidence(&leave_out(text, places.clone())));
    }
    found
}

/// The place of a statement that is no query and has the query at `start` for a part, such as the
/// UPDATE around its subquery: the query alone would answer another question. It begins with a line
/// behind `from`.
fn statement_around(
    text: &str,
    from: usize,
    start: usize,
    reader: &mut Reader,
) -> Option<Range<usize>> {
    const MOST_LINES: usize = 8;
    let lead = &text[from..start];
    let behind = [lead.rfind(';').map(|at| at + 1), lead.rfind("\n\n").map(|at| at + 2)];
    let mut at = from + behind.into_iter().flatten().max().unwrap_or_default();
    for line in text[at..start].split_inclusive('\n').take(MOST_LINES) {
        let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "-*>#`:".contains(c));
        let head = at + line.len() - bare.len();
        at += line.len();
        if bare.starts_with(|c: char| c.is_ascii_alphabetic()) && head < start {
            let end = reader.first_end(text, head);
            let end = text[head..end].find("```").map_or(end, |fence| head + fence);
            // What the reply says of the statement stands on lines behind it.
            let lines = text[head..end].rmatch_indices('\n').map(|(at, _)| head + at);
            let ends = std::iter::once(end).chain(lines).take(MOST_LINES);
            for end in ends.filter(|end| *end > start) {
                let size = text[head..end].trim_end().len();
                if reader.classify(&text[head..head + size]) == Some(Standing::Other) {
                    return Some(head..head + size);
                }
            }
        }
    }
    None
}

/// The query that begins at a place of prose, as it is written or as it is mended in one of several
/// ways, and where it ends.
fn query_at(text: &str, start: usize, reader: &mut Reader) -> Option<(Vec<String>, usize)> {
    let rest = reader.take(&text[start..])?;
    let paragraph = reader.first_end(text, start);
    // A paragraph ends at a semicolon, with which a character reference ends too.
    let near = text.get(start..=paragraph).unwrap_or(&text[start..paragraph]);
    let is_damaged = is_damaged(near) || hides_line(near, true);
    if !is_damaged && let Some(end) = reader.find_longest(text, start) {
        return Some((vec![text[start..end].to_owned()], end));
    }
    let mended = [Curly::Names, Curly::Texts].into_iter().filter_map(|curly| mend(rest, curly));
    let mut queries: Vec<String> = mended
        .filter_map(|mended| reader.find_longest(&mended, 0).map(|end| mended[..end].to_owned()))
        .collect();
    queries.dedup();
    if !queries.is_empty() {
        return Some((queries, paragraph));
    }
    let end = reader.find_longest(text, start).filter(|_| is_damaged)?;
    Some((vec![text[start..end].to_owned()], end))
}

/// The places of words that begin a query, at the beginning of lines (after a label or a bullet) or
/// anywhere.
fn starts(text: &str, lines: bool) -> Vec<usize> {
    const MOST: usize = 64;
    fn is_at_line_start(text: &str, at: usize) -> bool {
        let near =
            (at.saturating_sub(64)..=at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
        let Some(line) = text[near..at]
            .rfind('\n')
            .map(|newline| near + newline + 1)
            .or((near == 0).then_some(0))
        else {
            return false;
        };
        let before = text[line..at].trim();
        let is_label = before.ends_with([':', '：']) && before.len() <= 24;
        before.is_empty()
            || is_label
            || before.ends_with("\\n")
            || before.chars().all(|c| "-*>(#`".contains(c))
    }
    let mut from = 0;
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        // A line break that is written as `\n` belongs to no word.
        let is_broken = word.starts_with('n') && text[..from].ends_with('\\');
        let start = from + usize::from(is_broken);
        if first_keyword(&word[start - from..]).is_some()
            && (!lines || is_at_line_start(text, start))
            && found.len() < MOST
        {
            // A union may begin with its first part in brackets.
            found.push(text[..start].trim_end_matches('(').len());
        }
        from += word.len();
        from += text[from..].chars().next().map_or(0, char::len_utf8);
    }
    found
}
