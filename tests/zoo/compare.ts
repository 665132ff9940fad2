// Compares what two servers sent, apart from what one of them already sends differently when it is started twice.
import type { Exchange } from './exchange.ts';
import type { Visit } from './visit.ts';

export interface Difference {
  /** The request. */
  ask: string;
  /** `head`, `body`, `end`, `exit` … */
  part: string;
  node: string;
  engine: string;
}

export interface Comparison {
  differences: Difference[];
  /** Responses whose body changes from one start of Node to the next in more than words: their heads alone are compared. */
  unsteady: number;
}

const word = /([\w+/=.%-]+)/;
const recentMs = 86_400_000;

export function compareVisits(node: readonly Visit[], engine: readonly Visit[]): Comparison {
  const differences: Difference[] = [];
  let unsteady = 0;
  const [first, ...others] = node;
  first!.exchanges.forEach((exchange, at) => {
    const asks = [exchange, ...others.map(({ exchanges }) => exchanges[at]!)];
    const seen = engine.map(({ exchanges }) => exchanges[at]!);
    const { name } = exchange;
    const compare = (part: string, textOf: (each: Exchange) => string): boolean => {
      const pattern = patternOf(asks.map(textOf));
      if (pattern === undefined) return false;
      const other = seen.map(textOf).find((text) => !fits(pattern, text));
      if (other !== undefined) {
        const [shown, found] = firstDifference(pattern, textOf(exchange), other);
        differences.push({ ask: name, part, node: shown, engine: found });
      }
      return true;
    };
    compare('head', ({ head }) => plain(head.join('\r\n')));
    if (!compare('body', ({ body }) => plain(body))) unsteady++;
    compare('end', ({ end }) => end);
  });
  for (const visit of engine) {
    const same = node.filter(({ signal }) => signal === visit.signal);
    if (same.length > 0 && !same.some(({ exit }) => exit === visit.exit)) {
      const ask = `shutdown by ${visit.signal}`;
      differences.push({ ask, part: 'exit', node: same[0]!.exit, engine: visit.exit });
    }
  }
  return { differences, unsteady };
}

/** Times of this run are no part of what is compared; those of files are. */
function plain(text: string): string {
  return text
    .replaceAll(/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, recent)
    .replaceAll(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, recent)
    .replaceAll(/\b1[78]\d{8}(\d{3})?(\.\d+)?\b/g, (digits) =>
      Math.abs(Number(digits.slice(0, 10)) * 1_000 - Date.now()) < recentMs ? 'NOW' : digits,
    )
    .replaceAll(/\b\d+(\.\d+)? ?(ms|μs|s)\b/g, 'DURATION')
    .replaceAll(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, 'UUID');
}

function recent(date: string): string {
  return Math.abs(Date.parse(date) - Date.now()) < recentMs ? 'NOW' : date;
}

/** The words that all have in common, with undefined for those that differ; undefined where they differ in more than words. */
function patternOf(texts: readonly string[]): (string | undefined)[] | undefined {
  const [first, ...others] = texts.map((text) => text.split(word));
  if (others.some(({ length }) => length !== first!.length)) return undefined;
  return first!.map((part, at) => (others.every((other) => other[at] === part) ? part : undefined));
}

function fits(pattern: readonly (string | undefined)[], text: string): boolean {
  const parts = text.split(word);
  return (
    parts.length === pattern.length &&
    pattern.every((part, at) => part === undefined || part === parts[at])
  );
}

/** The surroundings of the first word that the pattern does not have. */
function firstDifference(
  pattern: readonly (string | undefined)[],
  one: string,
  other: string,
): [string, string] {
  const [expected, found] = [one.split(word), other.split(word)];
  const at = pattern.findIndex((part, index) => part !== undefined && part !== found[index]);
  const near = (parts: readonly string[]): string =>
    parts
      .slice(Math.max(0, at - 4), at < 0 ? undefined : at + 8)
      .join('')
      .slice(0, 200);
  return [near(expected), near(found)];
}
