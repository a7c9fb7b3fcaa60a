// The database, the plugins of the strategy, and the state of the set-up.

import { Facts, Failure, Foreign, Loading, Status, bytes, clip, seconds, useLoaded } from "./parts";
import { href } from "./route";

interface Plugin {
  role: string;
  name: string;
  version: string;
  summary: string;
  source: string;
  digest: string;
  bytes: number;
  built_in: boolean;
  trusted: boolean;
  imports: string[];
  /** The grants of the lock; null if it does not name the plugin. */
  granted: string[] | null;
  used: { searches: number; cpu_ms: number; memory_peak: number };
}

/** The grants of a plugin: by the lock, and by whether it may call a model once it may know something of the data. */
function granted(plugin: Plugin, rows: string): string {
  if (plugin.granted) return plugin.granted.length ? `by the lock: ${clip(plugin.granted.join(", "), 500)}` : "nothing, by the lock";
  const hides = rows === "none" || rows === "aggregates";
  if (!hides) return `all of these; cells as \`--rows ${rows}\` allows`;
  return plugin.trusted ? `all of these; no cells (\`--rows ${rows}\`)` : `no model call once one may know something of the data (\`--rows ${rows}\`)`;
}

export function PluginsView() {
  const { value, error } = useLoaded<{ granted: { rows: string; tables: string[] }; plugins: Plugin[] }>("/plugins");
  return (
    <>
      <h1>Plugins</h1>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="plugins" />}
      {value && (
        <>
          <Facts
            facts={[
              ["Rows that plugins may see", value.granted.rows],
              ["Tables that they may see", value.granted.tables.length ? clip(value.granted.tables.join(", "), 500) : "all"],
            ]}
          />
          <div class="scroll" tabIndex={0} role="region" aria-label="Plugins, scrollable">
            <table>
              <thead>
                <tr>
                  <th scope="col">Role</th>
                  <th scope="col">Plugin</th>
                  <th scope="col">Wanted</th>
                  <th scope="col">Granted</th>
                  <th scope="col">Used since the server started</th>
                </tr>
              </thead>
              <tbody>
                {value.plugins.map((plugin) => (
                  <tr key={plugin.role}>
                    <th scope="row">{plugin.role}</th>
                    <td class="wide">
                      <strong>
                        <Foreign text={plugin.name} most={80} />
                      </strong>{" "}
                      <Foreign text={plugin.version} most={40} /> {plugin.built_in ? <Status status="built-in" /> : <Foreign text={plugin.source} most={200} />}
                      <br />
                      <span class="dim">
                        <Foreign text={plugin.summary} most={400} />
                        <br />
                        {bytes(plugin.bytes)}, sha256 {plugin.digest.slice(0, 12)}
                      </span>
                    </td>
                    <td>{plugin.imports.length ? clip(plugin.imports.join(", "), 300) : "nothing"}</td>
                    <td>{granted(plugin, value.granted.rows)}</td>
                    <td>
                      {plugin.used.searches === 0
                        ? "not yet"
                        : `${plugin.used.searches} searches, ${seconds(plugin.used.cpu_ms)} of CPU, at most ${bytes(plugin.used.memory_peak)}`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}

interface Table {
  name: string;
  /** The name as it stands in a statement. */
  sql_name: string;
  schema_name: string | null;
  kind: string;
  columns: { name: string; type: string; nullable: boolean; comment: string | null }[];
  primary_key: string[];
  foreign_keys: { columns: string[]; ref_table: string; ref_columns: string[] }[];
  row_estimate: number | null;
  comment: string | null;
}

export function SchemaView({ table }: { table?: string }) {
  const { value, error } = useLoaded<{ database: string; dialect: string; tables: Table[] }>("/schema");
  const tables = value?.tables ?? [];
  const shown = table === undefined ? tables : tables.filter((one) => one.name === table);
  return (
    <>
      <h1>Schema</h1>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="the schema" />}
      {value && table !== undefined && (
        <p>
          <a href={href(["schema"])}>All {tables.length} tables</a>
        </p>
      )}
      {value && shown.length === 0 && <p>There are no such tables.</p>}
      {shown.slice(0, 300).map((one, place) => (
        <details key={place} open={shown.length <= 12}>
          <summary>
            <strong>
              <Foreign text={one.name} most={120} />
            </strong>{" "}
            <span class="dim">
              {one.kind}, {one.columns.length} columns{one.row_estimate !== null && `, about ${one.row_estimate} rows`}
            </span>
          </summary>
          {one.comment && (
            <p>
              <Foreign text={one.comment} most={1000} />
            </p>
          )}
          <p>
            <a href={href(["schema", one.name])}>Link</a> · <a href={href(["sql"], { sql: `SELECT * FROM ${one.sql_name} LIMIT 100` })}>Rows</a>
          </p>
          <div class="scroll" tabIndex={0} role="region" aria-label={`Columns of ${clip(one.name, 60)}`}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Column</th>
                  <th scope="col">Type</th>
                  <th scope="col">Key</th>
                  <th scope="col">Remark</th>
                </tr>
              </thead>
              <tbody>
                {one.columns.slice(0, 500).map((column) => {
                  const keys = one.foreign_keys.filter((key) => key.columns.includes(column.name));
                  return (
                    <tr key={column.name}>
                      <th scope="row">
                        <Foreign text={column.name} most={120} />
                      </th>
                      <td>
                        <Foreign text={column.type} most={80} />
                        {!column.nullable && <span class="dim"> not null</span>}
                      </td>
                      <td>
                        {one.primary_key.includes(column.name) && "primary "}
                        {keys.map((key) => (
                          <a key={key.ref_table} href={href(["schema", key.ref_table])}>
                            → <Foreign text={key.ref_table} most={80} />
                          </a>
                        ))}
                      </td>
                      <td class="wide">
                        <Foreign text={column.comment ?? ""} most={500} />
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        </details>
      ))}
      {shown.length > 300 && <p class="dim">The first 300 tables are shown.</p>}
    </>
  );
}

export function DoctorView() {
  const { value, error, reload } = useLoaded<{ ok: boolean; checks: { name: string; state: string; detail: string; fix: string | null }[] }>("/doctor");
  return (
    <>
      <h1>Set-up</h1>
      <p>
        <button type="button" onClick={reload}>
          Check again
        </button>
      </p>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="the checks" />}
      {value && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Checks, scrollable">
          <table>
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col">State</th>
                <th scope="col">Result</th>
              </tr>
            </thead>
            <tbody>
              {value.checks.map((check, place) => (
                <tr key={place}>
                  <th scope="row">{check.name}</th>
                  <td>
                    <Status status={check.state} />
                  </td>
                  <td class="wide">
                    <Foreign text={check.detail} most={2000} />
                    {check.fix && (
                      <p class="dim">
                        Fix: <Foreign text={check.fix} most={2000} />
                      </p>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
