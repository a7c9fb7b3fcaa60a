// Charts of small results: bar, line and scatter, where the types of the columns allow one.

import { useMemo, useState } from "preact/hooks";

import type { Json } from "./api";
import { clip } from "./parts";
import { isNumeric, numberOf, text } from "./table";

type Kind = "bar" | "line" | "scatter";
type Type = "number" | "time" | "text" | "none";

/** Marks that a chart can hold and still be read. */
const BARS = 60;
const POINTS = 2000;
const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 56;
const TOP = 12;
const RIGHT = 16;

/** A time without a zone is one of UTC, as the marks of the axis are. */
const timeOf = (cell: string) => {
  const iso = cell.replace(" ", "T");
  return Date.parse(/T[\d:.]+$/.test(iso) ? `${iso}Z` : iso);
};

const DATE = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;

function typeOf(rows: Json[][], column: number): Type {
  const cells = rows.map((row) => row[column]).filter((cell) => cell !== null);
  if (!cells.length) return "none";
  if (isNumeric(cells)) return "number";
  if (cells.every((cell) => typeof cell === "string" && DATE.test(cell))) return "time";
  return cells.every((cell) => typeof cell === "string" && cell.length <= 200) ? "text" : "none";
}

/** A column that numbers rows or years is no measure. */
function isKey(name: string, rows: Json[][], column: number): boolean {
  if (/(^|_)(id|key|year|month|nr|no)$/i.test(name) || /[a-z]Id$/.test(name)) return true;
  return rows.length > 1 && rows.every((row, place) => numberOf(row[column]) === place + 1);
}

export interface Choice {
  kind: Kind;
  x: number;
  y: number;
}

function kinds(types: Type[], x: number, y: number, count: number): Kind[] {
  if (x === y || types[y] !== "number") return [];
  const found: Kind[] = [];
  if (types[x] === "number" && count <= POINTS) found.push("scatter");
  if (types[x] !== "none" && types[x] !== "text" && count <= POINTS) found.push("line");
  if (types[x] !== "none" && count <= BARS) found.push("bar");
  return found;
}

/** The chart that fits best; none where none does. */
export function guess(columns: string[], rows: Json[][]): Choice | null {
  if (rows.length < 2 || rows.length > POINTS || columns.length < 2 || columns.length > 30) return null;
  const types = columns.map((_, column) => typeOf(rows, column));
  const numbers = columns.flatMap((_, column) => (types[column] === "number" ? [column] : []));
  const measures = numbers.filter((column) => !isKey(columns[column], rows, column));
  const y = measures.at(-1) ?? -1;
  if (y < 0) return null;
  const time = types.indexOf("time");
  if (time >= 0) return { kind: "line", x: time, y };
  const year = numbers.find((column) => column !== y && /(^|_)(year|month)$/i.test(columns[column]));
  if (year !== undefined) return { kind: "line", x: year, y };
  const name = types.indexOf("text");
  if (name >= 0) return rows.length <= BARS ? { kind: "bar", x: name, y } : null;
  if (measures.length >= 2) return { kind: "scatter", x: measures[0], y };
  return numbers.length >= 2 && rows.length <= BARS ? { kind: "bar", x: numbers[0], y } : null;
}

/** Round numbers that span the values. */
function ticks(low: number, high: number): number[] {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw) ?? raw;
  const found: number[] = [];
  for (let at = Math.floor(low / step) * step; at <= high + step * 0.999 && found.length < 20; at += step) {
    found.push(Number(at.toPrecision(12)));
  }
  return found;
}

const short = (value: number) =>
  Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-4)
    ? value.toExponential(1)
    : new Intl.NumberFormat("en", { notation: Math.abs(value) >= 1e5 ? "compact" : "standard", maximumFractionDigits: 4 }).format(value);

export function Chart({ columns, rows }: { columns: string[]; rows: Json[][] }) {
  const guessed = useMemo(() => guess(columns, rows), [columns, rows]);
  const types = useMemo(() => columns.map((_, column) => typeOf(rows, column)), [columns, rows]);
  const [chosen, setChosen] = useState<Choice | null>(null);
  if (!guessed) return null;
  // What was chosen for other rows may not fit these.
  const choice = chosen && kinds(types, chosen.x, chosen.y, rows.length).length ? chosen : guessed;
  const possible = kinds(types, choice.x, choice.y, rows.length);
  const kind = possible.includes(choice.kind) ? choice.kind : possible[0];
  const change = (part: Partial<Choice>) => setChosen({ ...choice, ...part });
  const axis = (own: (column: number) => boolean) =>
    columns.flatMap((name, column) =>
      own(column)
        ? [
            <option key={column} value={column}>
              {clip(name, 60)}
            </option>,
          ]
        : [],
    );
  return (
    <section aria-label="Chart" class="chart">
      <div class="bar">
        <label>
          Chart{" "}
          <select value={kind} onChange={(event) => change({ kind: event.currentTarget.value as Kind })}>
            {possible.map((kind) => (
              <option key={kind} value={kind}>
                {kind}
              </option>
            ))}
          </select>
        </label>
        <label>
          across{" "}
          <select value={choice.x} onChange={(event) => change({ x: Number(event.currentTarget.value) })}>
            {axis((column) => kinds(types, column, choice.y, rows.length).length > 0)}
          </select>
        </label>
        <label>
          up{" "}
          <select value={choice.y} onChange={(event) => change({ y: Number(event.currentTarget.value) })}>
            {axis((column) => kinds(types, choice.x, column, rows.length).length > 0)}
          </select>
        </label>
      </div>
      <Picture kind={kind} x={choice.x} y={choice.y} types={types} columns={columns} rows={rows} />
    </section>
  );
}

function Picture({ kind, x, y, types, columns, rows }: Choice & { types: Type[]; columns: string[]; rows: Json[][] }) {
  const shown = rows.filter((row) => row[y] !== null && (kind === "bar" || row[x] !== null));
  const place = (cell: Json) => (types[x] === "time" ? timeOf(String(cell)) : Number(cell));
  const height = (row: Json[]) => numberOf(row[y])!;
  const points = kind === "bar" ? shown : shown.filter((row) => Number.isFinite(place(row[x])));
  if (!points.length) return <p class="dim">There is nothing to draw.</p>;
  const values = points.map(height);
  const up = ticks(Math.min(...values, kind === "scatter" ? Infinity : 0), Math.max(...values, kind === "scatter" ? -Infinity : 0));
  const low = up[0];
  const high = up[up.length - 1];
  const atY = (value: number) => HEIGHT - BOTTOM - ((value - low) / (high - low || 1)) * (HEIGHT - BOTTOM - TOP);
  const places = kind === "bar" ? [] : points.map((row) => place(row[x]));
  const least = Math.min(...places);
  const most = Math.max(...places);
  const inner = WIDTH - LEFT - RIGHT;
  const atX = (value: number) => LEFT + ((value - least) / (most - least || 1)) * inner;
  const label = `${kind} chart of ${clip(columns[y], 60)} by ${clip(columns[x], 60)}, ${points.length} values from ${short(Math.min(...values))} to ${short(Math.max(...values))}`;
  const wide = inner / points.length;
  const line = kind === "line" ? points.slice().sort((a, b) => place(a[x]) - place(b[x])) : [];
  const across = kind === "bar" ? [] : types[x] === "time" ? [least, (least + most) / 2, most] : ticks(least, most).filter((at) => at >= least && at <= most);
  const every = Math.ceil(points.length / 12);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Chart, scrollable">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {up.map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={atY(value)} y2={atY(value)} />
            <text class="tick" x={LEFT - 6} y={atY(value) + 4} text-anchor="end">
              {short(value)}
            </text>
          </g>
        ))}
        {kind === "bar" &&
          points.map((row, at) => {
            const value = height(row);
            const from = atY(Math.max(value, 0));
            return (
              <g key={at}>
                <rect class="mark" x={LEFT + at * wide + wide * 0.1} width={wide * 0.8} y={from} height={Math.max(1, atY(Math.min(value, 0)) - from)}>
                  <title>{`${clip(text(row[x]), 80)}: ${text(row[y])}`}</title>
                </rect>
                {at % every === 0 && (
                  <text class="tick" x={LEFT + (at + 0.5) * wide} y={HEIGHT - BOTTOM + 16} text-anchor={points.length > 6 ? "end" : "middle"} transform={points.length > 6 ? `rotate(-30 ${LEFT + (at + 0.5) * wide} ${HEIGHT - BOTTOM + 16})` : undefined}>
                    {clip(text(row[x]), 14)}
                  </text>
                )}
              </g>
            );
          })}
        {kind === "line" && <polyline class="line" points={line.map((row) => `${atX(place(row[x]))},${atY(height(row))}`).join(" ")} />}
        {kind !== "bar" &&
          points.map((row, at) => (
            <circle key={at} class="mark" cx={atX(place(row[x]))} cy={atY(height(row))} r={points.length > 200 ? 2 : 4}>
              <title>{`${clip(text(row[x]), 80)}: ${text(row[y])}`}</title>
            </circle>
          ))}
        {across.map((value) => (
          <text key={value} class="tick" x={atX(value)} y={HEIGHT - BOTTOM + 18} text-anchor={atX(value) > WIDTH - RIGHT - 30 ? "end" : "middle"}>
            {types[x] === "time" ? new Date(value).toISOString().slice(0, 10) : /(^|_)(year|month)$/i.test(columns[x]) ? String(value) : short(value)}
          </text>
        ))}
      </svg>
    </div>
  );
}
