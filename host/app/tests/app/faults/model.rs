//! The endpoint fails in every tenth request.

use syrch::Stop;

use super::world::{LAMP, World, each, ending, names, right};

#[test]
fn an_endpoint_that_fails_now_and_then_gives_the_right_answer_or_an_error() {
    let searches = syrch_kit::scale(40, 100);
    let counts = each(0..searches as u64, |seed| async move {
        let world = World::new(seed, 10);
        let report = world.search(&Stop::new()).await;
        let end = ending(&report, &[right(LAMP)]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        names(&world.tally()).chain([end]).collect()
    });
    assert!(counts["right"] >= searches / 2, "{counts:?}");
    for fault in [
        "429, at once again",
        "429, in a second",
        "500",
        "hang",
        "garbage",
        "half JSON",
        "cut stream",
    ] {
        assert!(
            counts.get(fault).is_some_and(|count| *count >= searches / 33),
            "{fault}: {counts:?}"
        );
    }
}

#[test]
fn an_endpoint_that_fails_as_often_as_not_does_so_too() {
    let counts = each(100..130, |seed| async move {
        let world = World::new(seed, 50);
        let report = world.search(&Stop::new()).await;
        let end = ending(&report, &[right(LAMP)]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        names(&world.tally()).chain([end]).collect()
    });
    assert!(counts["right"] >= 1 && counts["model"] >= 1, "{counts:?}");
}
