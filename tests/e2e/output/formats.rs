//! Each format on the worst cells: its escape, and every value as it is.

use serde_json::{Value, json};

use super::{CELLS, cells, has_terminal_codes, hostile, run_statement};

#[test]
fn a_table_shows_what_a_terminal_would_obey() {
    let place = hostile();
    for format in ["auto", "table"] {
        assert_eq!(
            run_statement(&place, format, CELLS),
            r#"┌────┬────────────────────────────────────┐
│ id ┆ cell                               │
╞════╪════════════════════════════════════╡
│  1 ┆ a\u{1b}]52;c;ZWNobw==\u{7}b        │
│  2 ┆ abc\u{202e}txt                     │
│  3 ┆ one\rtwo                           │
│  4 ┆ x\u{0}y                            │
│  5 ┆ =HYPERLINK("http://e.example","x") │
│  6 ┆ <script>alert(1)</script>          │
│  7 ┆ a|b                                │
│  8 ┆ a\nb                               │
│  9 ┆ 006                                │
│ 10 ┆ say "hi", you                      │
│ 11 ┆                                    │
│ 12 ┆ \u{9b}2J                           │
│ 13 ┆ -2+3                               │
│ 14 ┆ [x](javascript:0)                  │
│ 15 ┆ naïve 漢字                         │
└────┴────────────────────────────────────┘
"#
        );
    }
}

#[test]
fn csv_is_safe_to_open_and_reads_back() {
    let place = hostile();
    assert_eq!(
        run_statement(&place, "csv", CELLS),
        "id,cell\n\
         1,\"a\\u{1b}]52;c;ZWNobw==\\u{7}b\"\n\
         2,abc\\u{202e}txt\n\
         3,\"one\rtwo\"\n\
         4,x\\u{0}y\n\
         5,\"'=HYPERLINK(\"\"http://e.example\"\",\"\"x\"\")\"\n\
         6,<script>alert(1)</script>\n\
         7,a|b\n\
         8,\"a\nb\"\n\
         9,006\n\
         10,\"say \"\"hi\"\", you\"\n\
         11,\n\
         12,\\u{9b}2J\n\
         13,'-2+3\n\
         14,[x](javascript:0)\n\
         15,naïve 漢字\n"
    );
}

#[test]
fn markdown_holds_no_markup_of_a_cell() {
    let place = hostile();
    assert_eq!(
        run_statement(&place, "markdown", CELLS),
        r#"| id | cell |
| ---: | --- |
| 1 | a\u{1b}\]52;c;ZWNobw==\u{7}b |
| 2 | abc\u{202e}txt |
| 3 | one\rtwo |
| 4 | x\u{0}y |
| 5 | \=HYPERLINK("http\://e.example","x") |
| 6 | &lt;script&gt;alert(1)&lt;/script&gt; |
| 7 | a\|b |
| 8 | a<br>b |
| 9 | 006 |
| 10 | say "hi", you |
| 11 |  |
| 12 | \u{9b}2J |
| 13 | \-2+3 |
| 14 | \[x\](javascript\:0) |
| 15 | naïve 漢字 |
"#
    );
}

#[test]
fn json_keeps_every_value_and_is_safe_to_print() {
    let place = hostile();
    let text = run_statement(&place, "json", CELLS);
    assert!(!has_terminal_codes(&text), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows: Vec<Value> =
        cells().into_iter().enumerate().map(|(index, cell)| json!([index + 1, cell])).collect();
    assert_eq!((&document["schema"], &document["rows"]), (&json!("syrch.rows/1"), &json!(rows)));
    assert_eq!((&document["row_count"], &document["truncated"]), (&json!(15), &json!(false)));
    assert_eq!(document["columns"][1], json!({"name": "cell", "type": "TEXT"}));
    let text = run_statement(&place, "jsonl", CELLS);
    assert!(!has_terminal_codes(&text), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let objects: Vec<Value> = cells()
        .into_iter()
        .enumerate()
        .map(|(index, cell)| json!({"id": index + 1, "cell": cell}))
        .collect();
    assert_eq!(lines, objects);
}

/// One row of values whose last digit or type is easily lost.
#[test]
fn numbers_keep_every_digit_and_codes_their_zeros() {
    let place = hostile();
    let statement = "SELECT 315.0 AS a, 0.1 + 0.2 AS b, 9007199254740993 AS c, 9223372036854775807 \
                     AS d, '006' AS e, x'00ff1b' AS f, 123456789012345.67 AS g, 1e-300 AS h, -5 AS \
                     i, NULL AS j, '1.50' AS k, 1.0 / 3 AS l";
    assert_eq!(
        run_statement(&place, "jsonl", statement),
        "{\"a\":315.0,\"b\":0.30000000000000004,\"c\":9007199254740993,\"d\":9223372036854775807,\
         \"e\":\"006\",\
         \"f\":{\"bytes\":\"00ff1b\"},\"g\":123456789012345.67,\"h\":1e-300,\"i\":-5,\"j\":null,\
         \"k\":\"1.50\",\
         \"l\":0.3333333333333333}\n"
    );
    let header = "a,b,c,d,e,f,g,h,i,j,k,l";
    let row = "315.0,0.30000000000000004,9007199254740993,9223372036854775807,006,0x00ff1b,\
               123456789012345.67,1e-300,-5,,1.50,0.3333333333333333";
    assert_eq!(run_statement(&place, "csv", statement), format!("{header}\n{row}\n"));
    let table = run_statement(&place, "table", statement);
    for word in row.split(',') {
        assert!(table.contains(word), "no {word} in\n{table}");
    }
}

/// A number is no markup: no reader of the raw text should meet a backslash in it.
#[test]
fn numbers_stay_bare_in_markdown() {
    let place = hostile();
    let text = run_statement(&place, "markdown", "SELECT 315.0 AS a, -5 AS b, 0.1 + 0.2 AS c");
    assert_eq!(
        text,
        "| a | b | c |\n| ---: | ---: | ---: |\n| 315.0 | -5 | 0.30000000000000004 |\n"
    );
}

#[test]
fn columns_of_one_name_lose_no_value() {
    let place = hostile();
    let statement = "SELECT 1 AS a, 2 AS a, 3 AS \"=b\", 4 AS \"<i>|\", 5 AS \"\"";
    assert_eq!(run_statement(&place, "csv", statement), "a,a,'=b,<i>|,\n1,2,3,4,5\n");
    assert_eq!(
        run_statement(&place, "jsonl", statement),
        "{\"a\":1,\"a_2\":2,\"=b\":3,\"<i>|\":4,\"\":5}\n"
    );
    let document: Value = serde_json::from_str(&run_statement(&place, "json", statement)).unwrap();
    assert_eq!(document["rows"], json!([[1, 2, 3, 4, 5]]));
    assert_eq!(document["columns"][1]["name"], "a");
    assert!(
        run_statement(&place, "markdown", statement)
            .starts_with("| a | a | \\=b | &lt;i&gt;\\| |  |\n")
    );
    let hostile = "SELECT 1 AS \"\u{1b}[2J\u{202e}\"";
    assert!(run_statement(&place, "table", hostile).contains("\\u{1b}[2J\\u{202e}"));
    let document: Value = serde_json::from_str(&run_statement(&place, "json", hostile)).unwrap();
    assert_eq!(document["columns"][0]["name"], "\u{1b}[2J\u{202e}");
}

#[test]
fn a_long_text_is_clipped_for_people_only() {
    let place = hostile();
    let long = "é".repeat(100_000);
    let table = run_statement(&place, "table", "SELECT cell FROM long");
    assert!(table.contains('…') && table.len() < 20_000, "{} bytes", table.len());
    for format in ["json", "jsonl", "csv", "markdown"] {
        assert!(run_statement(&place, format, "SELECT cell FROM long").contains(&long), "{format}");
    }
}

#[test]
fn an_empty_result_keeps_its_columns() {
    let place = hostile();
    let statement = "SELECT id, cell FROM cells WHERE 0";
    assert_eq!(run_statement(&place, "csv", statement), "id,cell\n");
    assert_eq!(run_statement(&place, "jsonl", statement), "");
    assert_eq!(run_statement(&place, "markdown", statement), "| id | cell |\n| --- | --- |\n");
    assert!(run_statement(&place, "table", statement).contains("cell"));
    let document: Value = serde_json::from_str(&run_statement(&place, "json", statement)).unwrap();
    assert_eq!((&document["rows"], document["columns"].as_array().unwrap().len()), (&json!([]), 2));
}
