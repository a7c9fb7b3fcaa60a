//! Expected rows and answers as result sets, so that every rule compares them as it compares the
//! rows of a statement.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use syrch_core::ResultSet;
use syrch_core::result_set::SQL_TYPE;

use super::Gold;

/// Rows of a file of expected rows at most.
const ROWS: usize = 100_000;
/// Bytes of such a file at most.
const BYTES: u64 = 64 << 20;
/// The column of an expected answer.
const ANSWER: &str = "answer";

/// The reason why a file of expected rows cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldError {
    /// It is missing, no plain file, or may not be read.
    #[error("`{path}` cannot be read: {reason}")]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The file has more rows or bytes than may be compared.
    #[error("`{path}` has more than {limit}")]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The limit, with its unit.
        limit: String,
    },
    /// The content is no table.
    #[error("`{path}` line {line}: {reason}")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The mistake in it.
        reason: String,
    },
}

/// The expected rows of a gold; `None` if it is a statement, whose rows a database has, or an end
/// without rows.
///
/// The first line of a CSV file names the columns. A column holds integers or reals when all of its
/// cells that are not empty are written as such (`007` is a text), and texts otherwise; empty cells
/// are NULL. An expected answer is one row of one cell, read in the same way.
///
/// # Errors
/// When the file cannot be read, is no table, or has more than 100,000 rows or 64 MiB.
pub fn read_expected_rows(gold: &Gold) -> Result<Option<ResultSet>, GoldError> {
    match gold {
        Gold::Sql(_) | Gold::End(_) => Ok(None),
        Gold::Csv(path) => table(path, &load(path)?).map(Some),
        Gold::Text(text) => {
            let cell = Some(text.clone()).filter(|text| !text.is_empty());
            result(vec![ANSWER.to_owned()], vec![vec![cell]])
                .map(Some)
                .map_err(|reason| GoldError::Malformed { path: PathBuf::new(), line: 1, reason })
        }
    }
}

/// The content of a file of expected rows.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, GoldError> {
    fn unreadable_file(path: &Path, reason: String) -> GoldError {
        GoldError::Unreadable { path: path.to_owned(), reason }
    }
    let about = path.metadata().map_err(|error| unreadable_file(path, error.to_string()))?;
    if !about.is_file() {
        return Err(unreadable_file(path, "it is not a file".to_owned()));
    }
    let mut content = Vec::new();
    let file = File::open(path).map_err(|error| unreadable_file(path, error.to_string()))?;
    file.take(BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|error| unreadable_file(path, error.to_string()))?;
    if content.len() as u64 > BYTES {
        return Err(GoldError::TooLarge {
            path: path.to_owned(),
            limit: format!("{} MiB", BYTES >> 20),
        });
    }
    Ok(content)
}

/// The rows of that content.
pub(super) fn table(path: &Path, content: &[u8]) -> Result<ResultSet, GoldError> {
    let malformed =
        |line, reason: String| GoldError::Malformed { path: path.to_owned(), line, reason };
    let content = content.strip_prefix(super::BYTE_ORDER_MARK).unwrap_or(content);
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(content);
    let mut record = csv::StringRecord::new();
    let mut names: Option<Vec<String>> = None;
    let mut columns: Vec<Vec<Option<String>>> = Vec::new();
    loop {
        let start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        let line = || line_of(content, start);
        if !reader
            .read_record(&mut record)
            .map_err(|_| malformed(line(), "is not UTF-8 text".to_owned()))?
        {
            break;
        }
        let Some(names) = &names else {
            names = Some(record.iter().map(str::to_owned).collect());
            columns = vec![Vec::new(); record.len()];
            continue;
        };
        if record.len() != names.len() {
            let reason =
                format!("{} cells, and the first line names {} columns", record.len(), names.len());
            return Err(malformed(line(), reason));
        }
        if columns.first().is_some_and(|column| column.len() >= ROWS) {
            return Err(GoldError::TooLarge {
                path: path.to_owned(),
                limit: format!("{ROWS} rows"),
            });
        }
        for (column, cell) in columns.iter_mut().zip(&record) {
            column.push(Some(cell.to_owned()).filter(|cell| !cell.is_empty()));
        }
    }
    let names = names
        .ok_or_else(|| malformed(1, "it is empty; its first line names the columns".to_owned()))?;
    result(names, columns).map_err(|reason| malformed(1, reason))
}

/// The line of the first text from this byte on.
fn line_of(content: &[u8], start: usize) -> u64 {
    let rest = content.get(start..).unwrap_or_default();
    let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    1 + content.iter().take(start + breaks).filter(|byte| **byte == b'\n').count() as u64
}

fn result(names: Vec<String>, columns: Vec<Vec<Option<String>>>) -> Result<ResultSet, String> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
        names.into_iter().zip(columns).map(|(name, cells)| column(name, cells)).unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|error| error.to_string())?;
    Ok(ResultSet::new(schema, vec![batch], false, Vec::new(), String::new()))
}

/// The notation of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Integer,
    Real,
}

fn column(name: String, cells: Vec<Option<String>>) -> (Field, ArrayRef) {
    let mut kind = None;
    let mut is_number = true;
    for cell in cells.iter().flatten() {
        match (read_number(cell), kind) {
            (None, _) => {
                is_number = false;
                break;
            }
            (Some(Written::Integer), Some(Written::Real)) => {}
            (found, _) => kind = found,
        }
    }
    let (sql_type, array): (_, ArrayRef) = match kind.filter(|_| is_number) {
        Some(Written::Integer) => {
            let numbers =
                cells.into_iter().map(|cell| cell.and_then(|cell| cell.parse::<i64>().ok()));
            ("INTEGER", Arc::new(numbers.collect::<Int64Array>()))
        }
        Some(Written::Real) => {
            let numbers =
                cells.into_iter().map(|cell| cell.and_then(|cell| cell.parse::<f64>().ok()));
            ("REAL", Arc::new(numbers.collect::<Float64Array>()))
        }
        None => ("TEXT", Arc::new(cells.into_iter().collect::<StringArray>())),
    };
    let data_type: DataType = array.data_type().clone();
    let about = HashMap::from([(SQL_TYPE.to_owned(), sql_type.to_owned())]);
    (Field::new(name, data_type, true).with_metadata(about), array)
}

/// Reads a cell that is written as a number: no sign but `-`, no zeros before other digits, and
/// what fits the type.
fn read_number(cell: &str) -> Option<Written> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole == 0 || (whole > 1 && digits.starts_with('0')) {
        return None;
    }
    if digits.len() == whole && cell.parse::<i64>().is_ok() {
        return Some(Written::Integer);
    }
    // What follows digits is read as Rust reads it: a fraction, an exponent, and never a word.
    let is_last_digit = digits.ends_with(|last: char| last.is_ascii_digit());
    cell.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && is_last_digit)
        .map(|_| Written::Real)
}

/// Files of expected rows that were read, with their digests: many questions may share one.
pub(super) type Digests = BTreeMap<PathBuf, Result<[u8; 32], GoldError>>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::Value;

    use super::*;

    fn rows(content: &str) -> Result<Vec<Vec<Value>>, String> {
        let read = table(Path::new("gold.csv"), content.as_bytes());
        read.map(|result| result.rows(0, u64::MAX)).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_what_all_of_their_cells_are() {
        let content =
            "\u{feff}n,x,code,name,none\r\n1,2,007,\"a,b\",\r\n,1.5,8,,\r\n-3,-1e3,9,12,\r\n";
        let n = [1, -3].map(Value::Integer);
        let x = [2.0, 1.5, -1000.0].map(Value::Real);
        let text = |text: &str| Value::Text(text.to_owned());
        let [one, three] = n;
        let [two, half, thousand] = x;
        assert_eq!(
            rows(content).unwrap(),
            [
                vec![one, two, text("007"), text("a,b"), Value::Null],
                vec![Value::Null, half, text("8"), Value::Null, Value::Null],
                vec![three, thousand, text("9"), text("12"), Value::Null],
            ]
        );
        let result = table(Path::new("gold.csv"), content.as_bytes()).unwrap();
        let types: Vec<String> =
            result.columns().into_iter().map(|column| column.sql_type).collect();
        assert_eq!(types, ["INTEGER", "REAL", "TEXT", "TEXT", "TEXT"]);
    }

    #[test]
    fn numbers_are_distinguished_from_what_looks_like_them() {
        for integer in ["0", "-5", "9223372036854775807"] {
            assert_eq!(read_number(integer), Some(Written::Integer), "{integer}");
        }
        for real in ["0.5", "-0.25", "1e9", "1.5E-3", "9223372036854775808"] {
            assert_eq!(read_number(real), Some(Written::Real), "{real}");
        }
        for text in [
            "",
            "-",
            "007",
            "00.5",
            "+1",
            ".5",
            "5.",
            "1e",
            "inf",
            "NaN",
            "0x1",
            "1 ",
            "1,5",
            "1e999",
            "2024-01-01",
        ] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }

    #[test]
    fn an_answer_is_one_cell() {
        fn cell(text: &str) -> Vec<Vec<Value>> {
            read_expected_rows(&Gold::Text(text.to_owned()))
                .unwrap()
                .map(|result| result.rows(0, 9))
                .unwrap_or_default()
        }
        assert_eq!(cell("42"), [[Value::Integer(42)]]);
        assert_eq!(cell("France"), [[Value::Text("France".into())]]);
        assert_eq!(cell("1.50"), [[Value::Real(1.5)]]);
        assert_eq!(read_expected_rows(&Gold::Sql("SELECT 1".into())), Ok(None));
    }

    #[test]
    fn what_is_no_table_is_reported_with_its_line() {
        assert_eq!(
            rows("").unwrap_err(),
            "`gold.csv` line 1: it is empty; its first line names the columns"
        );
        assert_eq!(
            rows("a,b\r\n1,2\r\n\r\n3\r\n").unwrap_err(),
            "`gold.csv` line 4: 1 cells, and the first line names 2 columns"
        );
        let wrong = table(Path::new("gold.csv"), b"a\n1\n\xff\n").unwrap_err();
        assert_eq!(wrong.to_string(), "`gold.csv` line 3: is not UTF-8 text");
        let many = format!("a\n{}", "1\n".repeat(ROWS + 1));
        assert_eq!(rows(&many).unwrap_err(), "`gold.csv` has more than 100000 rows");
        assert_eq!(rows("a\n").unwrap(), Vec::<Vec<Value>>::new());
    }

    #[test]
    fn only_plain_files_within_the_bound_are_loaded() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load(folder.path()).unwrap_err().to_string().ends_with("it is not a file"));
        let large = folder.path().join("large.csv");
        File::create(&large).unwrap().set_len(BYTES + 1).unwrap();
        assert!(load(&large).unwrap_err().to_string().ends_with("has more than 64 MiB"));
    }

    proptest! {
        #[test]
        fn any_content_is_a_table_or_refused(
            content in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = table(Path::new("gold.csv"), &content);
        }

        #[test]
        fn integers_come_back(numbers in prop::collection::vec(any::<i64>(), 1..20)) {
            let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
            let read = rows(&format!("n\n{lines}")).unwrap();
            let expected: Vec<_> =
                numbers.into_iter().map(|number| vec![Value::Integer(number)]).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
