import type { DeadLetter, UnreadableLetter } from '../journal/dead-letters.ts';
import type { JobRow, JournalRow, SinkRow, Snapshot } from './source.ts';

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

/** Escaped HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[] | false | undefined;

/** Builds HTML from a template: values are escaped unless they are `Html`. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0]!;
  for (const [index, value] of values.entries()) text += textOf(value) + strings[index + 1]!;
  return new Html(text);
}

function textOf(value: Part): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(({ text }: Html) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** One style for light and dark; nothing is fetched. */
export const style = `:root{color-scheme:light dark;--bg:light-dark(#fff,#131619);--ink:light-dark(#1a1d21,#e8eaed);--ink2:light-dark(#4f575f,#aab2ba);--rule:light-dark(#d5dae0,#353c44);--grid:light-dark(#e9ecef,#242a30);--mark:light-dark(#33393f,#d5d9dd);--soft:light-dark(#f5f6f8,#1b1f23);--worse:light-dark(#a84300,#f2975c);--link:light-dark(#0b57a4,#7bb8f0);--bar:light-dark(#7d93a8,#64798d)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:24px;background:var(--bg);color:var(--ink);font:13px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:20px;line-height:1.25;font-weight:600;margin:4px 0;overflow-wrap:anywhere}
h2{font-size:15px;font-weight:600;margin:40px 0 8px;padding-top:16px;border-top:1px solid var(--rule)}
p,ul,pre{margin:0}ul{list-style:none;padding:0;margin:16px 0}li{padding:3px 0}
.brand{font-weight:600}.brand span,.lead,small,.none{color:var(--ink2);font-weight:400}small{font-size:12px}
.worse{color:var(--worse)}.worse::before{content:"▼ "/""}
.done{background:var(--soft);padding:8px 16px;margin:16px 0}
table{width:100%;border-collapse:collapse}
th,td{padding:4px 8px;text-align:left;font-weight:400;vertical-align:top}
:is(th,td):first-child{padding-left:0}:is(th,td):last-child{padding-right:0}
thead th{color:var(--ink2);font-size:12px;border-bottom:1px solid var(--mark);vertical-align:bottom}
tbody th{font-weight:600;overflow-wrap:anywhere}tbody tr{border-bottom:1px solid var(--grid)}
.n{text-align:right;white-space:nowrap}
td{overflow-wrap:anywhere;min-width:4.5em}tbody th{min-width:9em}
pre{font:12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:8px;margin-top:4px}
summary{cursor:pointer;color:var(--link)}
form{display:inline-block;margin:0 8px 4px 0}
button{font:inherit;font-size:12px;color:var(--ink);background:var(--bg);border:1px solid var(--bar);border-radius:3px;padding:5px 10px;min-height:28px;cursor:pointer;white-space:nowrap}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
a{color:var(--link)}
@media(max-width:760px){body{padding:16px}table,tbody,tr,td,tbody th{display:block;width:auto}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}tbody tr{padding:8px 0}:is(td,tbody th){padding:2px 0}.n{text-align:left}td[data-label]::before{content:attr(data-label) ": ";color:var(--ink2)}}`;
