//! Reservations, settlements and refusals.

use super::*;

fn usage(input: u32, output: u32) -> Usage {
    Usage { input_tokens: input, output_tokens: output, ..Usage::default() }
}

fn tokens(tokens: u64) -> Estimate {
    Estimate { input_tokens: tokens, ..Estimate::default() }
}

#[test]
fn reservations_never_exceed_the_budget() {
    let ledger = Ledger::new(Budgets { tokens: 100, ..Budgets::default() });
    let first = ledger.reserve_call(&Purpose::Plan, &tokens(60)).unwrap();
    assert_eq!(ledger.reserve_call(&Purpose::Plan, &tokens(60)).unwrap_err(), Exhausted::Tokens);
    first.settle(Some(&usage(10, 10)));
    assert!(ledger.reserve_call(&Purpose::Plan, &tokens(60)).is_ok());
    assert_eq!(ledger.spending().exhausted, [Exhausted::Tokens]);
}

#[test]
fn a_dropped_call_stays_charged_and_an_unsent_one_does_not() {
    let ledger = Ledger::new(Budgets::default());
    drop(ledger.reserve_call(&Purpose::Judge, &tokens(40)).unwrap());
    assert_eq!((ledger.spending().calls, ledger.spending().tokens_charged), (1, 40));
    ledger.reserve_call(&Purpose::Judge, &tokens(40)).unwrap().release();
    assert_eq!((ledger.spending().calls, ledger.spending().tokens_charged), (1, 40));
    assert_eq!(ledger.spending().by_purpose["judge"].calls, 1);
}

#[test]
fn counts_end_at_their_limit() {
    let ledger =
        Ledger::new(Budgets { sql_runs: 2, host_calls: 1, log_bytes: 4, ..Budgets::default() });
    assert!(ledger.charge_sql_run().is_ok() && ledger.charge_sql_run().is_ok());
    assert_eq!(ledger.charge_sql_run(), Err(Exhausted::SqlRuns));
    assert!(ledger.charge_host_call().is_ok() && ledger.charge_host_call().is_err());
    assert!(ledger.charge_log(4) && !ledger.charge_log(1));
    assert_eq!(ledger.spending().log_dropped, 1);
}

#[test]
fn a_call_that_cost_more_than_its_price_raises_what_the_next_may_cost() {
    let ledger = Ledger::new(Budgets { cost_micros: Some(100), ..Budgets::default() });
    let priced = Estimate { cost_micros: Some(1), ..tokens(10) };
    let call = ledger.reserve_call(&Purpose::Plan, &priced).unwrap();
    let other = ledger.reserve_call(&Purpose::Plan, &priced).unwrap();
    call.settle(Some(&Usage { cost_micros: Some(60), ..usage(5, 1) }));
    assert_eq!(ledger.reserve_call(&Purpose::Plan, &priced).unwrap_err(), Exhausted::Cost);
    assert_eq!(ledger.cost_over_limit(), None);
    other.settle(Some(&Usage { cost_micros: Some(60), ..usage(5, 1) }));
    assert_eq!(ledger.cost_over_limit(), Some((120, 100)));
}

#[test]
fn money_is_reserved_and_a_cache_costs_none() {
    let ledger = Ledger::new(Budgets { cost_micros: Some(100), ..Budgets::default() });
    let priced = |cost| Estimate { cost_micros: Some(cost), ..tokens(10) };
    assert_eq!(ledger.reserve_call(&Purpose::Plan, &tokens(10)).unwrap_err(), Exhausted::Cost);
    let call = ledger.reserve_call(&Purpose::Plan, &priced(80)).unwrap();
    assert_eq!(ledger.reserve_call(&Purpose::Plan, &priced(30)).unwrap_err(), Exhausted::Cost);
    call.settle(Some(&Usage { cost_micros: Some(30), ..usage(5, 1) }));
    assert_eq!((ledger.cost_left(), ledger.spending().cost_micros), (Some(70), Some(30)));
    drop(ledger.reserve_call(&Purpose::Judge, &priced(70)).unwrap());
    assert_eq!((ledger.cost_left(), ledger.spending().cost_micros), (Some(0), Some(100)));
    assert_eq!(ledger.charge_hit(&Purpose::Judge, &usage(7, 3)), Ok(()));
    let spent = ledger.spending();
    assert_eq!(
        (spent.calls, spent.cached, spent.calls_charged(), spent.tokens_charged),
        (2, 1, 3, 26)
    );
    assert_eq!((spent.input_tokens, spent.cost_micros), (5, Some(100)));
    // What the hit would have cost is counted apart; one without a price makes all of that unknown.
    assert_eq!(
        (spent.saved_input_tokens, spent.saved_output_tokens, spent.saved_micros),
        (7, 3, None)
    );
    let priced_only = Ledger::new(Budgets::default());
    priced_only
        .charge_hit(&Purpose::Judge, &Usage { cost_micros: Some(9), ..usage(7, 3) })
        .unwrap();
    assert_eq!(priced_only.spending().saved_micros, Some(9));
}

#[test]
fn the_entries_rebuild_the_ledger() {
    let ledger = Ledger::new(Budgets { tokens: 100, ..Budgets::default() });
    let entries = Arc::<Mutex<Vec<Entry>>>::default();
    let written = Arc::clone(&entries);
    ledger.listen(move |entry| written.lock().unwrap().push(entry.clone()));
    let first = ledger.reserve_call(&Purpose::Plan, &tokens(60)).unwrap();
    let second = ledger.reserve_call(&Purpose::Judge, &tokens(40)).unwrap();
    assert!(ledger.reserve_call(&Purpose::Judge, &tokens(40)).is_err());
    first.settle(Some(&usage(10, 2)));
    second.release();
    drop(ledger.reserve_call(&Purpose::Plan, &tokens(5)).unwrap());
    ledger.charge_sql_run().unwrap();
    ledger.charge_hit(&Purpose::Plan, &usage(1, 1)).unwrap();
    let forward = Ledger::new(Budgets::default());
    entries.lock().unwrap().iter().for_each(|entry| forward.restore(entry));
    assert_eq!(forward.spending(), ledger.spending());
}
