//! The file of a case.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use syrch::yaml;
use syrch_core::ledger::Budgets;
use syrch_core::ports::{Policy, RowsGrant};
use syrch_core::roles::Role;
use syrch_core::text::nearest;
use syrch_core::{DatabaseUrl, Json, Verdict};

use crate::CaseError;
use crate::fill;
use crate::model::ScriptedReply;

/// Bytes of a database's script or file that a case names.
const DATABASE_BYTES: u64 = 4 << 20;
/// Bytes of an input that stands alone.
const INPUT_BYTES: usize = 4 << 20;
/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// One call of one role, with all that the role may ask for.
///
/// ```
/// let case = syrch_cases::Case::parse("
/// role: reward
/// settings: {most_rows: 2}
/// database: CREATE TABLE customers (id INTEGER); INSERT INTO customers VALUES (1), (2);
/// rows: full
/// input:
///   problem: {question: 'How many customers?'}
///   rivals: [{candidate: {id: a, sql: 'SELECT * FROM customers'}}]
/// ", "short.yml", std::path::Path::new(".")).unwrap();
/// assert_eq!(case.role().name(), "reward");
/// ```
#[derive(Debug, Clone)]
pub struct Case {
    pub(crate) role: Role,
    pub(crate) settings: Map<String, Value>,
    pub(crate) database: CaseDatabase,
    pub(crate) rows: RowsGrant,
    pub(crate) policy: Policy,
    pub(crate) budgets: Budgets,
    pub(crate) run_settings: BTreeMap<String, Json>,
    pub(crate) model: Vec<ScriptedReply>,
    pub(crate) confidences: Vec<f64>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) input: Map<String, Value>,
}

/// The database of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaseDatabase {
    /// Made by these statements.
    Script(String),
    /// The address of a SQLite file of the project.
    File(String),
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    role: Option<String>,
    /// For those who read the case.
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    settings: Map<String, Value>,
    database: Option<Value>,
    rows: Option<String>,
    #[serde(default)]
    policy: Map<String, Value>,
    #[serde(default)]
    budgets: Map<String, Value>,
    #[serde(default)]
    run_settings: Map<String, Value>,
    #[serde(default)]
    model: Vec<ScriptedReply>,
    #[serde(default)]
    evaluate: EvaluateDocument,
    #[serde(default)]
    input: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EvaluateDocument {
    confidences: Vec<f64>,
    verdicts: Vec<Value>,
}

impl Case {
    /// A case of a role with that input and defaults for all else.
    #[must_use]
    pub fn new(role: Role, input: Map<String, Value>) -> Self {
        Self {
            role,
            settings: Map::new(),
            database: CaseDatabase::Script(String::new()),
            rows: RowsGrant::default(),
            policy: Policy::default(),
            budgets: Budgets::default(),
            run_settings: BTreeMap::new(),
            model: Vec::new(),
            confidences: Vec::new(),
            verdicts: Vec::new(),
            input,
        }
    }

    /// Reads a file, which may be anybody's. A database that it names is below `project`, or it is
    /// refused.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(path: &Path, project: &Path) -> Result<Self, CaseError> {
        let place = path.display().to_string();
        let text = yaml::text_of(path, true)
            .map_err(|message| CaseError { place: place.clone(), message })?;
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::from_text(&text, &place, folder, project)
    }

    /// Reads the text of a case. `place` is what messages call it; files that it names are below
    /// `project`.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn parse(text: &str, place: &str, project: &Path) -> Result<Self, CaseError> {
        Self::from_text(text, place, project, project)
    }

    fn from_text(
        text: &str,
        place: &str,
        folder: &Path,
        project: &Path,
    ) -> Result<Self, CaseError> {
        let tree = yaml::read(text)
            .map_err(|(at, message)| CaseError { place: yaml::place(place, at), message })?;
        let wrong = |message: String| CaseError { place: place.to_owned(), message };
        let document: Document = fill::decode(tree.value.value()).map_err(wrong)?;
        Self::from_document(document, folder, project).map_err(wrong)
    }

    fn from_document(document: Document, folder: &Path, project: &Path) -> Result<Self, String> {
        let Document {
            role,
            settings,
            database,
            rows,
            policy,
            budgets,
            run_settings,
            model,
            evaluate,
            input,
            ..
        } = document;
        let role = role.ok_or("`role` is missing: which role is called?")?;
        for (at, reply) in model.iter().enumerate() {
            reply.check().map_err(|message| format!("`model[{at}]`: {message}"))?;
        }
        let text = |value: Value| match value {
            Value::String(text) => text,
            value => value.to_string(),
        };
        let EvaluateDocument { confidences, verdicts } = evaluate;
        Ok(Self {
            role: role_of(&role)?,
            settings,
            database: database.map_or(Ok(CaseDatabase::Script(String::new())), |named| {
                database_of(named, folder, project)
            })?,
            rows: rows
                .map_or(Ok(RowsGrant::default()), |rows| rows.parse())
                .map_err(|error| format!("`rows`: {error}"))?,
            policy: fill::over("policy", policy, &Policy::default())?,
            budgets: fill::over("budgets", budgets, &Budgets::default())?,
            run_settings: run_settings
                .into_iter()
                .map(|(name, value)| (name, text(value)))
                .collect(),
            model,
            confidences,
            verdicts: fill::read_list(verdicts.into(), "evaluate.verdicts", fill::verdict)?,
            input,
        })
    }

    /// The role that is called.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The same with these settings of the plugin.
    #[must_use]
    pub fn with_settings(self, settings: Map<String, Value>) -> Self {
        Self { settings, ..self }
    }
}

/// Reads an input that stands alone, in JSON or YAML: the arguments of the role by their names.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn input(text: &str, place: &str) -> Result<Map<String, Value>, CaseError> {
    let wrong = |message: String| CaseError { place: place.to_owned(), message };
    if text.len() > INPUT_BYTES {
        return Err(wrong(format!("has more than {} MiB", INPUT_BYTES >> 20)));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    // JSON may be larger than the YAML of people.
    let read = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) if text.trim_start().starts_with('{') => return Err(wrong(error.to_string())),
        Err(_) => {
            let tree = yaml::read(text);
            tree.map_err(|(at, message)| CaseError { place: yaml::place(place, at), message })?
                .value
                .value()
        }
    };
    match read {
        Value::Object(input) => Ok(input),
        _ => Err(wrong("the arguments of a role are a mapping".to_owned())),
    }
}

/// The role of that name. `planner.plan` and `planner.next` are the planner, whose input decides
/// which of the two is called.
///
/// # Errors
/// The names of the roles.
pub fn role_of(name: &str) -> Result<Role, String> {
    let plain = name.split('.').next().unwrap_or_default();
    let names = Role::ALL.map(Role::name);
    Role::ALL.into_iter().find(|role| role.name() == plain).ok_or_else(|| {
        match nearest(plain, names).first() {
            Some(near) => format!("there is no role `{name}`; did you mean `{near}`?"),
            None => format!("there is no role `{name}`; the roles are {}", names.join(", ")),
        }
    })
}

fn database_of(named: Value, folder: &Path, project: &Path) -> Result<CaseDatabase, String> {
    const FORM: &str = "`database` is a text of SQL statements, or `{file: PATH}`";
    let file = match named {
        Value::String(script) => return Ok(CaseDatabase::Script(script)),
        Value::Object(mut of) if of.len() == 1 => of.remove("file").ok_or(FORM)?,
        _ => return Err(FORM.to_owned()),
    };
    let Value::String(file) = file else { return Err(FORM.to_owned()) };
    let unreadable = |error: std::io::Error| format!("`database`: the file `{file}`: {error}");
    if Path::new(&file).is_absolute() {
        return Err(format!("`database`: the file `{file}` is not in the folder of the project"));
    }
    // Links are followed before the place is judged.
    let root = fs::canonicalize(project).map_err(unreadable)?;
    let path = fs::canonicalize(folder.join(&file)).map_err(unreadable)?;
    if !path.starts_with(&root) {
        return Err(format!("`database`: the file `{file}` is not in the folder of the project"));
    }
    if !fs::metadata(&path).map_err(unreadable)?.is_file() {
        return Err(format!("`database`: `{file}` is no plain file"));
    }
    let mut bytes = Vec::new();
    let read = File::open(&path)
        .and_then(|opened| opened.take(DATABASE_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(unreadable)?;
    if bytes.starts_with(SQLITE) {
        return address(&path).map(CaseDatabase::File);
    }
    if bytes.len() as u64 > DATABASE_BYTES {
        return Err(format!(
            "`database`: the script `{file}` has more than {} MiB",
            DATABASE_BYTES >> 20
        ));
    }
    let script = String::from_utf8(bytes);
    script
        .map(CaseDatabase::Script)
        .map_err(|_| format!("`database`: `{file}` is neither SQL nor a SQLite file"))
}

/// The address of this SQLite file and of no other: with the scheme its name neither chooses
/// another engine, such as `x.csv`, nor is a pattern of names; and an address is read without the
/// white space around it, so that `x.sqlite ` would be another file.
fn address(path: &Path) -> Result<String, String> {
    let address = format!("sqlite:{}", path.display());
    match DatabaseUrl::parse(&address).path() == path {
        true => Ok(address),
        false => Err(format!("`database`: the file `{}` needs a plainer name", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        Case::parse(text, "one.yml", Path::new(".")).unwrap_err().to_string()
    }

    #[test]
    fn a_case_says_what_is_wrong_with_it() {
        assert_eq!(wrong("settings: {}"), "one.yml: `role` is missing: which role is called?");
        assert_eq!(
            wrong("role: rewrad"),
            "one.yml: there is no role `rewrad`; did you mean `reward`?"
        );
        assert!(wrong("role: [").starts_with("one.yml:1:"));
        assert!(wrong("role: reward\nruns: 1").contains("unknown field `runs`"));
        assert!(wrong("role: reward\nrows: all").contains("`rows`: `all` is not one of"));
        assert!(wrong("role: reward\nmodel: [{}]").contains("`model[0]`: a reply has one of"));
        assert!(
            wrong("role: reward\npolicy: {attempts: 1}").contains("did you mean `max_attempts`?")
        );
        assert!(wrong("role: reward\ndatabase: [1]").contains("text of SQL statements"));
        assert!(
            wrong(&format!("role: {}{}", "[".repeat(99), "]".repeat(99)))
                .contains("nested too deep")
        );
        assert!(
            wrong("role: reward\nevaluate: {verdicts: [{accepted: {scor: 1}}]}")
                .contains("did you mean `score`?")
        );
    }

    #[test]
    fn a_database_of_a_file_is_in_the_folder_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("tests")).unwrap();
        fs::write(project.join("shop.sql"), "CREATE TABLE t(a);").unwrap();
        fs::write(folder.path().join("secret.sql"), "CREATE TABLE secret(a);").unwrap();
        let read = |file: &str| {
            let case = project.join("tests/one.yml");
            fs::write(&case, format!("role: reward\ndatabase: {{file: {file}}}")).unwrap();
            Case::read(&case, &project).map(|case| case.database).map_err(|error| error.message)
        };
        assert_eq!(read("../shop.sql"), Ok(CaseDatabase::Script("CREATE TABLE t(a);".to_owned())));
        for outside in ["../../secret.sql", "/etc/passwd"] {
            assert!(read(outside).unwrap_err().contains("not in the folder"), "{outside}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret.sql"), project.join("link.sql"))
                .unwrap();
            assert!(read("../link.sql").unwrap_err().contains("not in the folder"));
        }
        assert!(read("missing.sql").is_err() && read("..").is_err());
    }

    /// A SQLite file is opened as one and under its own name, whatever that looks like.
    #[test]
    fn the_name_of_a_database_leads_to_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let read = |file: &str| {
            fs::write(place.join(file), SQLITE).unwrap();
            let text =
                serde_json::json!({"role": "reward", "database": {"file": file}}).to_string();
            Case::parse(&text, "one.json", &place)
                .map(|case| case.database)
                .map_err(|error| error.message)
        };
        let address =
            |file: &str| Ok(CaseDatabase::File(format!("sqlite:{}/{file}", place.display())));
        for file in ["shop.sqlite", "*.csv", "shop.duckdb", "postgres:x", "shop"] {
            assert_eq!(read(file), address(file));
        }
        assert!(read("shop.sqlite ").unwrap_err().contains("a plainer name"));
    }

    #[test]
    fn inputs_are_json_or_yaml() {
        assert!(input("", "-").unwrap().is_empty());
        assert_eq!(input("{\"a\": 1}", "-").unwrap()["a"], 1);
        assert_eq!(input("a: 1", "-").unwrap()["a"], 1);
        assert!(input("[1]", "-").is_err() && input("{\"a\": ", "-").is_err());
        assert!(input(&format!("{{\"a\": {}}}", "[".repeat(100_000)), "-").is_err());
    }
}
