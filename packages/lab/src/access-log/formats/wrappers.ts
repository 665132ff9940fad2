/** A program that puts its own prefix before each line of another program's log. */
interface Wrapper {
  name: string;
  /** The group `who` names the process that wrote the line. */
  prefix: RegExp;
  sample: (line: string) => string;
}

/** A line may have several: `kubectl logs --prefix --timestamps`. */
export const wrappers: readonly Wrapper[] = [
  {
    name: 'CRI',
    prefix: /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) F /,
    sample: (line) => `2026-10-10T13:55:36.123456789Z stdout F ${line}`,
  },
  {
    name: 'kubectl logs --prefix',
    prefix: /^\[(?<who>pod\/[^\]]+)\] /,
    sample: (line) => `[pod/api-7f9c/api] ${line}`,
  },
  {
    name: 'kubectl logs --timestamps',
    prefix: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(?:Z|[+-]\d\d:\d\d) /,
    sample: (line) => `2026-10-10T13:55:36.123456789Z ${line}`,
  },
  {
    name: 'docker compose logs',
    prefix: /^(?<who>[\w.-]+) +\| /,
    sample: (line) => `web-1  | ${line}`,
  },
  {
    name: 'PM2',
    prefix: /^(?<who>\d+\|[^|]+?) *\| (?:\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?: )?/,
    sample: (line) => `0|api      | ${line}`,
  },
  {
    name: 'journald or syslog',
    prefix:
      /^(?:<\d+>\d? ?)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ (?<who>[\w./@-]+(?:\[\d+\])?): /,
    sample: (line) => `Oct 10 13:55:36 web-1 api[812]: ${line}`,
  },
];

/** Returns the line without its wrappers, and the process that wrote it as far as they name it. */
export function unwrap(line: string): { text: string; who: string } {
  let text = line;
  let who = '';
  // Two wrappers are usual and three the maximum seen; the bound stops a strange line from looping.
  for (let depth = 0; depth < 4; depth++) {
    const found = firstPrefix(text);
    if (found === null) break;
    text = text.slice(found[0].length);
    who += found.groups?.['who'] ?? '';
  }
  return { text, who };
}

function firstPrefix(text: string): RegExpExecArray | null {
  for (const { prefix } of wrappers) {
    const found = prefix.exec(text);
    if (found !== null) return found;
  }
  return null;
}
