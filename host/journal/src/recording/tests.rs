//! Recordings: several writers, cut lines, foreign files.

use std::sync::Arc;

use proptest::prelude::*;
use syrch_core::ports::{Message, Purpose, Shape, Speaker};

use super::*;

fn make_recorded(text: &str, result: Result<(), LlmError>, again: Again) -> Recorded {
    let usage =
        Usage { input_tokens: 3, output_tokens: 4, model: "m".to_owned(), ..Usage::default() };
    let request = Request {
        temperature: Some(0.7),
        ..Request::new(
            Purpose::Generate,
            vec![Message { speaker: Speaker::User, text: text.to_owned() }],
            Shape::Sql,
        )
    };
    Recorded {
        request,
        result: result.map(|()| Reply {
            text: text.to_owned(),
            parsed: None,
            truncated: false,
            logprob: Some(-0.25),
            usage: usage.clone(),
        }),
        usage: Some(usage.clone()),
        again,
    }
}

fn models() -> Vec<String> {
    vec!["m".to_owned()]
}

#[test]
fn what_was_noted_is_read_and_a_second_recording_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let failed =
        make_recorded("x", Err(LlmError::Unavailable("429".to_owned())), Again::AfterMs(7));
    let good = make_recorded("a\nb", Ok(()), Again::No);
    Recording::open(&path, &models()).unwrap().note(&failed);
    Recording::open(&path, &models()).unwrap().note(&good);
    let (header, all) = Recording::read(&path).unwrap();
    assert_eq!((header.models, &all), (models(), &vec![failed.clone(), good]));
    assert_eq!(failed.outcome().retry, Retry::After(Duration::from_millis(7)));
    assert_eq!(format_of(&path).unwrap().as_deref(), Some(RECORDING));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (text, reason) in [
        ("notes of mine\n", "is not a recording"),
        ("{\"format\":\"syrch.journal\",\"version\":1}\n", "is not a recording"),
        (
            "{\"format\":\"syrch.recording\",\"version\":9}\n",
            "version 9; this host reads version 1",
        ),
        (
            "{\"format\":\"syrch.recording\",\"version\":1,\"models\":[\"other\"]}\n",
            "`other`, not `m`",
        ),
        ("{\"format\":\"syrch.recording\"", "is not a recording"),
    ] {
        let path = folder.path().join("a");
        std::fs::write(&path, text).unwrap();
        let error = Recording::open(&path, &models()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert!(matches!(Recording::read(&folder.path().join("none")), Err(RecordingError::Io { .. })));
    assert_eq!(format_of(&folder.path().join("a")).unwrap(), None);
}

#[test]
fn a_line_that_was_cut_off_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let one = make_recorded("one", Ok(()), Again::No);
    let two = make_recorded("two", Ok(()), Again::No);
    Recording::open(&path, &models()).unwrap().note(&one);
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"request\":{\"purp");
    std::fs::write(&path, &text).unwrap();
    assert_eq!(Recording::read(&path).unwrap().1, std::slice::from_ref(&one));
    Recording::open(&path, &models()).unwrap().note(&two);
    assert_eq!(Recording::read(&path).unwrap().1, [one, two]);
    let damaged = std::fs::read_to_string(&path).unwrap().replacen("one", "on\u{0}e", 1);
    std::fs::write(&path, damaged).unwrap();
    let error = Recording::read(&path).unwrap_err();
    assert!(matches!(error, RecordingError::Malformed { line: 2, .. }), "{error}");
}

#[test]
fn calls_side_by_side_and_two_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let writers = [(); 2].map(|()| Arc::new(Recording::open(&path, &models()).unwrap()));
    let threads = (0..8).map(|number: usize| {
        let writer = Arc::clone(&writers[number % 2]);
        std::thread::spawn(move || {
            (0..25).for_each(|_| {
                writer.note(&make_recorded(&number.to_string().repeat(5_000), Ok(()), Again::No))
            });
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(Recording::read(&path).unwrap().1.len(), 200);
    assert!(writers.iter().all(|writer| writer.broken().is_none()));
}

proptest! {
    #[test]
    fn any_text_comes_back_and_any_bytes_are_refused(text in ".*", bytes: Vec<u8>, millis: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let noted = make_recorded(&text, Ok(()), Again::AfterMs(millis));
        Recording::open(&path, &models()).unwrap().note(&noted);
        prop_assert_eq!(Recording::read(&path).unwrap().1, vec![noted]);
        std::fs::write(&path, &bytes).unwrap();
        prop_assert!(Recording::read(&path).is_err());
    }
}
