//! Everything fails at once, and the user may have enough of it.

use std::time::{Duration, Instant};

use syrch::Stop;

use super::database::{locker, use_wal};
use super::world::{Chance, LAMP, World, each, ending, names, right, search};

/// The limit on the time between the stop and the end of a search.
const SOON: Duration = Duration::from_secs(5);
/// A time later than the end of any search.
const NEVER: Duration = Duration::from_secs(3_600);

#[test]
fn a_search_that_is_stopped_among_faults_ends_soon() {
    let counts = each(0..40, |seed| async move {
        let mut world = World::new(seed, 10);
        let mut chance = Chance::new(seed, 1 << 33);
        world.settings.cache.folder = Some(world.folder.path().join("cache"));
        let is_wal = chance.below(2) == 0;
        if is_wal {
            use_wal(&world.database());
        }
        let host = world.host().await.unwrap();
        let neighbour = locker(world.database(), is_wal, Chance::new(seed, 1 << 32));
        // Some at once, some never.
        let after = match seed % 8 {
            0 => Duration::ZERO,
            1 | 2 => NEVER,
            _ => chance.millis(1_500),
        };
        let stop = Stop::new();
        let stopped = tokio::spawn({
            let stop = stop.clone();
            async move {
                tokio::time::sleep(after).await;
                stop.trigger();
                Instant::now()
            }
        });
        let report = search(&host, &stop).await;
        let ended = Instant::now();
        if after < NEVER {
            let took = ended.saturating_duration_since(stopped.await.unwrap());
            assert!(took < SOON, "it took {took:?} to stop");
        }
        neighbour.leave().await;
        let end = ending(&report, &[right(LAMP)]);
        world.check_ledger(&report).await;
        world.check_replay(&report).await;
        names(&world.tally()).chain([end]).collect()
    });
    assert!(counts["interrupted"] >= 3 && counts["right"] >= 3, "{counts:?}");
}
