import { LabError } from '../errors.ts';
import { type DurationUnit, requestOf, toMs } from './formats/fields.ts';
import type { LoggedRequest } from './logged-request.ts';

type Meaning =
  | 'method'
  | 'target'
  | 'query'
  | 'request'
  | 'status'
  | 'time'
  | `took ${DurationUnit}`;

/** The nginx log_format variables that describe a request. */
const ofNginx: Record<string, Meaning> = {
  request: 'request',
  request_method: 'method',
  request_uri: 'target',
  uri: 'target',
  status: 'status',
  time_local: 'time',
  time_iso8601: 'time',
  msec: 'time',
  request_time: 'took s',
};

/** Apache's LogFormat directives, without the modifiers between % and the letter. */
const ofApache: Record<string, Meaning> = {
  r: 'request',
  m: 'method',
  U: 'target',
  q: 'query',
  s: 'status',
  t: 'time',
  D: 'took µs',
  T: 'took s',
};

/** A format that the user declares, in the syntax of nginx's `log_format` or Apache's `LogFormat`. */
export class DeclaredFormat {
  readonly name: string;
  readonly duration?: string;
  readonly #line: RegExp;
  readonly #meanings: (Meaning | undefined)[];

  /** @throws {LabError} ERR_REDLINE_OPTION when the request or the status is missing */
  constructor(text: string) {
    const { source, fields } = compile(text.trim());
    const meanings = fields.map(({ meaning }) => meaning);
    const has = (meaning: Meaning): boolean => meanings.includes(meaning);
    if (!(has('request') || (has('method') && has('target'))) || !has('status')) {
      throw new LabError(
        'ERR_REDLINE_OPTION',
        `--format "${text}" has to name the request and the status, as nginx's log_format with $request and $status or Apache's LogFormat with %r and %s.`,
      );
    }
    this.name = '--format';
    const took = fields.find(({ meaning }) => meaning?.startsWith('took'));
    if (took !== undefined) this.duration = `${took.name}, in ${unitNames[unitOf(took.meaning!)]}`;
    this.#meanings = meanings;
    this.#line = new RegExp(`^${source}\\s*$`);
  }

  read(line: string): LoggedRequest | undefined {
    const found = this.#line.exec(line);
    if (found === null) return undefined;
    const values: Partial<Record<Meaning, string>> = {};
    let durationMs: number | undefined;
    this.#meanings.forEach((meaning, index) => {
      const value = found[index + 1]!;
      if (meaning === undefined) return;
      values[meaning] ??= value;
      if (meaning.startsWith('took')) durationMs ??= toMs(value, unitOf(meaning));
    });
    const { target, query } = values;
    return requestOf({
      ...values,
      target: target === undefined ? undefined : target + (query ?? ''),
      time: values.time?.replaceAll(/[[\]]/g, ''),
      durationMs,
    });
  }
}

const unitNames: Record<DurationUnit, string> = {
  s: 'seconds',
  ms: 'milliseconds',
  µs: 'microseconds',
  ns: 'nanoseconds',
};

function unitOf(meaning: Meaning): DurationUnit {
  return meaning.slice('took '.length) as DurationUnit;
}

/** Turns each variable into a group that ends at the text after it; inside quotes it may contain escaped quotes. */
function compile(text: string): {
  source: string;
  fields: { name: string; meaning: Meaning | undefined }[];
} {
  const variable = /\$\{?(?<nginx>\w+)\}?|%[<>!\d,]*(?:\{(?<of>[^}]*)\})?\^?(?<apache>[a-zA-Z%])/g;
  const fields: { name: string; meaning: Meaning | undefined }[] = [];
  let source = '';
  let end = 0;
  for (const found of text.matchAll(variable)) {
    source += literal(text.slice(end, found.index));
    end = found.index + found[0].length;
    const { nginx, of, apache } = found.groups!;
    if (apache === '%') {
      source += '%';
      continue;
    }
    const meaning = nginx === undefined ? apacheMeaning(apache!, of) : ofNginx[nginx];
    fields.push({ name: found[0], meaning });
    const isQuoted = text[found.index - 1] === '"';
    source += isQuoted
      ? '((?:[^"\\\\]|\\\\.)*?)'
      : apache === 't' && of === undefined
        ? '(\\[[^\\]]*\\])'
        : '(.*?)';
  }
  return { source: source + literal(text.slice(end)), fields };
}

function apacheMeaning(letter: string, of: string | undefined): Meaning | undefined {
  if (letter === 'T' && of !== undefined) {
    return of === 'ms' ? 'took ms' : of === 'us' ? 'took µs' : 'took s';
  }
  // %{Host}i and the like name a header; %{…}t takes a format that only Apache knows.
  return of === undefined ? ofApache[letter] : undefined;
}

function literal(text: string): string {
  return text
    .replaceAll('\\"', '"')
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/[ \t]+/g, '\\s+');
}

/** Field patterns with their nginx log_format names; `$_` is a field unrelated to the request. */
const looks: readonly [expression: RegExp, name: string][] = [
  [/^\[[^\]]*\d{4}[^\]]*\]/, '[$time_local]'],
  [/^"[A-Z]{3,8} \S+(?: HTTP\/[\d.]+)?"/, '"$request"'],
  [/^"(?:[^"\\]|\\.)*"/, '"$_"'],
  [/^\[[^\]]*\]/, '[$_]'],
  [/^\d{10}\.\d{3}(?=\s|$)/, '$msec'],
  [/^\d{4}-\d\d-\d\dT\S+/, '$time_iso8601'],
  [/^[1-5]\d\d(?=\s|$)/, '$status'],
  [/^\d{1,5}\.\d{3}(?=\s|$)/, '$request_time'],
  [/^\S+/, '$_'],
];

/** Suggests a `--format` for a line that was not understood; undefined if it contains no request or no status. */
export function guessFormat(line: string): string | undefined {
  let rest = line.trim();
  const words: string[] = [];
  const once = new Set<string>();
  while (rest !== '' && words.length < 60) {
    for (const [expression, name] of looks) {
      const found = expression.exec(rest);
      if (found === null) continue;
      const isFirst = !once.has(name);
      once.add(name);
      words.push(isFirst || name.includes('$_') ? name : '$_');
      rest = rest.slice(found[0].length).trimStart();
      break;
    }
  }
  return once.has('"$request"') && once.has('$status') ? words.join(' ') : undefined;
}
