//! The reader on texts of a server, on names that look like parts of a tree, and on anything at
//! all.

use proptest::prelude::*;

use super::*;

fn kinds(text: &str) -> Vec<&str> {
    read(text).unwrap().iter().map(|node| node.kind).collect()
}

#[test]
fn nodes_have_their_fields_and_places() {
    let text = "   {QUERY :commandType 1 :utilityStmt <> :rtable ({RANGETBLENTRY :alias <> :relid \
        16384 \n:selectedCols (b 8 9)}) :targetList ({TARGETENTRY :expr {CONST :consttype \
        23 :constvalue 4 [ 1 0 -3 0 ] :location 7} :resname a\\ b}) \
        :colTypes (o 23 25) :names (\"x\" \"y\\ z\") :stmt_len 0}";
    let nodes = read(text).unwrap();
    let found: Vec<_> = nodes.iter().map(|node| (node.kind, node.parent, node.field)).collect();
    let expected = [
        ("QUERY", None, ""),
        ("RANGETBLENTRY", Some(0), "rtable"),
        ("TARGETENTRY", Some(0), "targetList"),
        ("CONST", Some(2), "expr"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        (nodes[1].number("relid"), nodes[1].word("alias"), nodes[3].number("location")),
        (Some(16384), None, Some(7))
    );
    assert_eq!(nodes[0].all("colTypes").collect::<Vec<_>>(), ["o", "23", "25"]);
    assert_eq!(nodes[0].all("names").collect::<Vec<_>>(), ["\"x\"", "\"y\\ z\""]);
    assert_eq!((nodes[2].word("resname"), nodes[3].number("constvalue")), (Some("a\\ b"), Some(4)));
}

#[test]
fn no_name_is_taken_for_a_part_of_the_tree() {
    // Names as the server writes them: `:relid`, `} {`, `[`, a line break.
    let text = "{ALIAS :aliasname :relid :colnames (\":funcid\" \"\\}\\ \\{X\" \"[\" \"a\\\nb\")}";
    let nodes = read(text).unwrap();
    assert_eq!(
        (nodes.len(), nodes[0].word("aliasname"), nodes[0].word("relid")),
        (1, Some(":relid"), None)
    );
    assert_eq!(nodes[0].all("colnames").count(), 4);
    // The server broke a word between a backslash and what it protects.
    let name = format!("{{ALIAS :aliasname\n{}\\\n}} :colnames <>}}", "x".repeat(77));
    assert_eq!(read(&name).unwrap_err(), Unreadable::Broken);
    let name = format!("{{ALIAS :aliasname\n{}\\\ny\\\n}} :colnames <>}}", "x".repeat(74));
    assert_eq!(read(&name).unwrap_err(), Unreadable::Broken);
    // One that only stands at the end of a line.
    let name = format!("{{ALIAS :aliasname\n{}\n:colnames <>}}", "x".repeat(63));
    assert_eq!(kinds(&name), ["ALIAS"]);
    let name = format!("{{ALIAS :aliasname\n*SELECT*\\\n{} :colnames\n<>}}", "x".repeat(63));
    assert_eq!(kinds(&name), ["ALIAS"]);
}

#[test]
fn what_is_no_tree_is_refused() {
    for text in [
        "",
        "x",
        "{",
        "{A",
        "{A :x",
        "{A :x 1",
        "{A :x }",
        "{A x}",
        "{A :x (1}",
        "{A :x 1)}",
        "{A} {B}",
        "{A :x 4 [ 1 }",
        "{(}",
    ] {
        assert_eq!(read(text).unwrap_err(), Unreadable::Malformed, "{text}");
    }
    let deep = "{A :x ".repeat(MAX_DEPTH + 1);
    assert_eq!(read(&deep).unwrap_err(), Unreadable::TooDeep);
    assert_eq!(read(&" ".repeat(MAX_TREE + 1)).unwrap_err(), Unreadable::TooLong);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[{}() :\\\\\\[\\]<>a-c0-9\"\n\u{e9}-]{0,200}") {
        if let Ok(nodes) = read(&text) {
            prop_assert!(nodes.len() <= text.len());
            let words: usize = nodes.iter().map(|node| node.words().len()).sum();
            prop_assert!(words <= text.len());
            prop_assert!(
                nodes
                    .iter()
                    .enumerate()
                    .all(|(index, node)| node.parent.is_none_or(|parent| parent < index))
            );
        }
    }

    #[test]
    fn a_changed_tree_is_read_or_refused(at in 0_usize..400, with in "[{}() :\\\\\\[\\]a-c]{0,3}") {
        let text = "{QUERY :commandType 1 :rtable ({RANGETBLENTRY :relid 16384 :selectedCols (b 8 \
                    9)}) :targetList ({TARGETENTRY :expr {CONST :consttype 23 :constvalue 4 [ 1 0 \
                    0 0 ]} :resname a}) :colTypes (o 23) :stmt_len 0}";
        let at = at.min(text.len());
        let _ = read(&format!("{}{with}{}", &text[..at], text.get(at + 1..).unwrap_or_default()));
    }
}
