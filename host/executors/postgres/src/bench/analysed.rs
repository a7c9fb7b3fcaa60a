//! The statement as the server analysed it: the checks that need no catalog, and the objects that
//! the statement uses at any depth.

use std::collections::BTreeSet;

use syrch_core::{SqlError, SqlErrorKind};

use super::lists;
use super::tree::Node;

/// A refusal by a rule that names a token of the statement.
pub(super) fn refuse(rule: &str, token: &str, why: &str) -> SqlError {
    let token = syrch_core::text::clip(token, 64);
    SqlError::new(SqlErrorKind::Denied, format!("`{token}` is refused: {why}")).rule(rule)
}

/// The objects of the server that a statement uses, by their object ids.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Tables that are read without their children.
    pub(super) only: BTreeSet<u32>,
    /// Tables that are read with their children.
    pub(super) relations: BTreeSet<u32>,
    pub(super) functions: BTreeSet<u32>,
    pub(super) operators: BTreeSet<u32>,
    pub(super) types: BTreeSet<u32>,
    pub(super) collations: BTreeSet<u32>,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) merges: Vec<Merge>,
    /// True if a query returns several rows for one.
    pub(super) has_sets: bool,
    /// The functions that return several rows.
    pub(super) sets: BTreeSet<u32>,
    /// True if a decimal number is converted to text by a cast.
    pub(super) spells_numbers: bool,
}

/// A call of an aggregate or window function.
#[derive(Debug)]
pub(super) struct Aggregate {
    pub(super) function: u32,
    /// True if it sees all rows of its group or partition. It matters for aggregates alone.
    pub(super) is_full: bool,
    /// True if the type of its argument fixes the digits behind the point.
    pub(super) is_fixed: bool,
}

/// A place where one row stands for several with equal values: GROUP BY, DISTINCT, UNION.
#[derive(Debug)]
pub(super) struct Merge {
    /// The operator by which values are equal.
    pub(super) operator: u32,
    /// True if the type of the merged column fixes the digits behind the point, or the length.
    pub(super) is_fixed: bool,
    /// The aggregate whose DISTINCT it is.
    pub(super) aggregate: Option<u32>,
}

/// Checks an analysed statement and collects what it uses.
///
/// # Errors
/// The first refusal, with its rule.
pub(super) fn check(nodes: &[Node<'_>]) -> Result<Used, SqlError> {
    let tree = Tree::new(nodes);
    let mut used = Used::default();
    for (at, node) in nodes.iter().enumerate() {
        kind(node)?;
        shape(node)?;
        tree.place(at)?;
        used.note(node);
        tree.calls(at, &mut used);
    }
    Ok(used)
}

/// Refuses a kind that is not listed.
fn kind(node: &Node<'_>) -> Result<(), SqlError> {
    if lists::NODES.has(node.kind) {
        return Ok(());
    }
    const SESSION: [&str; 15] = [
        "current_date",
        "current_time",
        "current_time",
        "current_timestamp",
        "current_timestamp",
        "localtime",
        "localtime",
        "localtimestamp",
        "localtimestamp",
        "current_role",
        "current_user",
        "user",
        "session_user",
        "current_catalog",
        "current_schema",
    ];
    Err(match node.kind {
        "SQLVALUEFUNCTION" => {
            let number = node.number("op").or_else(|| node.number("svfop"));
            let name = number.and_then(|number| SESSION.get(usize::try_from(number).ok()?));
            refuse(
                "clock",
                name.unwrap_or(&"SQLVALUEFUNCTION"),
                "it depends on the time or the session",
            )
        }
        "ROWMARKCLAUSE" => refuse("locks", "FOR UPDATE", "rows are not locked"),
        "TABLESAMPLECLAUSE" => refuse("sample", "TABLESAMPLE", "it reads other rows each time"),
        other => refuse("node", other, "the server's analysis has a part that is not on the list"),
    })
}

/// Refuses a node by its own fields.
fn shape(node: &Node<'_>) -> Result<(), SqlError> {
    match node.kind {
        "QUERY" => query(node),
        "VAR" if node.number("varattno").is_none_or(|number| number < 0) => Err(refuse(
            "system-column",
            "ctid",
            "columns of the system depend on where rows are stored",
        )),
        "PARAM" if node.number("paramkind") != Some(2) => {
            Err(refuse("parameters", "$1", "parameters cannot be bound: write the value"))
        }
        "SUBLINK" => match node.number("subLinkType") {
            Some(0..=4) => Ok(()),
            Some(6) => Err(refuse(
                "aggregate",
                "ARRAY(SELECT …)",
                "its result depends on the order of rows",
            )),
            _ => Err(refuse("node", "SUBLINK", "a sub-query of this kind is not on the list")),
        },
        "AGGREF" if node.word("aggkind") != Some("n") => {
            Err(refuse("aggregate", "WITHIN GROUP", "aggregates over an order are not on the list"))
        }
        _ => Ok(()),
    }
}

fn query(node: &Node<'_>) -> Result<(), SqlError> {
    if node.number("commandType") != Some(1) || node.is("hasModifyingCTE") {
        return Err(
            SqlError::new(SqlErrorKind::WriteRefused, "only SELECT is admitted").rule("read-only")
        );
    }
    for (field, rule, token, why) in [
        ("hasForUpdate", "locks", "FOR UPDATE", "rows are not locked"),
        (
            "hasDistinctOn",
            "distinct-on",
            "DISTINCT ON",
            "which row it takes depends on the order of rows",
        ),
    ] {
        if node.word(field) != Some("false") {
            return Err(refuse(rule, token, why));
        }
    }
    Ok(())
}

impl Used {
    /// Collects the object ids of a node by the names of its fields.
    fn note(&mut self, node: &Node<'_>) {
        if let (Some(0), Some(table)) = (node.number("rtekind"), node.number("relid")) {
            let tables = if node.is("inh") { &mut self.relations } else { &mut self.only };
            tables.extend(u32::try_from(table));
        }
        self.has_sets |= node.word("hasTargetSRFs").is_some_and(|word| word != "false");
        if node.is("funcretset") || node.is("opretset") {
            let function = node.number("funcid").or_else(|| node.number("opfuncid"));
            self.sets.extend(function.and_then(|oid| u32::try_from(oid).ok()));
            self.has_sets = true;
        }
        // A join lists all columns of its sides, whether they are used or not.
        if node.kind == "VAR" && node.field == "joinaliasvars" {
            return;
        }
        for (field, word) in node.words() {
            let Some(oid) = word.parse::<u32>().ok().filter(|oid| *oid != 0) else { continue };
            let set = match *field {
                "funcid" | "opfuncid" | "aggfnoid" | "winfnoid" => &mut self.functions,
                "opno" | "opnos" | "eqop" | "sortop" => &mut self.operators,
                field if is_type(field) => &mut self.types,
                field if field.to_ascii_lowercase().contains("coll") => &mut self.collations,
                _ => continue,
            };
            set.insert(oid);
        }
    }
}

/// Returns true if a field holds a type's object id.
fn is_type(field: &str) -> bool {
    const OTHERS: [&str; 8] = [
        "booltesttype",
        "cmptype",
        "commandtype",
        "jointype",
        "nulltesttype",
        "rctype",
        "sublinktype",
        "typemod",
    ];
    let field = field.to_ascii_lowercase();
    field.contains("type") && !OTHERS.contains(&field.as_str())
}

/// The nodes with those that stand in each.
struct Tree<'n, 't> {
    nodes: &'n [Node<'t>],
    children: Vec<Vec<usize>>,
}

impl<'n, 't> Tree<'n, 't> {
    fn new(nodes: &'n [Node<'t>]) -> Self {
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(at);
            }
        }
        Self { nodes, children }
    }

    fn children_in(&self, at: usize, field: &str) -> impl Iterator<Item = usize> {
        self.children[at].iter().copied().filter(move |child| self.nodes[*child].field == field)
    }

    /// Refuses a relation of FROM that is no table, sub-query, join or common table expression.
    fn relation(&self, at: usize) -> Result<(), SqlError> {
        let (rule, what) = match self.nodes[at].number("rtekind") {
            // Those, and the groups of GROUP BY from version 18 on.
            Some(0 | 1 | 2 | 6 | 9) => return Ok(()),
            Some(3) => ("table-function", "a function"),
            Some(4) => ("table-function", "a table function"),
            Some(5) => ("values", "VALUES"),
            _ => ("node", "an unknown relation"),
        };
        let alias = self
            .children_in(at, "eref")
            .next()
            .and_then(|alias| self.nodes[alias].word("aliasname"));
        let why = format!("{what} does not stand in FROM where rows are compared");
        Err(refuse(rule, alias.unwrap_or(what), &why))
    }

    /// Refuses a node by the place in which it stands.
    fn place(&self, at: usize) -> Result<(), SqlError> {
        let node = &self.nodes[at];
        if matches!(node.kind, "RANGETBLENTRY" | "RTE") {
            return self.relation(at);
        }
        if matches!(node.field, "limitCount" | "limitOffset") {
            let token = if node.field == "limitCount" { "LIMIT" } else { "OFFSET" };
            return Err(refuse("limit", token, "which rows it takes may depend on their order"));
        }
        if node.kind != "COERCEVIAIO"
            || !node.number("resulttype").is_some_and(|of| is_in(lists::TIMES, of))
        {
            return Ok(());
        }
        let argument = self.children_in(at, "arg").next();
        let is_constant = argument.is_some_and(|argument| self.nodes[argument].kind == "CONST");
        let of = argument.and_then(|argument| self.type_of(argument));
        if is_constant || of.is_some_and(|of| !is_in(lists::TEXTS, of) && of != 705) {
            return Ok(());
        }
        Err(refuse(
            "clock",
            "CAST",
            "a text that is cast to a date or time may be a word such as `today`",
        ))
    }

    /// The type of an expression, where the node itself has it.
    fn type_of(&self, at: usize) -> Option<i64> {
        let mut at = at;
        while matches!(self.nodes[at].kind, "COLLATE" | "COLLATEEXPR") {
            at = self.children_in(at, "arg").next()?;
        }
        let node = &self.nodes[at];
        let field = match node.kind {
            "VAR" => "vartype",
            "CONST" => "consttype",
            "PARAM" => "paramtype",
            "FUNCEXPR" => "funcresulttype",
            "OPEXPR" | "NULLIFEXPR" => "opresulttype",
            "AGGREF" => "aggtype",
            "WINDOWFUNC" => "wintype",
            "RELABELTYPE" | "COERCEVIAIO" | "ARRAYCOERCEEXPR" => "resulttype",
            "CASE" | "CASEEXPR" => "casetype",
            "COALESCE" | "COALESCEEXPR" => "coalescetype",
            "MINMAX" | "MINMAXEXPR" => "minmaxtype",
            "SUBSCRIPTINGREF" => "refrestype",
            "CASETESTEXPR" => "typeId",
            _ => return None,
        };
        node.number(field)
    }

    /// Returns true if the expression in `field` of a node is a column whose type fixes the digits
    /// behind the point, or the length.
    fn is_fixed(&self, at: usize, field: &str) -> bool {
        self.children_in(at, field).next().is_some_and(|expression| {
            let node = &self.nodes[expression];
            node.kind == "VAR" && node.number("vartypmod").is_some_and(|modifier| modifier != -1)
        })
    }

    /// Collects calls of aggregates, and places where one row stands for several.
    fn calls(&self, at: usize, used: &mut Used) {
        let node = &self.nodes[at];
        let oid = |field: &str| {
            node.number(field).and_then(|oid| u32::try_from(oid).ok()).unwrap_or_default()
        };
        match node.kind {
            "AGGREF" => {
                let is_fixed = self
                    .children_in(at, "args")
                    .next()
                    .is_some_and(|entry| self.is_fixed(entry, "expr"));
                used.aggregates.push(Aggregate {
                    function: oid("aggfnoid"),
                    is_full: true,
                    is_fixed,
                });
            }
            "WINDOWFUNC" => {
                let is_full = self.is_full(at);
                let is_fixed = self.is_fixed(at, "args");
                used.aggregates.push(Aggregate { function: oid("winfnoid"), is_full, is_fixed });
            }
            "COERCEVIAIO" => {
                let argument =
                    self.children_in(at, "arg").next().and_then(|argument| self.type_of(argument));
                used.spells_numbers |=
                    argument.is_none_or(|of| of == i64::from(lists::NUMERIC) || of == 1231);
            }
            "SORTGROUPCLAUSE" => used.merges.extend(self.merge(at, oid("eqop"))),
            _ => {}
        }
    }

    /// Returns the merge that a clause of equality makes; `None` where it only orders or divides.
    fn merge(&self, at: usize, operator: u32) -> Option<Merge> {
        let node = &self.nodes[at];
        let parent = self.nodes[at].parent?;
        let number = node.number("tleSortGroupRef");
        let entry = |list: &str| {
            self.children_in(parent, list)
                .find(|entry| self.nodes[*entry].number("ressortgroupref") == number)
        };
        match node.field {
            "groupClause" | "distinctClause" => {
                let is_fixed =
                    entry("targetList").is_some_and(|entry| self.is_fixed(entry, "expr"));
                Some(Merge { operator, is_fixed, aggregate: None })
            }
            "aggdistinct" => {
                let is_fixed = entry("args").is_some_and(|entry| self.is_fixed(entry, "expr"));
                let aggregate =
                    self.nodes[parent].number("aggfnoid").and_then(|oid| u32::try_from(oid).ok());
                Some(Merge { operator, is_fixed, aggregate })
            }
            // One clause for each column, in their order; the first word of the list is its kind.
            "groupClauses" => {
                let place =
                    self.children_in(parent, "groupClauses").position(|clause| clause == at)?;
                let modifier = self.nodes[parent].all("colTypmods").nth(place + 1);
                Some(Merge {
                    operator,
                    is_fixed: modifier.is_some_and(|word| word != "-1"),
                    aggregate: None,
                })
            }
            "partitionClause" | "orderClause" | "sortClause" | "aggorder" => None,
            _ => Some(Merge { operator, is_fixed: false, aggregate: None }),
        }
    }

    /// Returns true if the frame of a window function is always its whole partition.
    fn is_full(&self, at: usize) -> bool {
        const ROWS: i64 = 0x4;
        const FROM_FIRST: i64 = 0x20;
        const TO_LAST: i64 = 0x100;
        const TO_CURRENT: i64 = 0x400;
        const EXCLUDES: i64 = 0x8000 | 0x1_0000 | 0x2_0000;
        let number = self.nodes[at].number("winref");
        let mut query = self.nodes[at].parent;
        while let Some(outer) = query.filter(|outer| self.nodes[*outer].kind != "QUERY") {
            query = self.nodes[outer].parent;
        }
        let mut windows =
            query.into_iter().flat_map(|query| self.children_in(query, "windowClause"));
        let Some(window) = windows.find(|window| self.nodes[*window].number("winref") == number)
        else {
            return false;
        };
        let options = self.nodes[window].number("frameOptions").unwrap_or(EXCLUDES);
        let has = |option: i64| options & option != 0;
        // Without an order all rows are peers of the current one.
        let is_unordered = self.children_in(window, "orderClause").next().is_none();
        let is_to_last = has(TO_LAST) || (has(TO_CURRENT) && is_unordered && !has(ROWS));
        has(FROM_FIRST) && is_to_last && !has(EXCLUDES)
    }
}

/// Returns true if a sorted list has an object id.
pub(super) fn is_in(list: &[u32], oid: i64) -> bool {
    u32::try_from(oid).is_ok_and(|oid| list.binary_search(&oid).is_ok())
}
