//! Folders of runs: who may write, what is found by which name, and what is wrong with those that
//! are no runs.

use std::fs;

use super::*;

fn runs(ids: &[&str]) -> (tempfile::TempDir, Runs) {
    let place = tempfile::tempdir().unwrap();
    let runs = Runs::new(place.path().join("state").join("suites"));
    for (at, id) in ids.iter().enumerate() {
        let folder =
            runs.create(&Header { id: (*id).to_owned(), ..header(&["a", "b"], 5) }).unwrap();
        let changed =
            std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 * (at as u64 + 1));
        let file =
            fs::File::options().write(true).open(folder.path().join("results.jsonl")).unwrap();
        file.set_modified(changed).unwrap();
    }
    (place, runs)
}

#[test]
fn runs_are_found_by_id_beginning_last_and_path() {
    let (place, runs) = runs(&["c0ffee1234567891", "ab10000000000000", "ab20000000000000"]);
    let ids: Vec<String> = runs.list().unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, ["ab20000000000000", "ab10000000000000", "c0ffee1234567891"]);
    let find =
        |name: &str| runs.find(name).map(|entry| entry.id).map_err(|error| error.to_string());
    assert_eq!(find("last"), Ok(ids[0].clone()));
    assert_eq!(find("c0"), Ok(ids[2].clone()));
    assert_eq!(find("ab10000000000000"), Ok(ids[1].clone()));
    let path = runs.path().join("c0ffee1234567891");
    assert_eq!(find(path.to_str().unwrap()), Ok(ids[2].clone()));
    assert_eq!(
        find("ab"),
        Err("several runs begin with `ab`: ab20000000000000, ab10000000000000".to_owned())
    );
    let error = runs.find("ab30000000000000").unwrap_err();
    assert!(matches!(&error, RunError::Unknown { similar, .. } if similar.len() == 2), "{error}");
    assert_eq!(error.to_string(), "there is no run `ab30000000000000`");
    assert!(find("").is_err() && find(place.path().to_str().unwrap()).is_err());
    // What has no header is no run: it was killed before it began.
    fs::create_dir_all(runs.path().join("dead")).unwrap();
    fs::write(runs.path().join("dead").join("results.jsonl"), "").unwrap();
    assert_eq!((runs.list().unwrap().len(), find("dead").is_err()), (3, true));
    let missing = Runs::new(place.path().join("none"));
    assert!(
        missing.list().unwrap().is_empty()
            && missing.find("last").is_err()
            && !missing.path().exists()
    );
}

#[tokio::test]
async fn a_list_tells_how_far_a_run_is() {
    let (_place, runs) = runs(&["ab10000000000000"]);
    let entry = runs.find("last").unwrap();
    let header = read_header(&entry.path).unwrap();
    let summary = entry.summary().unwrap();
    assert_eq!((summary.done, summary.of, summary.is_going_on), (0, 10, false));
    let held = open(&entry.path, &header);
    assert!(entry.summary().unwrap().is_going_on && is_going_on(&entry.path));
    drop(held);
    run(&entry.path, &header, Arc::new(Pretender::new()), &with_workers(2)).await.unwrap();
    let summary = entry.summary().unwrap();
    assert_eq!(
        (summary.done, summary.of, summary.stopped, &summary.header),
        (10, 10, None, &header)
    );
}

#[test]
fn one_process_at_a_time_works_on_a_run() {
    let (_place, runs) = runs(&["ab10000000000000"]);
    let path = runs.find("last").unwrap().path;
    let held = RunFolder::resume(&path).unwrap();
    let message = RunFolder::resume(&path).unwrap_err().to_string();
    assert_eq!(message, "the run `ab10000000000000` is still running in another process");
    let again = runs.create(held.header()).unwrap_err();
    assert!(matches!(again, RunError::Busy { .. }), "{again}");
    drop(held);
    let held = RunFolder::resume(&path).unwrap();
    let header = held.header().clone();
    drop(held);
    assert_eq!(
        runs.create(&header).unwrap_err().to_string(),
        "there is a run `ab10000000000000` already"
    );
}

#[test]
fn what_a_killed_process_left_half_made_is_removed() {
    let (_place, runs) = runs(&["ab10000000000000"]);
    let folder = RunFolder::resume(&runs.find("last").unwrap().path).unwrap();
    let journal = folder.item_journal("a", "q1");
    let path = folder.path().to_owned();
    fs::write(&journal, "a search").unwrap();
    fs::write(journal.with_extension("part"), "half").unwrap();
    drop(folder);
    RunFolder::resume(&path).unwrap();
    assert!(journal.exists() && !journal.with_extension("part").exists());
}

#[test]
fn each_item_has_a_journal_of_its_own_and_no_name_leads_out_of_the_folder() {
    let (_place, runs) = runs(&["ab10000000000000"]);
    let folder = RunFolder::resume(&runs.find("last").unwrap().path).unwrap();
    let names = [
        ("a", "bc"),
        ("ab", "c"),
        ("", "abc"),
        ("abc", ""),
        ("..", "/etc/passwd"),
        ("a", "b\0/../c"),
        ("a", "B"),
    ];
    let mut paths: Vec<_> = names.iter().map(|(arm, id)| folder.item_journal(arm, id)).collect();
    for path in &paths {
        assert_eq!(path.parent().unwrap(), folder.path().join("items"));
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    paths.sort();
    paths.dedup();
    assert_eq!(
        (paths.len(), folder.item_journal("a", "bc")),
        (names.len(), folder.item_journal("a", "bc"))
    );
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_a_run() {
    use std::os::unix::fs::PermissionsExt;
    let (place, runs) = runs(&["ab10000000000000"]);
    let path = runs.find("last").unwrap().path;
    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }
    for folder in
        [path.clone(), path.join("items"), runs.path().to_owned(), place.path().join("state")]
    {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    assert_eq!((mode(&path.join("run.json")), mode(&path.join("results.jsonl"))), (0o600, 0o600));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
}

#[test]
fn what_is_no_run_is_reported() {
    let (_place, runs) = runs(&["ab10000000000000"]);
    let path = runs.find("last").unwrap().path;
    let message = |text: &str| {
        fs::write(path.join("run.json"), text).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert_eq!(RunFolder::resume(&path).unwrap_err().to_string(), message);
        message.replace(path.to_str().unwrap(), "RUN")
    };
    assert_eq!(
        message("{"),
        "`RUN/run.json` is not what a run was started with: EOF while parsing an object at \
         line 1 column 1"
    );
    assert_eq!(
        message("{}"),
        "`RUN/run.json` is not what a run was started with: it has no `format`"
    );
    assert_eq!(
        message(r#"{"format": "syrch.run/2"}"#),
        "the run `RUN/run.json` has the format `syrch.run/2`; this host reads `syrch.run/1`"
    );
    assert!(message(r#"{"format": "syrch.run/1"}"#).ends_with("started with: missing field `id`"));
    fs::remove_file(path.join("run.json")).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("No such file"));
}
