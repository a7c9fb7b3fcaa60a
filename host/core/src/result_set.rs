//! Results of statements: Arrow record batches, with the declared SQL type of each column beside
//! its Arrow type.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::{DataType, FieldRef, SchemaRef};
use sha2::{Digest, Sha256};

use crate::{Column, ColumnProfile, Doubt, Equality, Profile, Value};

/// The key of a field's metadata that holds the declared SQL type.
pub const SQL_TYPE: &str = "sql_type";

/// The rows of one statement, within the caps. The Arrow types in use are Null, Boolean, Int64,
/// Float64, Decimal128, Utf8 and Binary.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSet {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    truncated: bool,
    warnings: Vec<String>,
    doubts: Vec<Doubt>,
    /// The one statement that ran, relations spliced in, in the engine's dialect.
    pub sql: String,
    known: Known,
}

/// Values computed from a result, which never changes. A copy of a result starts without them, and
/// comparisons ignore them.
#[derive(Default)]
struct Known {
    size: OnceLock<usize>,
    profile: OnceLock<Profile>,
    /// The fingerprints by equality (see [`rank`]) and salt.
    fingerprints: Mutex<BTreeMap<(u8, u64), String>>,
}

impl Clone for Known {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

impl Default for ResultSet {
    /// A result without columns and rows.
    fn default() -> Self {
        let schema = SchemaRef::new(arrow_schema::Schema::empty());
        Self::new(schema, Vec::new(), false, Vec::new(), String::new())
    }
}

impl ResultSet {
    /// Creates a result of batches that all have this schema. `truncated` is whether a cap cut it;
    /// `warnings` are for the reader, and the first of them says which cap cut a truncated result.
    #[must_use]
    pub fn new(
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        truncated: bool,
        warnings: Vec<String>,
        sql: String,
    ) -> Self {
        Self {
            schema,
            batches,
            truncated,
            warnings,
            doubts: Vec::new(),
            sql,
            known: Known::default(),
        }
    }

    /// The result with these doubts in place of its own.
    #[must_use]
    pub fn with_doubts(self, doubts: Vec<Doubt>) -> Self {
        Self { doubts, known: Known::default(), ..self }
    }

    /// The Arrow schema; a field's metadata holds its declared type under [`SQL_TYPE`].
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows as record batches.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Returns whether a cap cut the result.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Remarks on the result for its reader.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The reasons to distrust the result.
    #[must_use]
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// The number of rows, those that a cap cut not counted.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// The memory that the result takes, in bytes, as limits and caches count it: [`memory_size`],
    /// its texts, and what each column takes besides.
    #[must_use]
    pub fn size(&self) -> usize {
        /// Without its rows and texts.
        const RESULT: usize = 4 << 10;
        /// Without its name and type.
        const COLUMN: usize = 512;
        *self.known.size.get_or_init(|| {
            let doubts: usize = self.doubts.iter().map(|doubt| doubt.text.len()).sum();
            let texts =
                self.warnings.iter().map(String::len).sum::<usize>() + doubts + self.sql.len();
            // A profile has the names again.
            let columns: usize = self
                .schema
                .fields()
                .iter()
                .map(|field: &FieldRef| {
                    COLUMN
                        + 2 * (field.name().len()
                            + field.metadata().values().map(String::len).sum::<usize>())
                })
                .sum();
            RESULT + texts + columns + memory_size(&self.batches)
        })
    }

    /// The name, the declared type and the nullability of each column.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        self.schema
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                sql_type: field.metadata().get(SQL_TYPE).cloned().unwrap_or_default(),
                nullable: field.is_nullable(),
                ..Column::default()
            })
            .collect()
    }

    /// The shape of the result. `distinct` is not counted; `warnings` are those of the result and
    /// its doubts.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.known.profile.get_or_init(|| self.shape()).clone()
    }

    fn shape(&self) -> Profile {
        let columns = self
            .columns()
            .into_iter()
            .enumerate()
            .map(|(index, column)| {
                let nulls = self
                    .batches
                    .iter()
                    .map(|batch| batch.column(index).logical_null_count() as u64)
                    .sum::<u64>();
                ColumnProfile { column, nulls, distinct: None }
            })
            .collect();
        let warnings = self
            .warnings
            .iter()
            .chain(self.doubts.iter().map(|doubt| &doubt.text))
            .cloned()
            .collect();
        Profile { rows: self.row_count(), truncated: self.truncated, columns, warnings }
    }

    /// The cells of the rows `offset..offset + limit`, as far as they exist.
    #[must_use]
    pub fn rows(&self, offset: u64, limit: u64) -> Vec<Vec<Value>> {
        let mut rows = Vec::new();
        let mut skip = offset;
        let mut left = limit;
        for batch in &self.batches {
            let size = batch.num_rows() as u64;
            if skip >= size {
                skip -= size;
                continue;
            }
            let take = left.min(size - skip);
            for row in skip..skip + take {
                rows.push(
                    batch.columns().iter().map(|column| cell(column, row as usize)).collect(),
                );
            }
            left -= take;
            skip = 0;
            if left == 0 {
                break;
            }
        }
        rows
    }

    /// A digest that is equal for results that are equal under `under`; `salt` makes it useless
    /// outside of its run. `None` for an unknown equality. Numbers are equal when their values are
    /// (1 and 1.0); all other cells when type and value are the same. Column names do not count.
    #[must_use]
    pub fn fingerprint(&self, under: &Equality, salt: u64) -> Option<String> {
        let key = (rank(under)?, salt);
        let mut known = self.known.fingerprints.lock().unwrap_or_else(PoisonError::into_inner);
        Some(known.entry(key).or_insert_with(|| self.digest(under, salt)).clone())
    }

    fn digest(&self, under: &Equality, salt: u64) -> String {
        let mut digests: Vec<[u8; 32]> = Vec::new();
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                let mut hasher = Sha256::new();
                hasher.update(salt.to_le_bytes());
                batch.columns().iter().for_each(|column| hash_cell(&mut hasher, column, row));
                digests.push(hasher.finalize().into());
            }
        }
        if *under != Equality::Ordered {
            digests.sort_unstable();
        }
        if *under == Equality::Set {
            digests.dedup();
        }
        let mut hasher = Sha256::new();
        hasher.update(salt.to_le_bytes());
        hasher.update((self.schema.fields().len() as u64).to_le_bytes());
        hasher.update([u8::from(self.truncated)]);
        digests.iter().for_each(|digest| hasher.update(digest));
        crate::text::hex(&hasher.finalize()[..16])
    }
}

/// The memory of batches, in bytes. An allocation counts as a whole, also where little of it is in
/// use, and once, also where several columns have parts of it, as those of a decoded result do.
#[must_use]
pub fn memory_size(batches: &[RecordBatch]) -> usize {
    let mut size = 0_usize;
    let mut seen = BTreeMap::new();
    for column in batches.iter().flat_map(RecordBatch::columns) {
        size = size.saturating_add(column.get_array_memory_size());
        let mut arrays = vec![column.to_data()];
        while let Some(array) = arrays.pop() {
            for buffer in array.buffers().iter().chain(array.nulls().map(|nulls| nulls.buffer())) {
                let known = seen.entry(buffer.data_ptr()).or_insert(0);
                size = size.saturating_sub(buffer.capacity().min(*known));
                *known = buffer.capacity().max(*known);
            }
            arrays.extend_from_slice(array.child_data());
        }
    }
    size
}

/// A number for each known equality.
fn rank(under: &Equality) -> Option<u8> {
    match under {
        Equality::Bag => Some(0),
        Equality::Set => Some(1),
        Equality::Ordered => Some(2),
        Equality::Other(_) => None,
    }
}

/// One cell of an Arrow column of the types that [`ResultSet`] uses; other types read as NULL.
#[must_use]
pub fn cell(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    let any = column.as_any();
    match column.data_type() {
        DataType::Boolean => {
            any.downcast_ref::<BooleanArray>().map(|a| Value::Boolean(a.value(row)))
        }
        DataType::Int64 => any.downcast_ref::<Int64Array>().map(|a| Value::Integer(a.value(row))),
        DataType::Float64 => any.downcast_ref::<Float64Array>().map(|a| Value::Real(a.value(row))),
        DataType::Decimal128(..) => {
            any.downcast_ref::<Decimal128Array>().map(|a| Value::Decimal(a.value_as_string(row)))
        }
        DataType::Utf8 => {
            any.downcast_ref::<StringArray>().map(|a| Value::Text(a.value(row).to_owned()))
        }
        DataType::Binary => {
            any.downcast_ref::<BinaryArray>().map(|a| Value::Bytes(a.value(row).to_vec()))
        }
        _ => None,
    }
    .unwrap_or(Value::Null)
}

/// A decimal number in the narrowest type that holds it without loss.
enum Number {
    Whole(i64),
    Real(f64),
    /// The digits without zeros at the end, and how many of them are behind the point.
    Exact(i128, i8),
}

fn number(mut digits: i128, mut scale: i8) -> Number {
    while scale > 0 && digits % 10 == 0 {
        (digits, scale) = (digits / 10, scale - 1);
    }
    /// Whole numbers up to here are exact as `f64`.
    const EXACT: i128 = 1 << 53;
    match i64::try_from(digits) {
        Ok(whole) if scale == 0 => Number::Whole(whole),
        // Both are exact, so that the quotient is the number that reading the text gives.
        Ok(whole) if scale <= 22 && digits.abs() <= EXACT => {
            Number::Real(whole as f64 / 10_f64.powi(scale.into()))
        }
        _ => Number::Exact(digits, scale),
    }
}

/// Hashes a cell so that exactly equal cells give the same bytes: length, tag, value. Texts and
/// blobs are hashed without a copy.
fn hash_cell(hasher: &mut Sha256, column: &ArrayRef, row: usize) {
    let mut tagged = |tag: u8, bytes: &[u8]| {
        hasher.update((bytes.len() as u64 + 1).to_le_bytes());
        hasher.update([tag]);
        hasher.update(bytes);
    };
    let any = column.as_any();
    if !column.is_null(row) {
        if let Some(texts) = any.downcast_ref::<StringArray>() {
            return tagged(b't', texts.value(row).as_bytes());
        }
        if let Some(blobs) = any.downcast_ref::<BinaryArray>() {
            return tagged(b'b', blobs.value(row));
        }
        if let Some(decimals) = any.downcast_ref::<Decimal128Array>() {
            return match number(decimals.value(row), decimals.scale()) {
                Number::Whole(value) => tagged(b'i', &value.to_le_bytes()),
                Number::Real(value) => tagged(b'r', &value.to_bits().to_le_bytes()),
                Number::Exact(digits, scale) => {
                    tagged(b'd', format!("{digits}e-{scale}").as_bytes())
                }
            };
        }
    }
    match cell(column, row) {
        Value::Boolean(value) => tagged(b'i', &i64::from(value).to_le_bytes()),
        Value::Integer(value) => tagged(b'i', &value.to_le_bytes()),
        // 2^63 is exact as f64, and every integral value below it fits i64.
        Value::Real(value) if value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0 => {
            tagged(b'i', &(value as i64).to_le_bytes());
        }
        Value::Real(value) => tagged(b'r', &value.to_bits().to_le_bytes()),
        // Arrow has no other type here.
        _ => tagged(b'n', &[]),
    }
}

/// A 64-bit digest (FNV-1a) of parts, the same on every machine and in every run; for seeds, not
/// for secrets.
#[must_use]
pub fn digest64(parts: &[&str]) -> u64 {
    syrch_basics::fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0xff])))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Schema};

    use super::*;

    fn result(numbers: ArrayRef) -> ResultSet {
        let schema =
            Arc::new(Schema::new(vec![Field::new("n", numbers.data_type().clone(), true)]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![numbers]).unwrap();
        ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
    }

    #[test]
    fn shared_memory_counts_once_and_a_part_as_the_whole() {
        let texts = |letter: u8| {
            Arc::new(StringArray::from(vec![
                [letter; 10_000].map(char::from).iter().collect::<String>(),
            ]))
        };
        let columns: Vec<ArrayRef> =
            (b'a'..=b'j').map(|letter| texts(letter) as ArrayRef).collect();
        let fields: Vec<Field> =
            (0..10).map(|n| Field::new(n.to_string(), DataType::Utf8, false)).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let built =
            ResultSet::new(batch.schema(), vec![batch.clone()], false, Vec::new(), String::new());
        let decoded = crate::encode::decode(&crate::encode::encode(&built).unwrap()).unwrap();
        assert_eq!(decoded, built);
        for result in [&built, &decoded] {
            assert!(
                (100_000..120_000).contains(&memory_size(result.batches())),
                "{}",
                memory_size(result.batches())
            );
            assert!((110_000..130_000).contains(&result.size()), "{}", result.size());
        }
        let part = memory_size(&[batch.slice(0, 0)]);
        assert!(part > 100_000, "{part}");
        // Three times the structures, once the values.
        assert!(memory_size(&[batch.slice(0, 0), batch.clone(), batch]) < part + 10_000);

        let flags = RecordBatch::try_from_iter([(
            "b",
            Arc::new(BooleanArray::from(vec![Some(true), None])) as ArrayRef,
        )]);
        let flags = flags.unwrap();
        assert_eq!(memory_size(&[flags.slice(0, 1)]), memory_size(&[flags]));
    }

    #[test]
    fn a_result_without_rows_has_a_size() {
        let of = |name: &str, sql: &str| {
            let schema = Schema::new(vec![Field::new(name, DataType::Int64, true)]);
            ResultSet::new(Arc::new(schema), Vec::new(), false, Vec::new(), sql.to_owned()).size()
        };
        assert!(of("n", "") >= 4 << 10);
        assert!(of(&"n".repeat(10_000), &" ".repeat(10_000)) >= of("n", "") + 29_000);
    }

    #[test]
    fn fingerprints_follow_their_equality() {
        let a = result(Arc::new(Int64Array::from(vec![1, 2, 2])));
        let b = result(Arc::new(Float64Array::from(vec![2.0, 1.0, 2.0])));
        let c = result(Arc::new(Int64Array::from(vec![2, 1])));
        fn print(r: &ResultSet, e: Equality) -> Option<String> {
            r.fingerprint(&e, 7)
        }
        assert_eq!(print(&a, Equality::Bag), print(&b, Equality::Bag));
        assert_ne!(print(&a, Equality::Ordered), print(&b, Equality::Ordered));
        assert_ne!(print(&a, Equality::Bag), print(&c, Equality::Bag));
        assert_eq!(print(&a, Equality::Set), print(&c, Equality::Set));
        assert_ne!(a.fingerprint(&Equality::Bag, 7), a.fingerprint(&Equality::Bag, 8));
        assert_eq!(print(&a, Equality::Other("x".into())), None);
    }

    #[test]
    fn every_kind_of_cell_counts_as_its_value() {
        fn print(column: ArrayRef) -> String {
            result(column).fingerprint(&Equality::Bag, 7).unwrap()
        }
        let different: Vec<String> = [
            Arc::new(Int64Array::from(vec![None::<i64>])) as ArrayRef,
            Arc::new(Int64Array::from(vec![0])),
            Arc::new(Int64Array::from(vec![1])),
            Arc::new(Float64Array::from(vec![1.5])),
            Arc::new(Float64Array::from(vec![9_223_372_036_854_775_808.0])),
            Arc::new(StringArray::from(vec![""])),
            Arc::new(StringArray::from(vec!["1"])),
            Arc::new(BinaryArray::from(vec![b"1".as_slice()])),
        ]
        .map(print)
        .to_vec();
        let set: std::collections::BTreeSet<&String> = different.iter().collect();
        assert_eq!(set.len(), different.len());
        assert_eq!(print(Arc::new(arrow_array::NullArray::new(1))), different[0]);
        assert_eq!(print(Arc::new(StringArray::from(vec![None::<&str>]))), different[0]);
        assert_eq!(print(Arc::new(BooleanArray::from(vec![true]))), different[2]);
        assert_eq!(print(Arc::new(Float64Array::from(vec![-0.0]))), different[1]);
    }

    #[test]
    fn computed_values_are_reused_and_ignored_by_comparisons() {
        let asked = result(Arc::new(Int64Array::from(vec![1, 2])));
        let first = asked.fingerprint(&Equality::Set, 7);
        let ordered = asked.fingerprint(&Equality::Ordered, 7);
        assert_ne!(first, ordered);
        assert_eq!(
            (asked.fingerprint(&Equality::Set, 7), asked.profile()),
            (first.clone(), asked.profile())
        );
        assert_eq!(asked.known.fingerprints.lock().unwrap().len(), 2);
        let copy = asked.clone();
        assert_eq!((copy.fingerprint(&Equality::Set, 7), &copy), (first, &asked));
    }

    #[test]
    fn rows_are_read_across_batches() {
        let one = result(Arc::new(Int64Array::from(vec![Some(1), None])));
        let two = ResultSet::new(
            Arc::clone(one.schema()),
            [one.batches(), one.batches()].concat(),
            false,
            Vec::new(),
            String::new(),
        );
        assert_eq!(two.rows(1, 2), [[Value::Null], [Value::Integer(1)]]);
        assert_eq!((two.row_count(), two.profile().columns[0].nulls), (4, 2));
    }
}
