//! What files become, and what is said of those that cannot be read.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, GzipLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, ListArray,
    RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::sources;

fn source(path: &Path) -> Source {
    sources::found(path).unwrap().remove(0)
}

/// The columns with their types and all rows of a file, as texts.
fn read(path: &Path, caps: ImportCaps) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
    let (source, wanted) = (source(path), AtomicBool::new(false));
    let shape = shape(&source, &Work::new(caps, &wanted))?;
    let mut all = Vec::new();
    rows(&source, &shape, &Work::new(caps, &wanted), &mut |cells| {
        all.push(cells.iter().map(shown).collect());
        Ok(())
    })?;
    let columns = shape.names.iter().zip(&shape.types).map(|(name, kind)| format!("{name} {}", kind.name()));
    Ok((columns.collect(), all))
}

fn shown(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "-".to_owned(),
        Cell::Untyped(text) => (*text).to_owned(),
        Cell::Text(text) => text.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => format!("{number:?}"),
        Cell::Boolean(truth) => truth.to_string(),
        Cell::Bytes(bytes) => format!("{bytes:?}"),
    }
}

fn of(name: &str, content: impl AsRef<[u8]>) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
    with_caps(name, content, ImportCaps::default())
}

fn with_caps(
    name: &str,
    content: impl AsRef<[u8]>,
    caps: ImportCaps,
) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    read(&path, caps)
}

#[test]
fn comma_separated_values_have_names_and_types() {
    let text = "\u{feff}id, Name ,born,,id\r\n1,\"Ann, \"\"A\"\"\nB\",2024-02-29,x,0.5\r\n\r\n2,,,y,1\r\n";
    let (columns, rows) = of("a.csv", text).unwrap();
    assert_eq!(columns, ["id INTEGER", "Name TEXT", "born DATE", "column_4 TEXT", "id_2 REAL"]);
    assert_eq!(rows, [vec!["1", "Ann, \"A\"\nB", "2024-02-29", "x", "0.5"], vec!["2", "-", "-", "y", "1"]]);
}

#[test]
fn the_first_line_tells_what_stands_between_values() {
    for (name, text) in [
        ("a.csv", "a;\"b,c,d\"\n1;2\n"),
        ("a.csv", "a|b,c,d\n1|2\n".replace(",c,d", "").as_str()),
        ("a.tsv", "a\tb;c;d\n1\t2\n"),
        ("a.csv", "a\tb\n1\t2"),
    ] {
        let (columns, rows) = of(name, text).unwrap();
        assert_eq!((columns.len(), rows), (2, vec![vec!["1".to_owned(), "2".to_owned()]]), "{text}");
    }
    assert_eq!(of("a.csv", "name\nann\n").unwrap().0, ["name TEXT"]);
    assert_eq!(of("a.csv", "a,b\n").unwrap().1.len(), 0);
}

#[test]
fn objects_in_lines_have_the_columns_of_all_of_them() {
    let text = "{\"id\": 1, \"x\": {\"a\": [1, 2]}, \"ok\": true}\n\n{\"big\": 12345678901234567890, \"id\": null, \"ID\": \"7\", \"f\": 1e2}\n";
    let (columns, rows) = of("a.jsonl", text).unwrap();
    assert_eq!(columns, ["id INTEGER", "x TEXT", "ok BOOLEAN", "big TEXT", "ID_2 TEXT", "f REAL"]);
    assert_eq!(rows[0], ["1", "{\"a\": [1, 2]}", "true", "-", "-", "-"]);
    assert_eq!(rows[1], ["-", "-", "-", "12345678901234567890", "7", "100.0"]);
}

#[test]
fn packed_files_are_unpacked() {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"a,b\n1,2\n").unwrap();
    let packed = packed.finish().unwrap();
    let twice = [packed.clone(), packed].concat();
    let (columns, rows) = of("a.csv.gz", twice).unwrap();
    assert_eq!(columns, ["a TEXT", "b TEXT"]);
    assert_eq!(rows, [["1", "2"], ["a", "b"], ["1", "2"]]);
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    for (name, content, expected) in [
        ("a.csv", &b"a,b\n1,2\n3\n"[..], "`a.csv`, line 3: it has 1 value, and the first line has 2"),
        ("a.csv", b"a\n1\n\xff\n", "`a.csv`, line 3: the text is not UTF-8; save the file in that encoding"),
        ("a.csv", b"", "`a.csv`: the file is empty"),
        ("a.csv.gz", b"a,b\n1,2\n3,4\n", "`a.csv.gz`: invalid gzip header"),
        ("a.jsonl", b"{\"a\": 1}\n{\"a\": }\n", "`a.jsonl`, line 2: expected value, at byte 7 of the line"),
        (
            "a.jsonl",
            b"[1]\n",
            "`a.jsonl`, line 1: invalid type: sequence, expected an object in each line, at byte 0 of the line",
        ),
        ("a.jsonl", b"\n\n", "`a.jsonl`: no line has an object with names"),
        ("a.parquet", b"PAR1", "`a.parquet`: it is no Parquet file"),
        ("a.parquet", b"PAR1aaaaaaaaaaaaPAR2", "`a.parquet`: it is no Parquet file, or its end is missing"),
        ("a.parquet", b"PAR1aaaa\xff\xff\xff\x7fPAR1", "`a.parquet`: its description of itself has more than"),
    ] {
        let error = of(name, content).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_is_too_much_ends_the_reading() {
    let caps = ImportCaps { bytes: 1_000, rows: 5 };
    let rows = |count: usize| format!("a\n{}", "1\n".repeat(count));
    assert_eq!(with_caps("a.csv", rows(5), caps).unwrap().1.len(), 5);
    let error = with_caps("a.csv", rows(6), caps).unwrap_err();
    assert_eq!(error.to_string(), "there are more than 5 rows: raise --max-import-rows to read more");
    let error = with_caps("a.jsonl", format!("{{\"a\": \"{}\"}}", "x".repeat(1_000)), caps).unwrap_err();
    assert_eq!(error.to_string(), "there are more than 1000 bytes: raise --max-import-bytes to read more");
    // A small file that unpacks to much.
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b'\n'; 10_000_000]).unwrap();
    let error = with_caps("a.csv.gz", packed.finish().unwrap(), caps).unwrap_err();
    assert!(error.to_string().starts_with("there are more than 1000 bytes"), "{error}");
    let quote = format!("a\n\"{}", "x,\n".repeat(3_000_000));
    let error = of("a.csv", quote).unwrap_err().to_string();
    assert!(error.contains("a row has more than 4194304 bytes; is a quote not closed?"), "{error}");
    let error = of("a.csv", format!("{}\n", "a,".repeat(2_001))).unwrap_err().to_string();
    assert_eq!(error, "`a.csv`, line 1: there are more than 2000 columns");
    let error = of("a.jsonl", "{\"a\": 1, ".repeat(5_000_000)).unwrap_err().to_string();
    assert_eq!(error, "`a.jsonl`, line 1: the line has more than 4194304 bytes");
    let wide: String = (0..2_001).map(|at| format!("{{\"c{at}\": 1}}\n")).collect();
    assert_eq!(of("a.jsonl", wide).unwrap_err().to_string(), "`a.jsonl`, line 2001: there are more than 2000 columns");
}

#[test]
fn a_quote_that_nobody_closes_is_named() {
    for (text, line) in [
        ("a,b\n1,\"x\n2,y\n3,z\n", 2),
        ("a,b\n1,x\n2,\"y", 3),
        ("\u{feff}\"a\",\"b\"\n\"1\n\",\"it said \"\"x\n", 3),
        ("\"a", 1),
    ] {
        let error = of("a.csv", text).unwrap_err().to_string();
        assert_eq!(error, format!("`a.csv`, line {line}: the quote that opens there is not closed"), "{text}");
    }
    for text in [
        "a,b\n1,\"x\n2\"\n",
        "a\n5\" pipe\n",
        "a\n\"5\"\"\"\n",
        "\u{feff}\"a\"\n\"\"\n",
        "a\n\"x\"y\"\n",
        "a\r\n\"1\r\n\"\r\n",
    ] {
        assert!(of("a.csv", text).is_ok(), "{text}");
    }
}

#[test]
fn nobody_waits_for_what_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a\n1\n").unwrap();
    let cancelled = AtomicBool::new(true);
    let error = shape(&source(&path), &Work::new(ImportCaps::default(), &cancelled)).unwrap_err();
    assert!(matches!(error, ImportError::Cancelled), "{error}");
}

fn parquet(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn sample() -> Vec<(&'static str, ArrayRef)> {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), None]);
    let money = Decimal128Array::from(vec![Some(-1_250), Some(5)]).with_precision_and_scale(12, 2).unwrap();
    let zoned = TimestampMicrosecondArray::from(vec![Some(-1), None]).with_timezone("+02:00");
    vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("count", Arc::new(UInt64Array::from(vec![Some(7), None]))),
        ("name", Arc::new(StringArray::from(vec![Some("Ann"), None]))),
        ("ok", Arc::new(BooleanArray::from(vec![true, false]))),
        ("score", Arc::new(Float64Array::from(vec![0.5, 2.0]))),
        ("money", Arc::new(money)),
        ("day", Arc::new(Date32Array::from(vec![Some(19_782), None]))),
        ("at", Arc::new(zoned)),
        ("tags", Arc::new(list)),
        ("raw", Arc::new(BinaryArray::from(vec![&[1_u8, 2][..], &[]]))),
    ]
}

#[test]
fn parquet_has_types_of_its_own_whatever_packs_it() {
    for packing in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(::parquet::basic::ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        for version in [
            ::parquet::file::properties::WriterVersion::PARQUET_1_0,
            ::parquet::file::properties::WriterVersion::PARQUET_2_0,
        ] {
            let properties = WriterProperties::builder().set_compression(packing).set_writer_version(version);
            let (columns, rows) = of("a.parquet", parquet(sample(), properties.build())).unwrap();
            assert_eq!(
                columns,
                [
                    "id INTEGER",
                    "count INTEGER",
                    "name TEXT",
                    "ok BOOLEAN",
                    "score REAL",
                    "money REAL",
                    "day DATE",
                    "at TIMESTAMP",
                    "raw BLOB"
                ]
            );
            assert_eq!(
                rows,
                [
                    vec![
                        "1",
                        "7",
                        "Ann",
                        "true",
                        "0.5",
                        "-12.5",
                        "2024-02-29",
                        "1969-12-31 23:59:59.999999Z",
                        "[1, 2]"
                    ],
                    vec!["2", "-", "-", "false", "2.0", "0.05", "-", "-", "[]"],
                ]
            );
        }
    }
}

#[test]
fn parquet_that_costs_more_than_it_says_is_refused() {
    let old = WriterProperties::builder().set_compression(Compression::LZ4).build();
    let error = of("a.parquet", parquet(sample(), old)).unwrap_err().to_string();
    assert!(error.contains("is compressed by LZ4; write it with Zstandard, Snappy or gzip"), "{error}");
    let big: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
    let error = of("a.parquet", parquet(vec![("n", big)], WriterProperties::default())).unwrap_err().to_string();
    assert_eq!(error, "`a.parquet`: a value of column `n` is out of the range of SQLite's");
    // One value of 40 MB that a thousand rows share takes 40 MB to read, and one that each row repeats comes in small batches.
    for encoding in [None, Some(Encoding::DELTA_BYTE_ARRAY)] {
        let value = "x".repeat(40 << 20);
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&value, 40)));
        let properties =
            WriterProperties::builder().set_data_page_size_limit(1 << 30).set_dictionary_page_size_limit(1 << 30);
        let properties = match encoding {
            Some(encoding) => properties.set_dictionary_enabled(false).set_encoding(encoding),
            None => properties,
        };
        let file = parquet(vec![("t", texts)], properties.set_compression(Compression::SNAPPY).build());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, file).unwrap();
        let (source, wanted, mut count) = (source(&path), AtomicBool::new(false), 0);
        let mut count_rows = |cells: &[Cell<'_>]| {
            assert!(matches!(&cells[0], Cell::Text(text) if text.len() == 40 << 20));
            count += 1;
            Ok(())
        };
        super::parquet::rows(&source, &Work::new(ImportCaps::default(), &wanted), &mut count_rows).unwrap();
        assert_eq!(count, 40);
    }
    let value: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(70 << 20)]));
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_compression(Compression::SNAPPY);
    let error = of("a.parquet", parquet(vec![("t", value)], properties.build())).unwrap_err().to_string();
    assert!(error.contains("a page of column `t` has"), "{error}");
}

#[test]
fn a_page_by_gzip_is_as_large_as_it_says() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1 << 20)]));
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    let properties = properties.set_compression(Compression::GZIP(GzipLevel::default())).build();
    let mut file = parquet(vec![("t", texts)], properties);
    // The header of the page: its unpacked size, of three bytes as a varint, becomes 64.
    let size = [0x15, 0x00, 0x15].as_slice();
    let at = file.windows(3).position(|bytes| bytes == size).unwrap() + 3;
    file[at..at + 4].copy_from_slice(&[0x80, 0x81, 0x80, 0x00]);
    let error = of("a.parquet", file).unwrap_err().to_string();
    assert!(error.ends_with("the pages of column `t` are damaged"), "{error}");
}

/// A file of which one byte is another.
fn damaged(at: usize, byte: u8) -> Vec<u8> {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let properties = || WriterProperties::builder().set_compression(Compression::GZIP(GzipLevel::default())).build();
    let mut file = FILE.get_or_init(|| parquet(sample(), properties())).clone();
    let at = at % file.len();
    file[at] = byte;
    file
}

// The crate that reads the file panics here: the page does not have the encoding that its values need.
#[test]
fn a_file_at_which_its_reader_panics_is_an_error() {
    let error = of("a.parquet", damaged(1_919, 148)).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_rows_or_an_error(content in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.parquet"] {
            drop(of(name, &content));
        }
    }

    #[test]
    fn a_damaged_parquet_file_is_rows_or_an_error(at in 4_usize..2_000, byte: u8) {
        drop(of("a.parquet", damaged(at, byte)));
    }

    #[test]
    fn values_are_read_back_as_they_were_written(cells in proptest::collection::vec("[^\\x00]{0,12}", 1..20)) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["n", "value"]).unwrap();
        for (at, cell) in cells.iter().enumerate() {
            writer.write_record([&at.to_string(), cell]).unwrap();
        }
        let (_, rows) = of("a.csv", writer.into_inner().unwrap()).unwrap();
        let read: Vec<String> = rows.into_iter().map(|mut row| row.remove(1)).collect();
        let written: Vec<String> = cells.into_iter().map(|cell| if cell.is_empty() { "-".to_owned() } else { cell }).collect();
        prop_assert_eq!(read, written);
    }
}
