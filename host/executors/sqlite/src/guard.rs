//! The allow-list authorizer: the engine asks it about everything that a statement would do, view
//! by view and column by column, and what it does not list is refused.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use syrch_core::ports::Facts;
use syrch_core::text::nearest;
use syrch_core::{SqlError, SqlErrorKind};

use crate::authorizer::Judge;
use crate::deadline::Deadline;
use crate::full_text::{Search, Tables};
use crate::functions;

/// The tables and views that may be read; all names are in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grant {
    /// Tables and views, with their spelling.
    pub(crate) tables: HashSet<String>,
    /// The tables in which granted virtual tables store their content: only they may read them.
    pub(crate) shadows: HashSet<String>,
    /// All other names that mean something to the engine: ungranted tables, views and modules.
    pub(crate) others: HashSet<String>,
    /// The reasons why tables and views that are granted cannot be read.
    pub(crate) unreadable: HashMap<String, String>,
    /// The views among them all.
    pub(crate) views: HashSet<String>,
    /// The tables that can be searched by words.
    pub(crate) full_text: Tables,
}

impl Grant {
    /// Leaves out a table or view, and records the reason for errors that name it.
    pub(crate) fn refuse(&mut self, name: &str, reason: String) {
        tracing::warn!(name, reason, "a table or view is left out");
        self.unreadable.insert(name.to_lowercase(), reason);
    }
}

/// Whose statement the engine asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A statement of this executor.
    Own,
    /// A guest's, being compiled.
    Compile,
    /// A guest's, being run: virtual tables now compile statements of their own.
    Step,
}

#[derive(Debug)]
struct State {
    grant: Arc<Grant>,
    phase: Phase,
    refusal: Option<Refusal>,
    seen: Seen,
    ends_at: Option<Deadline>,
}

/// The authorizer's refusal of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// The name that it is about, to find it in the text.
    pub(crate) token: String,
    pub(crate) error: SqlError,
}

/// The objects that a statement was seen to use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    tables: BTreeSet<String>,
    /// Those of them that a view reads.
    behind_views: BTreeSet<String>,
    /// Tables with their columns.
    columns: BTreeSet<(String, String)>,
    functions: BTreeSet<String>,
    search: Search,
    views: usize,
}

impl Seen {
    /// The tables and views that are read, also those behind common table expressions and views.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(String::as_str)
    }

    /// The columns that are read, each with its table.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        self.columns.iter().map(|(table, column)| (table.as_str(), column.as_str()))
    }

    /// The functions that are called, and the operators that are functions to the engine.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(String::as_str)
    }

    /// Adds the tables that the statement itself reads to what its text showed.
    pub(crate) fn add_tables(self, facts: &mut Facts) {
        for table in self.tables.difference(&self.behind_views) {
            if !facts.tables.iter().any(|known| known.eq_ignore_ascii_case(table)) {
                facts.tables.push(table.clone());
            }
        }
    }

    /// Facts for a statement that only the engine understands.
    pub(crate) fn facts(self, text: &str) -> Facts {
        Facts {
            tables: self.tables.into_iter().collect(),
            columns: self
                .columns
                .into_iter()
                .map(|(table, column)| format!("{table}.{column}"))
                .collect(),
            functions: self.functions.into_iter().collect(),
            normalized: text.to_owned(),
            skeleton: text.to_owned(),
            ..Facts::default()
        }
    }
}

/// The authorizer of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Authorizer(Arc<Mutex<State>>);

impl Authorizer {
    pub(crate) fn new() -> Self {
        let grant = Arc::new(Grant::default());
        Self(Arc::new(Mutex::new(State {
            grant,
            phase: Phase::Own,
            refusal: None,
            seen: Seen::default(),
            ends_at: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares for compiling a guest's statement on the connection.
    pub(crate) fn compile(&self, grant: &Arc<Grant>) {
        let mut state = self.state();
        state.grant = Arc::clone(grant);
        state.phase = Phase::Compile;
        state.refusal = None;
        state.seen = Seen::default();
    }

    /// Prepares for running the statement that was compiled.
    pub(crate) fn step(&self) {
        self.state().phase = Phase::Step;
    }

    /// Returns the connection to our own statements.
    pub(crate) fn own(&self) {
        self.state().phase = Phase::Own;
    }

    /// Sets the deadline of the work under way.
    pub(crate) fn set_deadline(&self, ends_at: Option<Deadline>) {
        self.state().ends_at = ends_at;
    }

    /// Returns true if the work under way is over.
    pub(crate) fn is_over(&self) -> bool {
        self.state().ends_at.as_ref().is_some_and(Deadline::is_over)
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.state().refusal.take()
    }

    pub(crate) fn take_seen(&self) -> Seen {
        std::mem::take(&mut self.state().seen)
    }

    /// Checks the full-text search of the statement that was compiled; returns whether there is
    /// one.
    pub(crate) fn search(&self, sql: &str) -> Result<bool, SqlError> {
        let state = self.state();
        state.seen.search.check(sql, state.seen.views).map(|()| state.seen.search.is_one())
    }
}

impl Judge for Authorizer {
    fn judge(&self, context: Option<&AuthContext<'_>>) -> Authorization {
        let mut state = self.state();
        match context {
            Some(context) => state.judge(context),
            None => state.judge_unnamed(),
        }
    }
}

impl State {
    /// An action with a name that no statement can spell.
    fn judge_unnamed(&mut self) -> Authorization {
        if self.phase == Phase::Own {
            return Authorization::Allow;
        }
        let message = "the statement uses something whose name in the schema is not UTF-8";
        self.refuse("", SqlError::new(SqlErrorKind::Denied, message).rule("granted-tables"))
    }

    fn judge(&mut self, context: &AuthContext<'_>) -> Authorization {
        // Compiling does not run the progress handler, and of nested views it can take long.
        if self.ends_at.as_ref().is_some_and(Deadline::is_over) {
            return Authorization::Deny;
        }
        match context.action {
            _ if self.phase == Phase::Own => Authorization::Allow,
            AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
            AuthAction::Read { table_name, column_name } => {
                self.read(table_name, column_name, context)
            }
            AuthAction::Function { function_name } => self.function(function_name),
            // FTS5 looks whether somebody else wrote.
            AuthAction::Pragma { pragma_name: "data_version", pragma_value: None }
                if self.phase == Phase::Step =>
            {
                Authorization::Allow
            }
            other => {
                let (kind, what) = describe(&other);
                let message = format!("`{what}` is refused: a statement may only read");
                self.refuse(&what, SqlError::new(kind, message).rule("read-only"))
            }
        }
    }

    fn read(&mut self, table: &str, column: &str, context: &AuthContext<'_>) -> Authorization {
        let name = table.to_lowercase();
        // Of a view of which no column is used, the engine asks only about what it reads.
        let through =
            context.accessor.is_some_and(|view| self.grant.views.contains(&view.to_lowercase()));
        self.seen.views += usize::from(through && self.phase == Phase::Compile);
        let is_main = matches!(context.database_name, None | Some("main"));
        if is_main && self.grant.tables.contains(&name) {
            if self.phase == Phase::Compile {
                self.seen.tables.insert(table.to_owned());
                if through {
                    self.seen.behind_views.insert(table.to_owned());
                }
                self.seen.views += usize::from(self.grant.views.contains(&name));
                self.seen.search.read(&self.grant.full_text, &name, column);
                if !column.is_empty() {
                    self.seen.columns.insert((table.to_owned(), column.to_owned()));
                }
            }
            return Authorization::Allow;
        }
        if self.phase == Phase::Step && self.grant.shadows.contains(&name) {
            return Authorization::Allow;
        }
        if functions::TABLES.contains(&name.as_str()) && !self.grant.others.contains(&name) {
            return Authorization::Allow;
        }
        // A common table expression or subquery of which no column is used: the engine asks about
        // its name alone.
        if column.is_empty() && !self.is_known(&name) {
            return Authorization::Allow;
        }
        let through =
            context.accessor.map(|view| format!(", which `{view}` reads,")).unwrap_or_default();
        let message = match self.grant.unreadable.get(&name) {
            Some(reason) => format!("table `{table}`{through} cannot be read: {reason}"),
            None => format!("table `{table}`{through} is not granted"),
        };
        let near = nearest(table, self.grant.tables.iter().map(String::as_str));
        let token = context.accessor.unwrap_or(table).to_owned();
        self.refuse(
            &token,
            SqlError::new(SqlErrorKind::Denied, message).suggest(near).rule("granted-tables"),
        )
    }

    fn is_known(&self, name: &str) -> bool {
        self.grant.others.contains(name)
            || self.grant.shadows.contains(name)
            || name.starts_with("sqlite_")
            || name.starts_with("pragma_")
    }

    fn function(&mut self, name: &str) -> Authorization {
        if functions::is_listed(name) {
            if self.phase == Phase::Compile {
                self.seen.functions.insert(name.to_ascii_lowercase());
                self.seen.search.call(name);
            }
            return Authorization::Allow;
        }
        let near = nearest(name, functions::LISTED.words().iter().copied());
        let error = SqlError::new(
            SqlErrorKind::FunctionRefused,
            format!("function `{name}` is not listed"),
        );
        self.refuse(name, error.suggest(near).rule("function"))
    }

    fn refuse(&mut self, token: &str, error: SqlError) -> Authorization {
        let refusal = match self.phase {
            // What a virtual table compiles may be made of the arguments it got, which are cells,
            // and so may the name.
            Phase::Step => Refusal {
                token: String::new(),
                error: SqlError {
                    message: "a virtual table would do what is not granted".to_owned(),
                    suggestions: Vec::new(),
                    ..error
                },
            },
            _ => Refusal { token: token.to_owned(), error },
        };
        self.refusal.get_or_insert(refusal);
        Authorization::Deny
    }
}

/// Describes an action for a message.
fn describe(action: &AuthAction<'_>) -> (SqlErrorKind, String) {
    let (kind, what) = match action {
        AuthAction::Pragma { pragma_name, .. } => {
            (SqlErrorKind::Denied, format!("PRAGMA {pragma_name}"))
        }
        AuthAction::Attach { .. } => (SqlErrorKind::Denied, "ATTACH".to_owned()),
        AuthAction::Detach { .. } => (SqlErrorKind::Denied, "DETACH".to_owned()),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            (SqlErrorKind::Denied, "a transaction".to_owned())
        }
        AuthAction::Insert { table_name } => {
            (SqlErrorKind::WriteRefused, format!("INSERT INTO {table_name}"))
        }
        AuthAction::Delete { table_name } => {
            (SqlErrorKind::WriteRefused, format!("DELETE FROM {table_name}"))
        }
        AuthAction::Update { table_name, .. } => {
            (SqlErrorKind::WriteRefused, format!("UPDATE {table_name}"))
        }
        _ => (SqlErrorKind::WriteRefused, "a change of the schema".to_owned()),
    };
    (kind, what)
}
