import { readFileSync } from 'node:fs';
import { TelemetryError } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const MAX_TIMER = 2 ** 31 - 1;

/** Reads variables, as OpenTelemetry's specification has them: an empty one counts as unset. A value that nothing here knows is an error. */
export class Variables {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  text(name: string): string | undefined {
    const value = this.#environment[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** The first of several names that is set, and its value. */
  firstOf(names: readonly string[]): readonly [name: string, value: string] | undefined {
    for (const name of names) {
      const value = this.text(name);
      if (value !== undefined) return [name, value];
    }
    return undefined;
  }

  /** @param foreign Values that the specification knows, and this package does not. */
  choice<Choice extends string>(
    name: string,
    choices: readonly Choice[],
    foreign: readonly string[] = [],
  ): Choice | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : chosen(name, value, choices, foreign);
  }

  /** A list of names, each once. */
  list<Choice extends string>(
    name: string,
    choices: readonly Choice[],
    foreign: readonly string[] = [],
  ): Choice[] | undefined {
    const names = this.text(name)
      ?.split(',')
      .map((each) => each.trim());
    const given = names?.filter((each) => each !== '');
    if (given === undefined || given.length === 0) return undefined;
    return [...new Set(given.map((each) => chosen(name, each, choices, foreign)))];
  }

  isTrue(name: string): boolean {
    const value = this.text(name);
    return value !== undefined && chosen(name, value.toLowerCase(), ['true', 'false']) === 'true';
  }

  /** @param accepts Says what is possible. */
  number(
    name: string,
    isPossible: (value: number) => boolean,
    accepts: string,
  ): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isNaN(value) || !isPossible(value)) throw invalid(name, text, accepts);
    return value;
  }

  /** A whole number from `least` on. */
  whole(name: string, least: number): number | undefined {
    const isPossible = (value: number) => Number.isSafeInteger(value) && value >= least;
    return this.number(name, isPossible, `a whole number from ${least} on`);
  }

  /** Milliseconds. More than Node's timers take, which is 24 days, counts as that. */
  milliseconds(name: string): number | undefined {
    const value = this.whole(name, 1);
    return value === undefined ? undefined : Math.min(value, MAX_TIMER);
  }

  url(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const protocol = URL.canParse(value) ? new URL(value).protocol : '';
    if (protocol === 'http:' || protocol === 'https:') return value;
    throw invalid(name, value, 'a URL, such as http://127.0.0.1:4318');
  }

  /** Checks that a file can be read. */
  file(name: string): void {
    const path = this.text(name);
    if (path === undefined) return;
    try {
      readFileSync(path);
    } catch (error) {
      throw invalid(name, path, 'the path of a file that can be read', error as Error);
    }
  }

  /** Checks pairs `key=value` with a comma between them. */
  pairs(name: string): void {
    const text = this.text(name);
    for (const pair of text?.split(',') ?? []) {
      if (pair.trim() !== '' && !isPair(pair)) {
        // The value of a header may be a secret.
        const shown = name.endsWith('_HEADERS') ? '…' : text!;
        throw invalid(name, shown, 'key=value pairs, percent-encoded, with commas between them');
      }
    }
  }
}

function isPair(pair: string): boolean {
  const at = pair.indexOf('=');
  if (at < 1 || pair.slice(0, at).trim() === '') return false;
  try {
    decodeURIComponent(pair);
    return true;
  } catch {
    return false;
  }
}

function chosen<Choice extends string>(
  name: string,
  value: string,
  choices: readonly Choice[],
  foreign: readonly string[] = [],
): Choice {
  if (choices.includes(value as Choice)) return value as Choice;
  const possible = choices.join(', ');
  throw foreign.includes(value)
    ? unsupported(name, value, possible)
    : invalid(name, value, possible);
}

/** @param accepts Says what is possible. */
export function invalid(
  name: string,
  value: string,
  accepts: string,
  cause?: Error,
): TelemetryError {
  const reason = cause === undefined ? '' : ` (${cause.message})`;
  const message = `${name}=${value} is invalid${reason}: use ${accepts}`;
  const options = cause === undefined ? undefined : { cause };
  return new TelemetryError('ERR_REDLINE_TELEMETRY_VARIABLE', message, options);
}

/** @param accepts Says what is possible. */
export function unsupported(name: string, value: string, accepts: string): TelemetryError {
  const message = `${name}=${value} is not supported by @redline/telemetry yet: use ${accepts}`;
  return new TelemetryError('ERR_REDLINE_TELEMETRY_VARIABLE', message);
}
