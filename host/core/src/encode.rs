//! Results as bytes and vectors as text, and back without loss: the form in which caches and
//! journals store them.

use std::io::Cursor;

use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Doubt, ResultSet};

/// Everything that a result holds besides its batches.
#[derive(Serialize, Deserialize)]
struct Head {
    truncated: bool,
    warnings: Vec<String>,
    /// Results that an earlier version encoded have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<Doubt>,
    sql: String,
}

/// The bytes cannot be decoded as a result, or a result cannot be encoded.
#[derive(Debug, thiserror::Error)]
#[error("damaged result: {0}")]
pub struct DecodeError(String);

/// Size of the field that holds the length of the head, in bytes.
const LENGTH: usize = 4;

/// Encodes a result: the length of a JSON head as four bytes, little-endian, then the head, then an
/// Arrow IPC stream.
///
/// # Errors
/// When Arrow cannot write the batches, which does not happen for the types that [`ResultSet`]
/// uses.
pub fn encode(results: &ResultSet) -> Result<Vec<u8>, DecodeError> {
    fn encode_error(error: &dyn std::fmt::Display) -> DecodeError {
        DecodeError(error.to_string())
    }
    let head = Head {
        truncated: results.is_truncated(),
        warnings: results.warnings().to_vec(),
        doubts: results.doubts().to_vec(),
        sql: results.sql.clone(),
    };
    let head = serde_json::to_vec(&head).map_err(|error| encode_error(&error))?;
    let mut bytes =
        u32::try_from(head.len()).map_err(|error| encode_error(&error))?.to_le_bytes().to_vec();
    bytes.extend(head);
    let mut writer = StreamWriter::try_new(&mut bytes, results.schema())
        .map_err(|error| encode_error(&error))?;
    for batch in results.batches() {
        writer.write(batch).map_err(|error| encode_error(&error))?;
    }
    writer.finish().map_err(|error| encode_error(&error))?;
    drop(writer);
    Ok(bytes)
}

/// Decodes the bytes that [`encode`] returned.
///
/// # Errors
/// When the bytes are anything else. A checksum beforehand finds accidental damage more reliably.
pub fn decode(bytes: &[u8]) -> Result<ResultSet, DecodeError> {
    fn cut_off_error() -> DecodeError {
        DecodeError("it is cut off".to_owned())
    }
    let (length, rest) = bytes.split_at_checked(LENGTH).ok_or_else(cut_off_error)?;
    let length = length.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let (head, stream) = rest.split_at_checked(length).ok_or_else(cut_off_error)?;
    let head: Head =
        serde_json::from_slice(head).map_err(|error| DecodeError(error.to_string()))?;
    fn decode_error(error: arrow_schema::ArrowError) -> DecodeError {
        DecodeError(error.to_string())
    }
    let reader = StreamReader::try_new(Cursor::new(stream), None).map_err(decode_error)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(decode_error)?;
    Ok(ResultSet::new(schema, batches, head.truncated, head.warnings, head.sql)
        .with_doubts(head.doubts))
}

/// Writes vectors as text: one line per vector, its numbers as little-endian `f32` in base64.
#[must_use]
pub fn vectors(vectors: &[Vec<f32>]) -> String {
    vectors
        .iter()
        .map(|vector: &Vec<f32>| {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            STANDARD.encode(bytes)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Reads the vectors of a text that [`vectors`] wrote. `None` when the text has another form or a
/// number is not finite.
#[must_use]
pub fn vectors_of(text: &str) -> Option<Vec<Vec<f32>>> {
    if text.is_empty() {
        Some(Vec::new())
    } else {
        text.lines()
            .map(|line: &str| -> Option<Vec<f32>> {
                let bytes = STANDARD.decode(line).ok()?;
                let (numbers, rest) = bytes.as_chunks::<4>();
                let numbers: Vec<f32> =
                    numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
                (rest.is_empty() && numbers.iter().all(|number| number.is_finite()))
                    .then_some(numbers)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch,
        StringArray,
    };
    use arrow_schema::{Field, Schema};

    use super::*;
    use crate::DoubtKind;
    use crate::result_set::SQL_TYPE;

    #[test]
    fn every_value_comes_back_as_it_was() {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![Some("006"), None, Some("")])),
            Arc::new(Float64Array::from(vec![
                Some(315.0),
                Some(0.123_456_789_012_345_67),
                Some(-0.0),
            ])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(0), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\x00\xff"), None, Some(b"")])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(NullArray::new(3)),
        ];
        // Two columns may have one name.
        let schema = Arc::new(Schema::new(
            columns
                .iter()
                .map(|column: &ArrayRef| {
                    Field::new("same", column.data_type().clone(), true).with_metadata(
                        HashMap::from([(SQL_TYPE.to_owned(), "VARCHAR(3)".to_owned())]),
                    )
                })
                .collect::<Vec<_>>(),
        ));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let results = ResultSet::new(
            schema,
            vec![batch.clone(), batch],
            true,
            vec!["cut".into()],
            "SELECT '006'".into(),
        );
        let results =
            results.with_doubts(vec![Doubt { kind: DoubtKind::Day, text: "no day".into() }]);
        let again = decode(&encode(&results).unwrap()).unwrap();
        assert_eq!(again, results);
        assert_eq!((again.profile(), again.columns()), (results.profile(), results.columns()));
        assert_eq!(again.profile().warnings, ["cut", "no day"]);
    }

    #[test]
    fn other_bytes_are_refused() {
        let schema = Arc::new(Schema::empty());
        let bytes =
            encode(&ResultSet::new(schema, Vec::new(), false, Vec::new(), String::new())).unwrap();
        assert!(decode(&bytes).is_ok());
        for wrong in
            [b"".as_slice(), b"\xff\xff\xff\xff", &bytes[..bytes.len() / 2], b"\x02\x00\x00\x00{}"]
        {
            assert!(decode(wrong).is_err());
        }
    }

    #[test]
    fn vectors_come_back_bit_by_bit() {
        let some = vec![vec![0.1_f32, -1.0, f32::MIN_POSITIVE], vec![3.5, 0.0, 1e30]];
        assert_eq!(vectors_of(&vectors(&some)), Some(some));
        assert_eq!(vectors_of(&vectors(&[])), Some(Vec::new()));
        assert_eq!(vectors_of("?"), None);
        assert_eq!(vectors_of("AAAA"), None);
        assert_eq!(vectors_of(&vectors(&[vec![f32::NAN]])), None);
    }
}
