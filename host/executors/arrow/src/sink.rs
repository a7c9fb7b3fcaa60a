//! Builds a result within its caps from an engine's record batches.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use syrch_core::result_set::SQL_TYPE;
use syrch_core::{Limits, ResultSet, SqlError, SqlErrorKind};

use crate::column::{Column, Read, type_name};

/// The bytes that a cell counts for besides its contents: whoever prints a result needs memory for
/// each, even for a NULL.
const CELL: usize = 24;
/// The size limit of a result's column names with their types, in bytes: lines and documents repeat
/// them.
const NAMES: usize = 128 << 10;
/// The size limit of the texts of one column, in bytes: they are addressed with 32 bits.
const ADDRESSED: usize = 1 << 30;

/// A result under construction. Cells are copied, so that what an engine holds beside the rows that
/// fit can be freed.
pub struct BatchSink {
    limits: Limits,
    names: Vec<(String, String)>,
    columns: Option<Vec<Column>>,
    whole: Option<Vec<ArrayRef>>,
    rows: u64,
    bytes: usize,
    warnings: Vec<String>,
    truncated: bool,
}

impl BatchSink {
    /// An empty result with these caps.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let names = Vec::new();
        let warnings = Vec::new();
        Self {
            limits,
            names,
            columns: None,
            whole: None,
            rows: 0,
            bytes: 0,
            warnings,
            truncated: false,
        }
    }

    /// Returns the limits on what is read of a result.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes the schema, before the first batch. A field's metadata may hold the declared SQL type
    /// under [`SQL_TYPE`]; texts that are declared `numeric` become decimal numbers where
    /// [`decimals`](crate::decimals) can read all of them.
    ///
    /// # Errors
    /// When the names of the columns are too long, or a type cannot be read.
    pub fn begin(&mut self, schema: &Schema) -> Result<(), SqlError> {
        let named = schema.fields().iter().map(|field| {
            let declared = field.metadata().get(SQL_TYPE).cloned();
            (field.name().clone(), declared.unwrap_or_else(|| type_name(field.data_type())))
        });
        self.names = named.collect();
        check_names(self.names.iter().map(|(name, sql_type)| name.len() + sql_type.len()))?;
        self.columns = Some(
            schema
                .fields()
                .iter()
                .map(|field: &Arc<Field>| {
                    Column::for_field(field).ok_or_else(|| {
                        let message = format!(
                            "the column `{}` has a type that cannot be read: cast it to a text",
                            field.name()
                        );
                        SqlError::new(SqlErrorKind::TypeMismatch, message)
                    })
                })
                .collect::<Result<_, _>>()?,
        );
        Ok(())
    }

    /// Takes a batch of that schema. Breaks when a cap is reached: then no further batch is wanted.
    ///
    /// # Errors
    /// When a cell is larger than a cell may be, and when the batch does not have the schema.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<ControlFlow<()>, SqlError> {
        fn column_error() -> SqlError {
            SqlError::new(SqlErrorKind::Other, "the engine sent rows that its columns do not have")
        }
        let limits = &self.limits;
        let columns = self
            .columns
            .as_mut()
            .filter(|columns| columns.len() == batch.num_columns())
            .ok_or_else(column_error)?;
        let left = limits.rows.saturating_sub(self.rows);
        let wanted = batch.num_rows().min(usize::try_from(left).unwrap_or(usize::MAX));
        let most = limits.result_bytes.min(ADDRESSED);
        let budget = most.saturating_sub(self.bytes);
        let mut sizes = vec![columns.len() * CELL; wanted];
        let read = columns.iter().zip(batch.columns());
        let read =
            read.map(|(column, array)| column.read(array, &mut sizes, limits.cell_bytes, budget));
        let read: Vec<Read> = read.collect::<Option<_>>().ok_or_else(column_error)?;
        let mut rows = 0;
        let mut bytes = 0;
        for size in sizes {
            if size > budget - bytes {
                break;
            }
            bytes += size;
            rows += 1;
        }
        if rows < wanted && read.iter().any(|read| read.is_large && read.cells.len() == rows) {
            let message =
                format!("a cell is too large: a cell may have {} bytes", limits.cell_bytes);
            return Err(SqlError::new(SqlErrorKind::TooLarge, message).rule("cell-bytes"));
        }
        for (column, read) in columns.iter_mut().zip(&read) {
            column.append(&read.cells, rows).ok_or_else(column_error)?;
        }
        self.rows += rows as u64;
        self.bytes += bytes;
        if rows < wanted {
            self.cut(format!(
                "only the first {} rows were read: the result has more than {most} bytes",
                self.rows
            ));
        } else if wanted < batch.num_rows() {
            self.cut(format!("only the first {} rows were read", self.limits.rows));
        }
        Ok(if self.truncated { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Takes a whole result, which the engine read within [`limits`](Self::limits) into columns of
    /// the types that results have, in place of [`begin`](Self::begin) and [`push`](Self::push).
    /// Each column has its name and its SQL type.
    pub fn put(&mut self, names: Vec<(String, String)>, columns: Vec<ArrayRef>, rows: u64) {
        self.names = names;
        self.whole = Some(columns);
        self.rows = rows;
    }

    /// Records that the engine itself cut the result.
    pub fn cut(&mut self, warning: String) {
        self.truncated = true;
        self.warnings.push(warning);
    }

    /// The result of this statement.
    ///
    /// # Errors
    /// When [`begin`](Self::begin) was never called.
    pub fn finish(self, sql: String) -> Result<ResultSet, SqlError> {
        let built = self.columns.map(|columns| columns.into_iter().map(Column::finish).collect());
        let arrays: Vec<ArrayRef> = self
            .whole
            .or(built)
            .ok_or_else(|| SqlError::new(SqlErrorKind::Other, "the engine named no columns"))?;
        let fields: Vec<Field> = self
            .names
            .into_iter()
            .zip(&arrays)
            .map(|((name, sql_type), array)| {
                Field::new(name, array.data_type().clone(), true)
                    .with_metadata(HashMap::from([(SQL_TYPE.to_owned(), sql_type)]))
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(self.rows).ok());
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
            .map_err(|error| SqlError::new(SqlErrorKind::Other, error.to_string()))?;
        let batches = if self.rows == 0 { Vec::new() } else { vec![batch] };
        Ok(ResultSet::new(schema, batches, self.truncated, self.warnings, sql))
    }
}

/// Checks the bytes of the columns' names with their types.
///
/// # Errors
/// When a result may not have so many.
pub fn check_names(bytes: impl Iterator<Item = usize>) -> Result<(), SqlError> {
    if bytes.sum::<usize>() <= NAMES {
        return Ok(());
    }
    let message = format!(
        "the names of the columns have more than {NAMES} bytes; give them shorter ones by AS"
    );
    Err(SqlError::new(SqlErrorKind::TooLarge, message).rule("column-names"))
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Array, BinaryViewArray, Float32Array, Int8Array, StringViewArray, UInt64Array,
    };
    use syrch_core::Value;

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap()
    }

    fn texts(texts: &[&str]) -> RecordBatch {
        batch(vec![("t", Arc::new(StringViewArray::from(texts.to_vec())))])
    }

    /// The result of batches, and how many of them were wanted.
    fn gather(limits: &Limits, batches: &[RecordBatch]) -> Result<(ResultSet, usize), SqlError> {
        let mut sink = BatchSink::new(limits.clone());
        sink.begin(&batches[0].schema())?;
        let mut wanted = 0;
        for batch in batches {
            wanted += 1;
            if sink.push(batch)?.is_break() {
                break;
            }
        }
        Ok((sink.finish("SELECT 1".to_owned())?, wanted))
    }

    #[test]
    fn narrow_types_become_those_of_results() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("i", Arc::new(Int8Array::from(vec![Some(-3), None]))),
            ("u", Arc::new(UInt64Array::from(vec![u64::MAX, 1]))),
            ("f", Arc::new(Float32Array::from(vec![0.1, 2.5]))),
            ("b", Arc::new(BinaryViewArray::from(vec![b"x".as_slice(), b""]))),
        ];
        let batch = batch(columns);
        let (result, _) = gather(&Limits::default(), &[batch.clone(), batch]).unwrap();
        let first = vec![
            Value::Integer(-3),
            Value::Decimal("18446744073709551615".to_owned()),
            Value::Real(0.1),
            Value::Bytes(b"x".to_vec()),
        ];
        let second = vec![
            Value::Null,
            Value::Decimal("1".to_owned()),
            Value::Real(2.5),
            Value::Bytes(Vec::new()),
        ];
        assert_eq!(result.rows(0, 9), [first.clone(), second.clone(), first, second]);
        assert!(!result.is_truncated());
        assert_eq!(result.columns()[0].sql_type, "Int8");
    }

    #[test]
    fn texts_that_are_declared_numeric_become_decimal_numbers() {
        for (sql_type, cells, expected) in [
            (
                "numeric",
                ["1", "-0.05"],
                ["1.00", "-0.05"].map(|text| Value::Decimal(text.to_owned())),
            ),
            ("numeric", ["1", "nan"], ["1", "nan"].map(|text| Value::Text(text.to_owned()))),
            ("text", ["1", "-0.05"], ["1", "-0.05"].map(|text| Value::Text(text.to_owned()))),
        ] {
            let metadata = HashMap::from([(SQL_TYPE.to_owned(), sql_type.to_owned())]);
            let field = Field::new("n", arrow_schema::DataType::Utf8, true).with_metadata(metadata);
            let cells: ArrayRef = Arc::new(arrow_array::StringArray::from(cells.to_vec()));
            let batch =
                RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![cells]).unwrap();
            let (result, _) = gather(&Limits::default(), &[batch]).unwrap();
            assert_eq!(result.rows(0, 9), expected.map(|cell| vec![cell]), "{sql_type}");
        }
    }

    #[test]
    fn rows_are_capped() {
        let limits = Limits { rows: 3, ..Limits::default() };
        let (result, wanted) = gather(&limits, &[texts(&["a", "b"]), texts(&["c"])]).unwrap();
        assert_eq!((result.row_count(), result.is_truncated(), wanted), (3, false, 2));
        let (result, wanted) =
            gather(&limits, &[texts(&["a", "b"]), texts(&["c", "d"]), texts(&["e"])]).unwrap();
        assert_eq!((result.row_count(), result.is_truncated(), wanted), (3, true, 2));
        let full = [texts(&["a", "b", "c"]), texts(&["d"])];
        assert_eq!(
            gather(&limits, &full).unwrap().0.warnings(),
            ["only the first 3 rows were read"]
        );
    }

    #[test]
    fn bytes_are_capped() {
        let limits = Limits { result_bytes: 100, cell_bytes: 40, ..Limits::default() };
        let long = "x".repeat(30);
        let (result, _) = gather(&limits, &[texts(&[&long, "a", "b", "c"])]).unwrap();
        assert_eq!((result.row_count(), result.is_truncated()), (2, true));
        let larger = "x".repeat(41);
        let error = gather(&limits, &[texts(&["a", &larger])]).unwrap_err();
        assert_eq!(
            (error.kind, error.rule.as_deref()),
            (SqlErrorKind::TooLarge, Some("cell-bytes"))
        );
        // What is not read may be of any size.
        let (result, _) = gather(&Limits { rows: 1, ..limits }, &[texts(&["a", &larger])]).unwrap();
        assert_eq!(result.row_count(), 1);
    }

    #[test]
    fn what_has_another_shape_is_an_error() {
        let mut sink = BatchSink::new(Limits::default());
        assert!(sink.push(&texts(&["a"])).is_err());
        let numbers: ArrayRef = Arc::new(Int8Array::from(vec![1]));
        sink.begin(&batch(vec![("t", Arc::clone(&numbers))]).schema()).unwrap();
        assert!(sink.push(&texts(&["a"])).is_err());
        assert!(sink.push(&batch(vec![("t", Arc::clone(&numbers)), ("u", numbers)])).is_err());
        assert!(BatchSink::new(Limits::default()).finish(String::new()).is_err());
        let long = texts(&["a"]).schema();
        let long = Schema::new(vec![Field::new(
            "n".repeat(200_000),
            long.field(0).data_type().clone(),
            true,
        )]);
        assert_eq!(sink.begin(&long).unwrap_err().rule.as_deref(), Some("column-names"));
    }

    #[test]
    fn a_whole_result_stays_as_the_engine_built_it() {
        let numbers: ArrayRef = Arc::new(arrow_array::Int64Array::from(vec![1, 2]));
        let mut sink = BatchSink::new(Limits::default());
        sink.put(vec![("n".into(), "int4".into())], vec![Arc::clone(&numbers)], 2);
        sink.cut("only the first 2 rows were read".into());
        let result = sink.finish("SELECT n".into()).unwrap();
        assert_eq!((result.row_count(), result.is_truncated()), (2, true));
        assert_eq!(result.columns()[0].sql_type, "int4");
        assert!(Arc::ptr_eq(result.batches()[0].column(0), &numbers), "the column was copied");
    }

    #[test]
    fn an_empty_result_has_its_columns() {
        let (result, _) = gather(&Limits::default(), &[texts(&[]).slice(0, 0)]).unwrap();
        assert_eq!((result.row_count(), result.columns().len()), (0, 1));
        assert!(result.batches().iter().all(|batch| batch.column(0).is_empty()));
    }
}
