// The search graph: tasks by what they wait for, their candidates, and why each was dropped.

import { useState } from "preact/hooks";

import { Code, Foreign, Status, clip, percent, plural } from "./parts";
import type { Candidate, Task } from "./search";

/** The part that is drawn; the list below the drawing has the rest. */
const TASKS = 120;
const MARKS = 14;
const BOX = { width: 210, height: 46 };
const GAP = { x: 60, y: 46 };

/** The tasks in columns: each to the right of what it waits for. */
function columns(tasks: Task[]): Task[][] {
  const depth = new Map<string, number>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const measure = (id: string, above: Set<string>): number => {
    const known = depth.get(id);
    if (known !== undefined) return known;
    if (above.has(id) || above.size > 200) return 0;
    const inside = new Set(above).add(id);
    const before = (byId.get(id)?.depends_on ?? []).filter((other) => byId.has(other));
    const own = before.reduce((most, other) => Math.max(most, measure(other, inside) + 1), 0);
    depth.set(id, own);
    return own;
  };
  const found: Task[][] = [];
  for (const task of tasks) (found[measure(task.id, new Set())] ??= []).push(task);
  return Array.from(found, (column) => column ?? []);
}

export function Drawing({ tasks, candidates }: { tasks: Task[]; candidates: Candidate[] }) {
  const drawn = tasks.slice(0, TASKS);
  const places = new Map<string, { x: number; y: number }>();
  const laid = columns(drawn);
  laid.forEach((column, x) =>
    column.forEach((task, y) => places.set(task.id, { x: 8 + x * (BOX.width + GAP.x), y: 8 + y * (BOX.height + GAP.y) })),
  );
  const width = 16 + laid.length * (BOX.width + GAP.x) - GAP.x;
  const height = 16 + Math.max(1, ...laid.map((column) => column.length)) * (BOX.height + GAP.y);
  const label = `Search graph: ${plural(tasks.length, "task")}, ${plural(candidates.length, "candidate")}`;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Search graph, scrollable">
      <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {drawn.flatMap((task) =>
          (task.depends_on ?? []).flatMap((before) => {
            const from = places.get(before);
            const to = places.get(task.id);
            if (!from || !to) return [];
            const x = from.x + BOX.width;
            const y = from.y + BOX.height / 2;
            const end = to.y + BOX.height / 2;
            const middle = (x + to.x) / 2;
            return [<path key={`${before} ${task.id}`} class="edge" d={`M${x} ${y}C${middle} ${y} ${middle} ${end} ${to.x} ${end}`} />];
          }),
        )}
        {drawn.map((task) => {
          const { x, y } = places.get(task.id)!;
          const own = candidates.filter((candidate) => candidate.task === task.id);
          const at = (place: number) => x + 10 + place * 15;
          return (
            <g key={task.id} class={`task ${task.ending}`}>
              <rect x={x} y={y} width={BOX.width} height={BOX.height} rx={6} />
              <text x={x + 10} y={y + 19} class="name">
                {clip(`${task.id}${task.is_answer ? " (answer)" : ""}`, 26)}
              </text>
              <text x={x + 10} y={y + 36}>
                {clip(task.text, 30)}
              </text>
              <title>{`${clip(task.text, 500)}: ${task.ending}`}</title>
              {own.slice(0, MARKS).map((candidate, place) => (
                <g key={candidate.id}>
                  {(candidate.parents ?? []).map((parent) => {
                    const from = own.findIndex((other) => other.id === parent);
                    if (from < 0 || from >= MARKS) return null;
                    return (
                      <path
                        key={parent}
                        class="edge"
                        d={`M${at(from)} ${y + BOX.height + 18}Q${(at(from) + at(place)) / 2} ${y + BOX.height + 34} ${at(place)} ${y + BOX.height + 18}`}
                      />
                    );
                  })}
                  <circle class={`candidate ${candidate.status}`} cx={at(place)} cy={y + BOX.height + 12} r={6}>
                    <title>{`${candidate.id}: ${candidate.status}${candidate.reason ? `, ${clip(candidate.reason, 300)}` : ""}`}</title>
                  </circle>
                </g>
              ))}
              {own.length > MARKS && (
                <text x={at(MARKS)} y={y + BOX.height + 16}>
                  +{own.length - MARKS}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

export function CandidateItem({ candidate }: { candidate: Candidate }) {
  const { id, status, sql, confidence, claimed, reason, rationale, parents, reward, judged } = candidate;
  return (
    <li>
      <details>
        <summary>
          <Foreign text={id} most={60} /> <Status status={status} />{" "}
          {confidence != null && <span>confidence {percent(confidence)} </span>}
          {claimed != null && <span class="dim">(claimed {percent(claimed)}) </span>}
          {reason && <Foreign text={reason} most={240} />}
        </summary>
        <Code text={sql} label={`Statement of ${clip(id, 60)}`} />
        {rationale && (
          <p>
            <Foreign text={rationale} most={2000} />
          </p>
        )}
        {reward && (
          <p class="dim">
            The reward: {reward.verdict}
            {reward.score != null && `, score ${percent(reward.score)}`}; <Foreign text={reward.reason} most={1000} />
            {reward.failed?.length ? `; not passed: ${clip(reward.failed.join(", "), 500)}` : ""}
          </p>
        )}
        {judged && (
          <p class="dim">
            Judged by model calls: {judged.yes} yes, {judged.no} no
          </p>
        )}
        {parents?.length ? <p class="dim">made from {clip(parents.join(", "), 300)}</p> : null}
      </details>
    </li>
  );
}

/** The tasks as a list, for whoever does not see the drawing, and for what it has no room for. */
export function TaskList({ tasks, candidates, lines }: { tasks: Task[]; candidates: Candidate[]; lines?: Map<string, string[]> }) {
  const [all, setAll] = useState(false);
  const shown = all ? tasks : tasks.slice(0, 40);
  const known = new Set(tasks.map((task) => task.id));
  const loose = candidates.filter((candidate) => !known.has(candidate.task));
  return (
    <>
      <ul class="tasks">
        {shown.map((task) => {
          const own = candidates.filter((candidate) => candidate.task === task.id);
          return (
            <li key={task.id}>
              <strong>
                <Foreign text={task.id} most={60} />
              </strong>
              {task.is_answer && " (answer)"} <Status status={task.ending} /> <Foreign text={task.text} most={500} />
              {task.depends_on?.length ? <span class="dim"> after {clip(task.depends_on.join(", "), 200)}</span> : null}
              {lines?.get(task.id)?.map((line, place) => (
                <p key={place} class="dim line">
                  <Foreign text={line} most={1000} />
                </p>
              ))}
              {task.reason && (
                <p class="why">
                  <Foreign text={task.reason} most={1000} />
                </p>
              )}
              {own.length > 0 && (
                <ul>
                  {own.map((candidate) => (
                    <CandidateItem key={candidate.id} candidate={candidate} />
                  ))}
                </ul>
              )}
            </li>
          );
        })}
        {loose.length > 0 && (
          <li>
            Candidates of earlier rounds
            <ul>
              {loose.map((candidate) => (
                <CandidateItem key={`${candidate.task} ${candidate.id}`} candidate={candidate} />
              ))}
            </ul>
          </li>
        )}
      </ul>
      {shown.length < tasks.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {tasks.length} tasks
        </button>
      )}
    </>
  );
}
