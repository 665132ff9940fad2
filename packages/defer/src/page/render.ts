import type { DeadLetter, UnreadableLetter } from '../journal/dead-letters.ts';
import { Html, html } from './html.ts';
import type { JobRow, JournalRow, SinkRow, Snapshot } from './snapshot.ts';
import { style } from './style.ts';

/** More rows on one page are of no use: letters of one kind are requeued together. */
const maxLetters = 100;
const maxDataLength = 4_000;

export interface PageFacts {
  readonly title: string;
  readonly nowMs: number;
  /** Included in every form: a page of another origin cannot know it. */
  readonly token: string;
  /** Result of the last action. */
  readonly done: string | undefined;
}

/** Renders the whole page: findings first, then the tables they come from. */
export function renderPage(
  { sinks, jobs: names, journals, letters, unreadable }: Snapshot,
  facts: PageFacts,
): string {
  const { title, nowMs, done } = facts;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>Deferred work: ${title}</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        <header>
          <p class="brand">redline <span>defer</span></p>
          <h1>${title}</h1>
          <p class="lead">As of ${timeOf(nowMs)}. <a href="">Reload</a></p>
          ${done !== undefined && html`<p class="done" role="status">${done}</p>`}
          ${findings(sinks, journals, letters, unreadable, nowMs)}
        </header>
        <main>
          ${sinks !== undefined && sinkTable(sinks, nowMs)} ${jobTable(names, nowMs)}
          ${journalTable(journals)} ${letterTable(letters, facts)}
        </main>
      </body>
    </html>`.text;
}

function findings(
  sinks: readonly SinkRow[] | undefined,
  journals: readonly JournalRow[],
  letters: readonly DeadLetter[],
  unreadable: readonly UnreadableLetter[],
  nowMs: number,
): Html {
  const found = [
    ...(sinks ?? [])
      .filter(isUnavailable)
      .map(
        ({ name, depth, oldestAtMs, waiting }) =>
          html`<b class="worse">${name}</b> is unavailable: ${jobs(depth)}
            waiting${age(oldestAtMs, nowMs)}. ${waiting?.sentence}`,
      ),
    ...(sinks ?? [])
      .filter(({ dropped }) => dropped > 0)
      .map(({ name, dropped }) => html`<b class="worse">${name}</b> dropped ${jobs(dropped)}.`),
    ...journals
      .filter(({ damages }) => damages > 0)
      .map(
        ({ id, damages }) =>
          html`<b class="worse">Journal ${id}</b> has ${damages} damaged places.`,
      ),
    ...unreadable.map(
      ({ file, reason }) =>
        html`<b class="worse">A dead letter</b> cannot be read: ${file} (${reason}).`,
    ),
  ];
  if (letters.length > 0) {
    found.push(
      html`<b class="worse">${jobs(letters.length)}</b> failed for good and wait here as dead
        letters.`,
    );
  }
  return found.length === 0
    ? html`<ul>
        <li>Nothing is stuck, and nothing has failed for good.</li>
      </ul>`
    : html`<ul>
        ${found.map((text) => html`<li>${text}</li>`)}
      </ul>`;
}

function sinkTable(sinks: readonly SinkRow[], nowMs: number): Html {
  return html`<section>
    <h2>Sinks</h2>
    ${table(sinks, [
      ['Sink', ({ name, kind }) => html`${name} <small>${kind}</small>`],
      ['State', (row) => stateOf(row, nowMs)],
      ['Waiting', ({ depth }) => count(depth), 'n'],
      ['In memory', ({ loaded }) => count(loaded), 'n'],
      ['Oldest', ({ oldestAtMs }) => ageOf(oldestAtMs, nowMs), 'n'],
      ['Delivered', ({ sent }) => count(sent), 'n'],
      ['Retried', ({ retried }) => count(retried), 'n'],
      ['Dead', ({ dead }) => count(dead), 'n'],
      ['Dropped', ({ dropped }) => count(dropped), 'n'],
    ])}
    <p class="lead">Counted since this process started.</p>
  </section>`;
}

function stateOf(row: SinkRow, nowMs: number): Html {
  const { delayed, nextRunAtMs } = row;
  const later = delayed > 0 && html`<br /><small>${delayedText(delayed, nextRunAtMs)}</small>`;
  return html`${workOf(row, nowMs)}${later}`;
}

function delayedText(delayed: number, nextRunAtMs: number | undefined): string {
  if (nextRunAtMs === undefined) return count(delayed);
  const which = delayed === 1 ? 'waits' : 'wait, the next one';
  return `${count(delayed)} ${which} until ${timeOf(nextRunAtMs)}`;
}

function workOf(row: SinkRow, nowMs: number): Html {
  const { depth, waiting } = row;
  if (waiting === undefined) return html`${depth > 0 ? 'delivering' : 'idle'}`;
  const word = isUnavailable(row)
    ? html`<span class="worse">unavailable</span>`
    : html`waiting: ${waiting.reason}`;
  const { untilMs } = waiting;
  return html`${word}<br /><small
      >${shorten(waiting.sentence, 200)}${untilMs !== undefined && ` Next try in ${ageOf(nowMs, untilMs)}.`}</small
    >`;
}

/* All other reasons are normal for a working sink. */
function isUnavailable({ waiting }: SinkRow): boolean {
  return waiting?.reason === 'outage' || waiting?.reason === 'unavailable';
}

function jobTable(names: readonly JobRow[], nowMs: number): Html {
  if (names.length === 0) return html``;
  const shown = names.toSorted((a, b) => b.depth - a.depth || b.dead - a.dead);
  return html`<section>
    <h2>Jobs by name</h2>
    ${table(shown, [
      ['Job', ({ job }) => job],
      ['Sink', ({ sink }) => sink],
      ['Waiting', ({ depth }) => count(depth), 'n'],
      ['Oldest', ({ oldestAtMs }) => ageOf(oldestAtMs, nowMs), 'n'],
      ['Tries', ({ attempts }) => count(attempts), 'n'],
      ['Failed', ({ failures }) => count(failures), 'n'],
      ['Dead', ({ dead }) => count(dead), 'n'],
      ['Last failure', (row) => failureOf(row, nowMs)],
    ])}
  </section>`;
}

function failureOf({ lastFailure }: JobRow, nowMs: number): Html {
  if (lastFailure === undefined) return html`–`;
  const { message, atMs } = lastFailure;
  return html`${shorten(message, 200)}<br /><small>${ageOf(atMs, nowMs)} ago</small>`;
}

const owners: Record<JournalRow['owner'], string> = {
  running: 'its process runs',
  free: 'free to be adopted',
  gone: 'its process has exited',
  elsewhere: 'of another container or host',
};

function journalTable(journals: readonly JournalRow[]): Html {
  if (journals.length === 0) {
    return html`<section>
      <h2>Journals</h2>
      <p class="none">No journals.</p>
    </section>`;
  }
  return html`<section>
    <h2>Journals</h2>
    ${table(journals, [
      ['Journal', ({ id }) => id],
      ['Owner', ({ owner }) => owners[owner]],
      ['Waiting', ({ waiting }) => count(waiting), 'n'],
      ['Delayed', ({ delayed, nextRunAtMs }) => delayedText(delayed, nextRunAtMs)],
      ['Kept for replay', ({ sent }) => count(sent), 'n'],
      ['KiB', ({ bytes }) => count(Math.ceil(bytes / 1_024)), 'n'],
    ])}
  </section>`;
}

function letterTable(letters: readonly DeadLetter[], facts: PageFacts): Html {
  if (letters.length === 0) {
    return html`<section>
      <h2>Dead letters</h2>
      <p class="none">No dead letters.</p>
    </section>`;
  }
  const kinds = [...Map.groupBy(letters, ({ record }) => `${record.sink} ${record.job}`).values()];
  const shown = letters.slice(-maxLetters).toReversed();
  return html`<section>
    <h2>Dead letters</h2>
    <ul>
      ${kinds.map((kind) => {
        const { job, sink } = kind[0]!.record;
        const which = { job, sink };
        return html`<li>
          <b>${job}</b> for ${sink}: ${kind.length}
          ${action(facts, 'requeue', which, `Requeue all ${kind.length}`)}
          <details>
            <summary>Delete…</summary>
            ${action(facts, 'remove', which, `Delete all ${kind.length} for good`)}
          </details>
        </li>`;
      })}
    </ul>
    ${table(shown, [
      ['Job', ({ record }) => nameOf(record)],
      ['Failed', ({ diedAtMs }) => timeOf(diedAtMs)],
      ['Attempts', ({ record }) => count(record.attempt), 'n'],
      ['Reason', reasonOf],
      ['Action', ({ record }) => actionsOn(record.id, facts)],
    ])}
    ${shown.length < letters.length && html`<p class="lead">The newest ${shown.length} of ${letters.length}.</p>`}
  </section>`;
}

function nameOf({ id, job, key }: DeadLetter['record']): Html {
  return html`${job}<br /><small>${id}${key !== undefined && html`, key ${key}`}</small>`;
}

function reasonOf({ record, reason }: DeadLetter): Html {
  const [summary = ''] = reason.split('\n');
  return html`<details>
    <summary>${shorten(summary, 200)}</summary>
    <pre>${reason}</pre>
    <pre>${shorten(record.json, maxDataLength)}</pre>
  </details>`;
}

function actionsOn(id: string, facts: PageFacts): Html {
  return html`${action(facts, 'requeue', { id }, 'Requeue')}
    <details>
      <summary>Delete…</summary>
      ${action(facts, 'remove', { id }, 'Delete for good')}
    </details>`;
}

/* Posts to the page's own URL, wherever the app has mounted it. */
function action(
  { token }: PageFacts,
  name: 'requeue' | 'remove',
  which: Readonly<Record<string, string>>,
  label: string,
): Html {
  const fields = Object.entries({ action: name, token, ...which });
  return html`<form method="post">
    ${fields.map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}" />`)}<button>
      ${label}
    </button>
  </form>`;
}

/** A column, which holds numbers if its kind is `n`. */
type Column<Row> = readonly [label: string, cell: (row: Row) => Html | string, kind?: 'n'];

/* The cells of the first column are the heads of their rows. */
function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const heads = columns.map(([label, , kind]) => html`<th${classOf(kind)}>${label}</th>`);
  const cellsOf = (row: Row): Html[] =>
    columns.map(([label, cell, kind], index) =>
      index === 0
        ? html`<th scope="row">${cell(row)}</th>`
        : html`<td${classOf(kind)} data-label="${label}">${cell(row)}</td>`,
    );
  return html`<table>
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${cellsOf(row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function classOf(kind: 'n' | undefined): Html {
  return new Html(kind === undefined ? '' : ' class="n"');
}

function age(atMs: number | undefined, nowMs: number): string {
  return atMs === undefined ? '' : `, the oldest for ${ageOf(atMs, nowMs)}`;
}

function ageOf(atMs: number | undefined, nowMs: number): string {
  if (atMs === undefined) return '–';
  const seconds = Math.max(0, nowMs - atMs) / 1_000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}

function jobs(number: number): string {
  return `${count(number)} ${number === 1 ? 'job' : 'jobs'}`;
}

function count(number: number): string {
  return number.toLocaleString('en').replaceAll(',', '\u202f');
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
