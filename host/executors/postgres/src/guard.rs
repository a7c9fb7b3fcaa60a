//! Views whose definitions do more than read: they are left out. The server runs what a view calls
//! with the rights of the view's owner, and `syrch_guard::admission` sees only the view's name in a
//! statement.

use std::collections::HashMap;

use tokio_postgres::{Client, Error};

/// The first object id that is not the server's own.
const FIRST_OF_USERS: &str = "16384";

/// The tables that have a foreign table as a partition or a child, at any depth, as a query of
/// their object ids.
pub(crate) const FOREIGN_BELOW: &str = "WITH RECURSIVE above(oid) AS (\
    SELECT i.inhparent FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
    WHERE c.relkind = 'f' UNION SELECT i.inhparent FROM pg_inherits i \
    JOIN above ON above.oid = i.inhrelid) SELECT oid FROM above";

/// Views with what they use that users made: functions, operators, domains, foreign tables, other
/// views.
fn uses() -> String {
    format!(
        "SELECT r.ev_class, u.relkind::text, u.oid, \
           CASE WHEN p.oid IS NOT NULL THEN 'it calls `' || p.proname || '`' \
             WHEN o.oid IS NOT NULL THEN 'it uses the operator `' || o.oprname || '`' \
             WHEN t.typtype = 'd' THEN 'it uses the domain `' || t.typname || '`' \
             WHEN u.relkind = 'f' OR u.oid IN ({FOREIGN_BELOW}) THEN 'it reads the foreign table \
             `' || u.relname || '`' END FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class \
             AND v.relkind = 'v' JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass \
             AND d.objid = r.oid LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass \
             AND p.oid = d.refobjid LEFT JOIN pg_operator o ON d.refclassid = \
             'pg_operator'::regclass AND o.oid = d.refobjid LEFT \
             JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid \
         LEFT JOIN pg_class u ON d.refclassid = 'pg_class'::regclass AND u.oid = d.refobjid \
         WHERE d.refobjid >= {FIRST_OF_USERS} AND d.refobjid <> r.ev_class ORDER BY 1, 4"
    )
}

/// Returns the query for all views of users, also those that the role may not read: one that it may
/// read can read them.
fn definitions() -> String {
    format!(
        "SELECT oid, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' \
         AND oid >= {FIRST_OF_USERS}"
    )
}

/// Returns, by its object id, the reason why each view is left out that does more than read.
///
/// # Errors
/// Those of the server, and a lost connection.
pub(crate) async fn unsafe_views(client: &Client) -> Result<HashMap<u32, String>, Error> {
    let mut reasons: HashMap<u32, String> = HashMap::new();
    // Which views read a view.
    let mut readers: HashMap<u32, Vec<u32>> = HashMap::new();
    for row in client.query_typed(&uses(), &[]).await? {
        let view: u32 = row.try_get(0)?;
        if let Some(reason) = row.try_get::<_, Option<String>>(3)? {
            reasons.entry(view).or_insert(reason);
        } else if row.try_get::<_, Option<&str>>(1)? == Some("v") {
            readers.entry(row.try_get(2)?).or_default().push(view);
        }
    }
    for row in client.query_typed(&definitions(), &[]).await? {
        if let Some(reason) = refusal(row.try_get(1)?) {
            reasons.entry(row.try_get(0)?).or_insert(reason);
        }
    }
    let mut spreading: Vec<u32> = reasons.keys().copied().collect();
    while let Some(view) = spreading.pop() {
        for reader in readers.get(&view).into_iter().flatten() {
            if !reasons.contains_key(reader) {
                reasons.insert(*reader, "it reads a view that is left out".to_owned());
                spreading.push(*reader);
            }
        }
    }
    Ok(reasons)
}

/// Returns the reason why a view is left out whose definition calls functions of the server that a
/// statement may not call.
fn refusal(definition: Option<&str>) -> Option<String> {
    match syrch_guard::admission::definition(definition.unwrap_or_default()) {
        Ok(definition) => definition.unlisted.first().map(|call| format!("it calls `{call}`")),
        Err(error) => Some(format!("its definition cannot be checked: {error}")),
    }
}
