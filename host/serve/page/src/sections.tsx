// The parts that the host has drawn: pictures, tables, and the parts of a page that stands alone.

import type { Json } from "./api";
import { Code, Foreign, clip } from "./parts";
import { text } from "./table";

interface Picture {
  title: string;
  description: string;
  svg: string;
}

interface Cells {
  title: string;
  columns: string[];
  rows: Json[][];
}

export interface Section {
  title: string;
  remarks: string[];
  pictures: Picture[];
  tables: Cells[];
}

/** A part of a page that the host put together. */
export type Part =
  | { kind: "heading"; text: string }
  | { kind: "text"; class: string; text: string }
  | { kind: "code"; label: string; text: string }
  | { kind: "sides"; before: string; after: string | null; none: string }
  | { kind: "table"; table: Cells }
  | { kind: "picture"; picture: Picture }
  | { kind: "fold"; title: string; parts: Part[] };

export function SectionView({ section }: { section: Section }) {
  return (
    <section aria-label={clip(section.title, 100)}>
      <h2>
        <Foreign text={section.title} most={200} />
      </h2>
      {section.remarks.map((remark) => (
        <p class="dim" key={remark}>
          <Foreign text={remark} most={1000} />
        </p>
      ))}
      <div class="pictures">
        {section.pictures.map((picture, place) => (
          <PictureView key={place} picture={picture} />
        ))}
      </div>
      {section.tables.map((table, place) =>
        section.pictures.length ? (
          <details key={place}>
            <summary>
              <Foreign text={table.title} most={200} />
            </summary>
            <CellsView table={table} />
          </details>
        ) : (
          <CellsView key={place} table={table} />
        ),
      )}
    </section>
  );
}

export function PartsView({ parts }: { parts: Part[] }) {
  return (
    <>
      {parts.map((part, place) => (
        <PartView key={place} part={part} />
      ))}
    </>
  );
}

function PartView({ part }: { part: Part }) {
  switch (part.kind) {
    case "heading":
      return (
        <h2>
          <Foreign text={part.text} most={200} />
        </h2>
      );
    case "text":
      return (
        <p class={part.class}>
          <Foreign text={part.text} />
        </p>
      );
    case "code":
      return <Code label={clip(part.label, 100)} text={part.text} />;
    case "sides":
      return (
        <div class="sides">
          <div>
            <h3>before</h3>
            <Code label="Before" text={part.before} />
          </div>
          <div>
            <h3>after</h3>
            {part.after === null ? <p class="dim">{part.none}</p> : <Code label="After" text={part.after} />}
          </div>
        </div>
      );
    case "table":
      return <CellsView table={part.table} />;
    case "picture":
      return <PictureView picture={part.picture} />;
    case "fold":
      return (
        <details>
          <summary>
            <Foreign text={part.title} most={200} />
          </summary>
          <PartsView parts={part.parts} />
        </details>
      );
  }
}

function PictureView({ picture }: { picture: Picture }) {
  return (
    <figure>
      <img src={`data:image/svg+xml,${encodeURIComponent(picture.svg)}`} alt={clip(picture.title, 300)} />
      <figcaption class="dim">
        <strong>
          <Foreign text={picture.title} most={300} />
        </strong>
        <br />
        <Foreign text={picture.description} most={1000} />
      </figcaption>
    </figure>
  );
}

/** A small table of the host. */
function CellsView({ table }: { table: Cells }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${clip(table.title, 100)}, scrollable`}>
      <table>
        <caption class="hidden">{clip(table.title, 200)}</caption>
        <thead>
          <tr>
            {table.columns.map((name, place) => (
              <th scope="col" key={place}>
                <Foreign text={name} most={100} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, 500).map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column} class={typeof cell === "number" ? "number" : ""}>
                  {cell !== null && <Foreign text={text(cell)} most={600} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
