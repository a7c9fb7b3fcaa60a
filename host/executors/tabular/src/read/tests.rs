//! Tests of the databases that files become, and of the messages about those that cannot be read.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, Encoding, GzipLevel};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array,
    ListArray, RecordBatch, StringArray, TimestampMicrosecondArray, UInt64Array,
};
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::sources;

fn source(path: &Path) -> Source {
    sources::find_sources(path).unwrap().remove(0)
}

/// The columns with their types, all rows of a file as texts, and the notes.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<Note>,
}

fn table(path: &Path, caps: ImportCaps, options: &ReadOptions) -> Result<Table, ImportError> {
    let source = source(path);
    let wanted = AtomicBool::new(false);
    let shape = shape(&source, &Work::new(caps, options, &wanted))?;
    let mut all = Vec::new();
    let later = rows(&source, &shape, &Work::new(caps, options, &wanted), &mut |cells| {
        all.push(cells.iter().map(cell_text).collect());
        Ok(())
    })?;
    let columns =
        shape.names.iter().zip(&shape.types).map(|(name, kind)| format!("{name} {}", kind.name()));
    let notes = shape.notes.iter().cloned().chain(later).collect();
    Ok(Table { columns: columns.collect(), rows: all, notes })
}

/// The columns with their types and all rows of a file, as texts.
fn read(path: &Path, caps: ImportCaps) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
    table(path, caps, &ReadOptions::default()).map(|table| (table.columns, table.rows))
}

/// A file of that content, read with these options.
fn with_options(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &ReadOptions,
) -> Result<Table, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    table(&path, ImportCaps::default(), options)
}

/// A file of that content, with its notes as the lines `column: note`.
fn read_with_notes(content: impl AsRef<[u8]>) -> (Vec<String>, Vec<Vec<String>>, Vec<String>) {
    let Table { columns, rows, notes } =
        with_options("a.csv", content, &ReadOptions::default()).unwrap();
    let notes = notes.into_iter().map(|Note { column, text }| {
        column.map_or_else(|| text.clone(), |column| format!("{column}: {text}"))
    });
    (columns, rows, notes.collect())
}

fn cell_text(cell: &Cell<'_>) -> String {
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

fn read_content(
    name: &str,
    content: impl AsRef<[u8]>,
) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
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
    let text =
        "\u{feff}id, Name ,born,,id\r\n1,\"Ann, \"\"A\"\"\nB\",2024-02-29,x,0.5\r\n\r\n2,,,y,1\r\n";
    let (columns, rows) = read_content("a.csv", text).unwrap();
    assert_eq!(columns, ["id INTEGER", "Name TEXT", "born DATE", "column_4 TEXT", "id_2 REAL"]);
    assert_eq!(
        rows,
        [vec!["1", "Ann, \"A\"\nB", "2024-02-29", "x", "0.5"], vec!["2", "-", "-", "y", "1"]]
    );
}

#[test]
fn the_first_line_tells_what_stands_between_values() {
    for (name, text) in [
        ("a.csv", "a;\"b,c,d\"\n1;2\n"),
        ("a.csv", "a|b,c,d\n1|2\n".replace(",c,d", "").as_str()),
        ("a.tsv", "a\tb;c;d\n1\t2\n"),
        ("a.csv", "a\tb\n1\t2"),
    ] {
        let (columns, rows) = read_content(name, text).unwrap();
        assert_eq!(
            (columns.len(), rows),
            (2, vec![vec!["1".to_owned(), "2".to_owned()]]),
            "{text}"
        );
    }
    assert_eq!(read_content("a.csv", "name\nann\n").unwrap().0, ["name TEXT"]);
    assert_eq!(read_content("a.csv", "a,b\n").unwrap().1.len(), 0);
}

#[test]
fn objects_in_lines_have_the_columns_of_all_of_them() {
    let text = "{\"id\": 1, \"x\": {\"a\": [1, 2]}, \"ok\": true}\n\n\
                {\"big\": 12345678901234567890, \"id\": null, \"ID\": \"7\", \"f\": 1e2}\n";
    let (columns, rows) = read_content("a.jsonl", text).unwrap();
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
    let (columns, rows) = read_content("a.csv.gz", twice).unwrap();
    assert_eq!(columns, ["a TEXT", "b TEXT"]);
    assert_eq!(rows, [["1", "2"], ["a", "b"], ["1", "2"]]);
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    for (name, content, expected) in [
        (
            "a.csv",
            &b"a,b\n1,2\n3\n"[..],
            "`a.csv`, line 3: it has 1 value, and the first line has 2",
        ),
        (
            "a.csv",
            b"a\n1\n\xff\n",
            "`a.csv`, line 3: the text is not UTF-8, but probably windows-125",
        ),
        (
            "a.jsonl",
            b"{}\n{\"a\": \"\xe9t\xe9\"}",
            "`a.jsonl`, line 2: the text is not UTF-8, but probably windows-1252",
        ),
        ("a.csv", b"", "`a.csv`: the file is empty"),
        ("a.csv.gz", b"\x1f\x8b\x08aaaaaaaaaaaaaaaaaaaaaaaaaa", "`a.csv.gz`: invalid gzip header"),
        (
            "a.jsonl",
            b"{\"a\": 1}\n{\"a\": }\n",
            "`a.jsonl`, line 2: expected value, at byte 7 of the line",
        ),
        (
            "a.jsonl",
            b"[1]\n",
            "`a.jsonl`, line 1: invalid type: sequence, expected an object in each line, at byte \
             0 of the line",
        ),
        ("a.jsonl", b"\n\n", "`a.jsonl`: no line has an object with names"),
        ("a.parquet", b"PAR1", "`a.parquet`: it is no Parquet file"),
        (
            "a.parquet",
            b"PAR1aaaaaaaaaaaaPAR2",
            "`a.parquet`: it is no Parquet file, or its end is missing",
        ),
        (
            "a.parquet",
            b"PAR1aaaa\xff\xff\xff\x7fPAR1",
            "`a.parquet`: its description of itself has more than",
        ),
    ] {
        let error = read_content(name, content).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn what_is_too_much_ends_the_reading() {
    let caps = ImportCaps { bytes: 1_000, rows: 5 };
    fn rows(count: usize) -> String {
        format!("a\n{}", "1\n".repeat(count))
    }
    assert_eq!(with_caps("a.csv", rows(5), caps).unwrap().1.len(), 5);
    let error = with_caps("a.csv", rows(6), caps).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are more than 5 rows: raise --max-import-rows to read more"
    );
    let error =
        with_caps("a.jsonl", format!("{{\"a\": \"{}\"}}", "x".repeat(1_000)), caps).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are more than 1000 bytes: raise --max-import-bytes to read more"
    );
    // A small file that unpacks to much.
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b'\n'; 10_000_000]).unwrap();
    let error = with_caps("a.csv.gz", packed.finish().unwrap(), caps).unwrap_err();
    assert!(error.to_string().starts_with("there are more than 1000 bytes"), "{error}");
    let quote = format!("a\n\"{}", "x,\n".repeat(3_000_000));
    let error = read_content("a.csv", quote).unwrap_err().to_string();
    assert!(error.contains("a row has more than 4194304 bytes; is a quote not closed?"), "{error}");
    let error = read_content("a.csv", format!("{}\n", "a,".repeat(2_001))).unwrap_err().to_string();
    assert_eq!(error, "`a.csv`, line 1: there are more than 2000 columns");
    let error = read_content("a.jsonl", "{\"a\": 1, ".repeat(5_000_000)).unwrap_err().to_string();
    assert_eq!(error, "`a.jsonl`, line 1: the line has more than 4194304 bytes");
    let wide: String = (0..2_001).map(|at| format!("{{\"c{at}\": 1}}\n")).collect();
    assert_eq!(
        read_content("a.jsonl", wide).unwrap_err().to_string(),
        "`a.jsonl`, line 2001: there are more than 2000 columns"
    );
}

#[test]
fn a_quote_that_nobody_closes_is_named() {
    for (text, line) in [
        ("a,b\n1,\"x\n2,y\n3,z\n", 2),
        ("a,b\n1,x\n2,\"y", 3),
        ("\u{feff}\"a\",\"b\"\n\"1\n\",\"it said \"\"x\n", 3),
        ("\"a", 1),
    ] {
        let error = read_content("a.csv", text).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("`a.csv`, line {line}: the quote that opens there is not closed"),
            "{text}"
        );
    }
    for text in [
        "a,b\n1,\"x\n2\"\n",
        "a\n5\" pipe\n",
        "a\n\"5\"\"\"\n",
        "\u{feff}\"a\"\n\"\"\n",
        "a\n\"x\"y\"\n",
        "a\r\n\"1\r\n\"\r\n",
    ] {
        assert!(read_content("a.csv", text).is_ok(), "{text}");
    }
}

#[test]
fn nobody_waits_for_what_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a\n1\n").unwrap();
    let cancelled = AtomicBool::new(true);
    let error = shape(
        &source(&path),
        &Work::new(ImportCaps::default(), &ReadOptions::default(), &cancelled),
    )
    .unwrap_err();
    assert!(matches!(error, ImportError::Cancelled), "{error}");
}

fn parquet(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// A file whose one group has no rows, as pandas writes a table without any.
fn parquet_without_rows() -> Vec<u8> {
    let schema =
        ::parquet::schema::parser::parse_message_type("message m { optional int64 a; }").unwrap();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(column) = group.next_column().unwrap() {
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn sample() -> Vec<(&'static str, ArrayRef)> {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), None]);
    let money =
        Decimal128Array::from(vec![Some(-1_250), Some(5)]).with_precision_and_scale(12, 2).unwrap();
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
            let properties =
                WriterProperties::builder().set_compression(packing).set_writer_version(version);
            let (columns, rows) =
                read_content("a.parquet", parquet(sample(), properties.build())).unwrap();
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
                        "1969-12-31 23:59:59.999999",
                        "[1, 2]"
                    ],
                    vec!["2", "-", "-", "false", "2.0", "0.05", "-", "-", "[]"],
                ]
            );
        }
    }
}

#[test]
fn parquet_without_rows_is_a_table() {
    let (columns, rows) = read_content("a.parquet", parquet_without_rows()).unwrap();
    assert_eq!((columns, rows), (vec!["a INTEGER".to_owned()], Vec::<Vec<String>>::new()));
}

#[test]
fn parquet_that_costs_more_than_it_says_is_refused() {
    let old = WriterProperties::builder().set_compression(Compression::LZ4).build();
    let error = read_content("a.parquet", parquet(sample(), old)).unwrap_err().to_string();
    assert!(
        error.contains("is compressed by LZ4; write it with Zstandard, Snappy or gzip"),
        "{error}"
    );
    // One value of 40 MB that a thousand rows share takes 40 MB to read, and one that each row
    // repeats comes in small batches.
    for encoding in [None, Some(Encoding::DELTA_BYTE_ARRAY)] {
        let value = "x".repeat(40 << 20);
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&value, 40)));
        let properties = WriterProperties::builder()
            .set_data_page_size_limit(1 << 30)
            .set_dictionary_page_size_limit(1 << 30);
        let properties = match encoding {
            Some(encoding) => properties.set_dictionary_enabled(false).set_encoding(encoding),
            None => properties,
        };
        let file =
            parquet(vec![("t", texts)], properties.set_compression(Compression::SNAPPY).build());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        std::fs::write(&path, file).unwrap();
        let wanted = AtomicBool::new(false);
        let options = ReadOptions::default();
        let mut count = 0;
        let source = source(&path);
        let shape = shape(&source, &Work::new(ImportCaps::default(), &options, &wanted)).unwrap();
        let mut count_rows = |cells: &[Cell<'_>]| {
            assert!(matches!(&cells[0], Cell::Text(text) if text.len() == 40 << 20));
            count += 1;
            Ok(())
        };
        super::parquet::rows(
            &source,
            &shape,
            &Work::new(ImportCaps::default(), &options, &wanted),
            &mut count_rows,
        )
        .unwrap();
        assert_eq!(count, 40);
    }
    let value: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(70 << 20)]));
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::SNAPPY);
    let error = read_content("a.parquet", parquet(vec![("t", value)], properties.build()))
        .unwrap_err()
        .to_string();
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
    let error = read_content("a.parquet", file).unwrap_err().to_string();
    assert!(error.ends_with("the pages of column `t` are damaged"), "{error}");
}

#[test]
fn no_value_of_parquet_refuses_its_file() {
    let far = Date32Array::from(vec![Some(i32::MAX), Some(0), None]);
    let late = TimestampMicrosecondArray::from(vec![Some(i64::MAX), Some(0), Some(i64::MIN)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(UInt64Array::from(vec![Some(u64::MAX), Some(7), None]))),
        ("small", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
        ("day", Arc::new(far)),
        ("at", Arc::new(late)),
    ];
    let file = parquet(columns, WriterProperties::default());
    let Table { columns, rows, notes } =
        with_options("a.parquet", file, &ReadOptions::default()).unwrap();
    assert_eq!(columns, ["n TEXT", "small INTEGER", "day DATE", "at TIMESTAMP"]);
    assert_eq!(rows[0], ["18446744073709551615", "1", "-", "-"]);
    assert_eq!(rows[1], ["7", "2", "1970-01-01", "1970-01-01 00:00:00"]);
    assert_eq!(rows[2], ["-", "3", "-", "-"]);
    let range = "out of the calendar's years 0 to 9999, and NULL";
    let expected = [
        Note::new("n".to_owned(), "stays text: it has whole numbers of more than 63 bits"),
        Note::new("day".to_owned(), format!("1 value is {range}")),
        Note::new("at".to_owned(), format!("2 values are {range}")),
    ];
    assert_eq!(notes, expected);
}

#[test]
fn titles_above_the_table_are_left_out() {
    for (text, titles) in [
        ("Extract of 2025-01-06\nid;town\n1;Bari\n2;Rome\n", 1),
        ("Sales report\nPeriod: 2024, all of it\n\nid,town,price\n1,Bari,2\n2,Rome,3\n", 2),
        ("Sales report,,\n,,\nid,town,price\n1,Bari,2\n2,Rome,3\n", 2),
        ("\"Source\",\"Bank\",\n\ncountry,code,1960,1961\nItaly,IT,1,2\nSpain,ES,2,3\n", 1),
    ] {
        let (columns, rows, notes) = read_with_notes(text);
        assert!(columns[0].starts_with("id ") || columns[0].starts_with("country "), "{columns:?}");
        assert_eq!(rows.len(), 2, "{text}");
        let expected = if titles == 1 { "a line above" } else { "2 lines above" };
        assert!(notes[0].starts_with(expected), "{notes:?}");
    }
    for (text, error) in [
        ("a,b\n1,2\n\n3\n", "`a.csv`, line 4: it has 1 value, and the first line has 2"),
        (
            "a,b\r\n1,\"2\r\n\"\r\n\r\n3,4,5\r\n",
            "`a.csv`, line 5: it has 3 values, and the first line has 2",
        ),
        ("a,b\r1,2\r\r3\r", "`a.csv`, line 4: it has 1 value, and the first line has 2"),
        ("price\n12,5\n3,25\n", "`a.csv`, line 2: it has 2 values, and the first line has 1"),
        ("a,b\nx,1,2\ny,3,4\n", "`a.csv`, line 2: it has 3 values, and the first line has 2"),
        (
            "T\n\na,b\n1,2\n3,4\n5\n",
            "`a.csv`, line 6: it has 1 value, and the line with the names has 2",
        ),
    ] {
        let found = read_content("a.csv", text).unwrap_err().to_string();
        assert!(found.starts_with(error), "{found}");
    }
    let mut long = "T\n\na,b\n".to_owned() + &"1,2\n".repeat(30_000);
    long.push_str("5\n");
    let error = read_content("a.csv", long).unwrap_err().to_string();
    assert_eq!(error, "`a.csv`, line 30004: it has 1 value, and the line with the names has 2");
    // Separators at the ends of lines are no values.
    assert_eq!(read_content("a.csv", "a,b\n1,2,\n3,4,,\n").unwrap().1, [["1", "2"], ["3", "4"]]);
}

#[test]
fn the_first_line_names_no_columns_if_it_is_like_the_others() {
    let said = "no line names the columns, which are called column_1 and so on";
    for text in [
        "1,Ann,2.5\n2,Bob,3\n",
        "2024-01-01;x\n2024-01-02;y\n",
        "Ann,1990\nBob,1985\n",
        "1,2\n3,4\n",
        "1,NA,\n2,3,4\n",
    ] {
        let (columns, rows, notes) = read_with_notes(text);
        assert!(columns[0].starts_with("column_1 "), "{columns:?}");
        assert_eq!((rows.len(), notes[0].as_str()), (2, said), "{text}");
    }
    for text in [
        "id,name\n2,Bob\n3,Ann\n",
        "name,town\nBob,Bari\nAnn,Rome\n",
        "country,2010,2011\nItaly,5,6\nSpain,7,8\n",
        "0,1\n0.5,0.7\n0.1,0.2\n",
        ",0,1\n0,0.5,0.7\n1,0.1,0.2\n",
        "name,1,2,3\nAnn,5,7,8\nBob,1,2,3\n",
        "a,b\n",
        "1,2\n",
    ] {
        let (columns, _, notes) = read_with_notes(text);
        assert!(
            !columns.last().unwrap().starts_with("column_") && notes.is_empty(),
            "{columns:?} {notes:?}"
        );
    }
}

#[test]
fn a_row_of_totals_is_left_out_if_it_is_the_sum() {
    let said = "the row of totals at the end is left out";
    for text in [
        "town,n,price\nBari,2,0.5\nRome,3,0.25\nTotal,5,0.75\n",
        "town;n\nBari;1.200,5\nRome;3\nSumme:;1.203,5\n",
        "year,town,n\n2023,Bari,2\n2024,Rome,3\nGrand Total,,5\n",
        "year,town,n\n2023,Bari,2\n2024,Rome,3\n,Total,5\n",
        // Whichever reading of its numbers is the right one.
        "town,n\nBari,\"1,234\"\nRome,\"2,345\"\nTotal,\"3,579\"\n",
    ] {
        let (_, rows, notes) = read_with_notes(text);
        assert_eq!((rows.len(), notes[0].as_str()), (2, said), "{text}");
    }
    // A sum beyond all numbers is no row's.
    assert_eq!(read_with_notes("town,n\nBari,1e308\nRome,1e308\nTotal,5\n").1.len(), 3);
    let (_, rows, notes) = read_with_notes("town,n\nBari,2\nRome,3\nTotal,7\n");
    assert_eq!(rows.len(), 3);
    assert!(notes[0].contains("not found to be the sum"), "{notes:?}");
    let (_, rows, notes) = read_with_notes("town,n\nBari,2\nTotal,5\nRome,3\n");
    assert_eq!((rows.len(), notes.len()), (3, 0));
    // One that has fewer values than the others cannot stay.
    for text in [
        "town,n,note\nBari,2,x\nRome,3,y\nTotal,5\n",
        "town,n,note\nBari,2,x\nRome,3,y\nTotal\n",
        "town;n;note\nBari;2;x\nRome;3;y\nSumme:;7\n\n",
    ] {
        let (_, rows, notes) = read_with_notes(text);
        assert_eq!(rows.len(), 2, "{text}");
        assert!(notes[0].contains("fewer values than the others: it is left out"), "{notes:?}");
    }
    for (text, line) in
        [("town,n,note\nBari,2,x\nTotal,2\nRome,3,y\n", 3), ("town,n,note\nBari,2,x\nRome,3\n", 3)]
    {
        let error = read_content("a.csv", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line}: it has 2 values")), "{error}");
    }
}

#[test]
fn texts_in_other_encodings_are_read() {
    let text = "name,n\nJosé,1\nZoë,2\n";
    fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }
    let marked = |order: fn(u16) -> [u8; 2]| [order(0xfeff).to_vec(), utf16(text, order)].concat();
    for content in [marked(u16::to_le_bytes), marked(u16::to_be_bytes)] {
        let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&content).unwrap();
        let packed = packed.finish().unwrap();
        // The name does not tell what is packed.
        for (name, content) in
            [("a.csv", content.clone()), ("a.csv", packed), ("a.csv.gz", content)]
        {
            assert_eq!(read_content(name, content).unwrap().1, [["José", "1"], ["Zoë", "2"]]);
        }
    }
    let latin =
        text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect::<Vec<u8>>();
    let error = read_content("a.csv", &latin).unwrap_err().to_string();
    let reason =
        "the text is not UTF-8, but probably windows-1252: `--encoding windows-1252` reads it";
    assert_eq!(error, format!("`a.csv`, line 2: {reason}"));
    let cyrillic: Vec<u8> =
        encoding_rs::WINDOWS_1251.encode("город,n\nМосква,1\nСанкт-Петербург,2\n").0.into_owned();
    let error = read_content("a.csv", &cyrillic).unwrap_err().to_string();
    assert!(error.contains("line 1: ") && error.contains("--encoding windows-1251"), "{error}");
    fn options(name: &str) -> syrch_core::imports::ReadOptions {
        ReadOptions {
            encoding: syrch_core::imports::Encoding::for_name(name),
            ..ReadOptions::default()
        }
    }
    assert_eq!(with_options("a.csv", &latin, &options("latin1")).unwrap().rows[1], ["Zoë", "2"]);
    assert_eq!(
        with_options("a.csv", &cyrillic, &options("cp1251")).unwrap().rows[0],
        ["Москва", "1"]
    );
    let unmarked = utf16(text, u16::to_be_bytes);
    let error = read_content("a.csv", &unmarked).unwrap_err().to_string();
    assert!(error.contains("--encoding utf-16be"), "{error}");
    assert_eq!(
        with_options("a.csv", &unmarked, &options("utf-16be")).unwrap().rows[0],
        ["José", "1"]
    );
    let lines: Vec<u8> = "{\"a\": \"é\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(
        read_content("a.jsonl", &lines).unwrap_err().to_string().contains("--encoding utf-16le")
    );
    assert_eq!(read_content("a.jsonl", [vec![0xff, 0xfe], lines].concat()).unwrap().1, [["é"]]);
    let error =
        with_options("a.csv", b"a\n\xff\xff\n", &options("euc-jp")).err().unwrap().to_string();
    assert!(error.contains("the text is not EUC-JP"), "{error}");
}

#[test]
fn a_value_has_few_readings_whatever_its_file_holds() {
    // A bomb of UTF-16 is bounded by what it unpacks to.
    let caps = ImportCaps { bytes: 1_000, rows: 5 };
    let bomb: Vec<u8> = std::iter::repeat_n([0x0a, 0x00], 1_000_000).flatten().collect();
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&[vec![0xff, 0xfe], bomb].concat()).unwrap();
    let error = with_caps("a.csv", packed.finish().unwrap(), caps).unwrap_err();
    assert!(error.to_string().starts_with("there are more than 1000 bytes"), "{error}");
    let error =
        read_content("a.csv", format!("{}\n", "a,".repeat(100_000))).unwrap_err().to_string();
    assert!(error.contains("more than 2000 columns"), "{error}");
}

/// A file of which one byte is another.
fn damage_file(at: usize, byte: u8) -> Vec<u8> {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    fn properties() -> WriterProperties {
        WriterProperties::builder().set_compression(Compression::GZIP(GzipLevel::default())).build()
    }
    let mut file = FILE.get_or_init(|| parquet(sample(), properties())).clone();
    let at = at % file.len();
    file[at] = byte;
    file
}

// The crate that reads the file panics here: the page does not have the encoding that its values
// need.
#[test]
fn a_file_at_which_its_reader_panics_is_an_error() {
    let error = read_content("a.parquet", damage_file(1_919, 148)).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_rows_or_an_error(content in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.parquet"] {
            drop(read_content(name, &content));
        }
    }

    #[test]
    fn a_damaged_parquet_file_is_rows_or_an_error(at in 4_usize..2_000, byte: u8) {
        drop(read_content("a.parquet", damage_file(at, byte)));
    }

    #[test]
    fn values_are_read_back_as_they_were_written(
        cells in proptest::collection::vec("[^\\x00]{0,12}", 1..20)
    ) {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        writer.write_record(["n", "value"]).unwrap();
        // In a column of texts nothing changes.
        writer.write_record(["0", "a text"]).unwrap();
        for (at, cell) in cells.iter().enumerate() {
            writer.write_record([&at.to_string(), cell]).unwrap();
        }
        let (_, rows) = read_content("a.csv", writer.into_inner().unwrap()).unwrap();
        let read: Vec<String> = rows.into_iter().skip(1).map(|mut row| row.remove(1)).collect();
        let written: Vec<String> = cells
            .into_iter()
            .map(|cell| if cell.is_empty() { "-".to_owned() } else { cell })
            .collect();
        prop_assert_eq!(read, written);
    }
}
