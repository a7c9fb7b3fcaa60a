// Rows of a result: only those in view are in the document, whatever their number.

import { useMemo, useRef, useState } from "preact/hooks";

import { type Json, exportSql } from "./api";
import { Failure, clip, usePrinting } from "./parts";

/** The height of a row, as the style sheet has it. */
const ROW = 28;
/** Rows before and after those in view. */
const MARGIN = 12;
/** Rows that are printed. */
const PRINTED = 1000;
/** Characters of a cell in its row. */
const CELL = 200;

export function text(cell: Json): string {
  if (cell === null) return "NULL";
  if (typeof cell === "string") return cell;
  if (typeof cell === "object" && !Array.isArray(cell) && typeof cell.bytes === "string") return `0x${cell.bytes}`;
  return JSON.stringify(cell);
}

/** A number as the server spells it where JSON would round it: a decimal number, or a long integer. */
const SPELLED = /^-?\d+(\.\d+)?$/;

/** The value of a number, also of one that is spelled; null for other cells. */
export function numberOf(cell: Json): number | null {
  if (typeof cell === "number") return cell;
  return typeof cell === "string" && SPELLED.test(cell) ? Number(cell) : null;
}

/** Says for a column if its cells are numbers. The decimal numbers of a column have one scale; texts of digits alone may be names, such as postal codes. */
export function isNumeric(cells: Json[]): boolean {
  const known = cells.filter((cell) => cell !== null);
  const scales = new Set(known.flatMap((cell) => (typeof cell === "string" && cell.includes(".") ? [cell.length - cell.indexOf(".")] : [])));
  const isSure = scales.size === 1 || (scales.size === 0 && known.some((cell) => typeof cell === "number"));
  return isSure && known.every((cell) => numberOf(cell) !== null);
}

/** Numbers come before texts, and null comes last. */
function compare(a: Json, b: Json): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [left, right] = [text(a), text(b)];
  const [first, second] = [numberOf(a), numberOf(b)];
  if ((first === null) !== (second === null)) return first === null ? 1 : -1;
  if (first !== null && second !== null && first !== second) return first - second;
  // Long numbers that a number of the browser does not tell apart have as many digits.
  const order = left < right ? -1 : left > right ? 1 : 0;
  return first !== null && first < 0 ? -order : order;
}

/** A text on one line that no spreadsheet takes for a formula, as in the files. */
const plain = (cell: string) => cell.replace(/[\t\r\n]+/g, " ").replace(/^(?=\s*[=+\-@])/, "'");

/** One line of tab-separated text for each row. */
function tabbed(columns: string[], rows: Json[][]): string {
  const copied = (cell: Json) => (cell === null ? "" : numberOf(cell) === null ? plain(text(cell)) : text(cell));
  return [columns.map(plain), ...rows.map((row) => row.map(copied))].map((cells) => cells.join("\t")).join("\n");
}

function save(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function Table({
  columns,
  rows,
  sql,
  truncated,
  label = "Rows",
}: {
  columns: string[];
  rows: Json[][];
  sql: string | null;
  truncated: boolean;
  label?: string;
}) {
  const [sort, setSort] = useState<{ column: number; down: boolean } | null>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [whole, setWhole] = useState<{ column: string; value: string } | null>(null);
  const [done, setDone] = useState("");
  const [error, setError] = useState<unknown>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const printing = usePrinting();
  const sorted = useMemo(() => {
    if (!sort) return rows;
    const { column, down } = sort;
    // Null comes last in both directions.
    return rows.slice().sort((a, b) => {
      const order = compare(a[column], b[column]);
      return a[column] === null || b[column] === null || !down ? order : -order;
    });
  }, [rows, sort]);
  const widths = useMemo(
    () =>
      columns.map((name, place) => {
        const longest = rows.slice(0, 200).reduce((most, row) => Math.max(most, text(row[place]).slice(0, 60).length), name.length + 3);
        return Math.min(Math.max(longest + 3, 8), 44);
      }),
    [columns, rows],
  );
  const numeric = useMemo(() => columns.map((_, place) => isNumeric(rows.slice(0, 200).map((row) => row[place]))), [columns, rows]);
  const first = printing ? 0 : Math.max(0, Math.floor(top / ROW) - MARGIN);
  const last = printing ? Math.min(sorted.length, PRINTED) : Math.min(sorted.length, Math.ceil((top + height) / ROW) + MARGIN);
  const show = (column: string, cell: Json) => {
    setWhole({ column, value: clip(text(cell)) });
    dialog.current?.showModal();
  };
  const copy = async () => {
    await navigator.clipboard.writeText(tabbed(columns, sorted));
    setDone(`copied ${sorted.length} rows${truncated ? ", which a limit cut" : ""}`);
  };
  const download = async (type: string) => {
    setError(null);
    try {
      const { blob, name } = await exportSql(sql!, type);
      save(blob, name);
      setDone(`saved ${name}`);
    } catch (error) {
      setError(error);
    }
  };
  return (
    <section aria-label={label}>
      <div class="bar">
        <span>
          {rows.length} {rows.length === 1 ? "row" : "rows"}
          {truncated && " (a limit cut the others)"}
        </span>
        {navigator.clipboard && (
          <button type="button" onClick={copy}>
            Copy
          </button>
        )}
        {sql && (
          <>
            <button type="button" onClick={() => download("text/csv")}>
              CSV
            </button>
            <button type="button" onClick={() => download("application/vnd.apache.parquet")}>
              Parquet
            </button>
          </>
        )}
        <span role="status" class="dim">
          {done}
        </span>
      </div>
      {error ? <Failure error={error} /> : null}
      <div
        class="rows"
        tabIndex={0}
        role="region"
        aria-label={`${label}, scrollable`}
        onScroll={(event) => {
          setTop(event.currentTarget.scrollTop);
          setHeight(event.currentTarget.clientHeight);
        }}
      >
        <table aria-rowcount={rows.length + 1} class="fixed" style={{ width: `${widths.reduce((sum, width) => sum + width, 0)}ch` }}>
          <colgroup>
            {widths.map((width, place) => (
              <col key={place} style={{ width: `${width}ch` }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {columns.map((name, place) => {
                const own = sort?.column === place ? sort : null;
                return (
                  <th key={place} scope="col" aria-sort={own ? (own.down ? "descending" : "ascending") : "none"}>
                    <button
                      type="button"
                      class="sort"
                      onClick={() => setSort(own ? (own.down ? null : { column: place, down: true }) : { column: place, down: false })}
                    >
                      <bdi>{clip(name, 60) || "(no name)"}</bdi> <span aria-hidden="true">{own ? (own.down ? "▼" : "▲") : ""}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {first > 0 && (
              <tr aria-hidden="true">
                <td class="gap" colSpan={columns.length} style={{ height: `${first * ROW}px` }} />
              </tr>
            )}
            {sorted.slice(first, last).map((row, place) => (
              <tr key={first + place} aria-rowindex={first + place + 2}>
                {row.map((cell, column) => {
                  const full = text(cell);
                  // A row has one line; the whole cell is shown on request.
                  const line = clip(full, CELL).replace(/[\t\r\n]+/g, " ");
                  const isLong = full.length > 40 || line !== full;
                  return (
                    <td key={column} class={cell === null ? "null" : numeric[column] ? "number" : ""}>
                      {isLong ? (
                        <button type="button" class="cell" title="Show the whole cell" onClick={() => show(columns[column], cell)}>
                          <bdi>{line}</bdi>
                        </button>
                      ) : (
                        <bdi>{line}</bdi>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
            {last < sorted.length && !printing && (
              <tr aria-hidden="true">
                <td class="gap" colSpan={columns.length} style={{ height: `${(sorted.length - last) * ROW}px` }} />
              </tr>
            )}
          </tbody>
        </table>
        {printing && last < sorted.length && (
          <p>
            {sorted.length - last} further rows are not printed: save them by CSV or Parquet.
          </p>
        )}
      </div>
      <dialog ref={dialog} aria-label="A whole cell">
        <p>
          <strong>
            <bdi>{clip(whole?.column ?? "", 200)}</bdi>
          </strong>
        </p>
        <pre class="code" tabIndex={0} role="region" aria-label="The cell">
          <bdi>{whole?.value}</bdi>
        </pre>
        <form method="dialog">
          <button>Close</button>
        </form>
      </dialog>
    </section>
  );
}
