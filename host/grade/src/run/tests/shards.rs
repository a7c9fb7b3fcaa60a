//! Shards together are the whole run, and nothing else is.

use proptest::prelude::*;

use super::*;

async fn shard(header: &Header, index: u32, of: u32) -> RunRecord {
    let id = format!("{index:016x}");
    run_undisturbed(&Header { id, shard: Some(Shard::new(index, of).unwrap()), ..header.clone() })
        .await
}

async fn all(header: &Header, of: u32) -> Vec<RunRecord> {
    let mut all = Vec::new();
    for index in 1..=of {
        all.push(shard(header, index, of).await);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shards_together_are_the_whole_run(
        of in 1_u32..7, number in 0_u64..20, arms in 1_usize..4, turn in 0_usize..7
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let header = header(&["b", "a", "c"][..arms], number);
            let mut shards = all(&header, of).await;
            shards.rotate_left(turn % of as usize);
            let merged = merge(shards, Missing::Refuse).unwrap();
            let whole = run_undisturbed(&header).await;
            assert_eq!(merged.warnings, Vec::<String>::new());
            let id = merged.record.header.id.clone();
            assert!(id.len() == 16 && merged.record.is_whole());
            let header = Header { id: whole.header.id.clone(), ..merged.record.header.clone() };
            assert_eq!(RunRecord { header, ..merged.record }, whole);
        });
    }
}

#[tokio::test]
async fn what_is_missing_is_reported_and_the_rest_is_merged() {
    let header = header(&["a", "b"], 20);
    let mut shards = all(&header, 8).await;
    let whole = run_undisturbed(&header).await;
    shards[1].graded.truncate(3);
    let five = shards.remove(4);
    let three = shards.remove(2);
    let refused = merge(shards.clone(), Missing::Refuse).unwrap_err();
    let merged = merge(shards, Missing::Report).unwrap();
    let reported = [
        "2 shards are missing: 3/8, 5/8",
        "shard 2/8 (run 0000000000000002) holds 3 of its 6 answers",
    ];
    assert_eq!(merged.warnings, reported);
    assert_eq!(refused.to_string(), format!("the run is not whole: {}", reported.join("; ")));
    let again: Vec<String> = refused.shards_to_run().iter().map(Shard::to_string).collect();
    assert_eq!(again, ["2/8", "3/8", "5/8"]);
    let lacks = three.graded.len() + five.graded.len() + 3;
    assert_eq!(
        (merged.record.graded.len(), merged.record.is_whole()),
        (whole.graded.len() - lacks, false)
    );
    let only = merge(vec![five], Missing::Report).unwrap();
    assert_eq!(only.warnings, ["7 shards are missing: 1/8, 2/8, 3/8, 4/8, 6/8 and 2 more"]);
    assert_eq!(merge(vec![whole.clone()], Missing::Refuse).unwrap().record, whole);
}

#[tokio::test]
async fn shards_of_given_answers_may_each_have_a_file_of_their_own() {
    let header = header(&["answers"], 9);
    let mut shards = all(&header, 2).await;
    for (shard, file) in shards.iter_mut().zip(["one", "two"]) {
        shard.header.arms[0].settings["answers"] = json!([file]);
    }
    assert!(merge(shards, Missing::Refuse).unwrap().record.is_whole());
}

#[tokio::test]
async fn what_is_no_shard_of_the_run_is_refused() {
    let header = header(&["a"], 9);
    let one = shard(&header, 1, 3).await;
    let two = shard(&header, 2, 3).await;
    fn message(runs: &[&RunRecord]) -> String {
        let runs = runs.iter().map(|run| (*run).clone()).collect();
        merge(runs, Missing::Refuse).unwrap_err().to_string()
    }
    assert_eq!(message(&[]), "there is no run to merge");
    let whole = run_undisturbed(&header).await;
    assert_eq!(
        message(&[&one, &whole]),
        "the run `00112233445566ff` is no shard: it was over the whole suite"
    );
    let first = "0000000000000001";
    let second = "0000000000000002";
    assert_eq!(
        message(&[&one, &two, &one]),
        format!("the runs `{first}` and `{first}` are both shard 1/3")
    );
    let other = shard(&header, 2, 4).await;
    let parts = format!("the runs `{first}` and `{second}` are no shards of one run: 1/3 and 2/4");
    assert_eq!(message(&[&other, &one]), parts);
    let mut changed = two.clone();
    changed.header.rule = "strict".to_owned();
    changed.header.databases.insert("db1".into(), "other".into());
    assert_eq!(
        message(&[&one, &changed]),
        format!(
            "the runs `{first}` and `{second}` are no shards of one run: they differ in: \
             the rule (it was bag-v1), the database `db1`"
        )
    );
    type Change = fn(&mut Header);
    let reasons: [(Change, &str); 8] = [
        (|header| header.seed = 8, "the seed (it was 7)"),
        (|header| header.rule = "strict".into(), "the rule (it was bag-v1)"),
        (|header| header.stop_early = true, "stopping early (it was not requested)"),
        (|header| header.host = "0.2.0".into(), "the host (it was 0.1.0)"),
        (|header| header.fuzz = Some("f".into()), "the fuzzed suite"),
        (|header| header.simulated = Some("s".into()), "the simulated model (it was none)"),
        (
            |header| header.arms[0].settings["budget"] = json!(11),
            "the setting budget of `a` (it was 10)",
        ),
        (
            |header| header.arms[0].plugins[0].digest = "0".into(),
            "the plugin of the planner of `a` (it was chase 1234abcd)",
        ),
    ];
    for (change, reason) in reasons {
        let mut changed = two.clone();
        change(&mut changed.header);
        let refused = format!(
            "the runs `{first}` and `{second}` are no shards of one run: they differ in: {reason}"
        );
        // Whichever is named first.
        assert_eq!(
            [message(&[&one, &changed]), message(&[&changed, &one])],
            [refused.clone(), refused]
        );
    }
    let mut foreign = two.clone();
    foreign.graded[1].place = 0;
    let says = format!(
        "the run `{second}` is shard 2/3 and holds the question `q4`, whose place 0 is not of it"
    );
    assert_eq!(message(&[&one, &foreign]), says);
}

#[tokio::test]
async fn the_shard_that_differs_from_most_is_to_be_run_again() {
    let header = header(&["a"], 9);
    let mut shards = all(&header, 3).await;
    shards[0].header.suite.digest = "other".to_owned();
    let error = merge(shards, Missing::Report).unwrap_err();
    assert_eq!(error.shards_to_run(), [Shard::new(1, 3).unwrap()]);
    assert!(error.to_string().contains("`0000000000000002` and `0000000000000001`"), "{error}");
}
