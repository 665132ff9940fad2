import { type tables, loadAddon } from '../../native.cjs';

/** Lists indexed by the numbers in records. */
export interface Tables {
  readonly methods: readonly string[];
  /** In their usual spelling; number 0 is unused. */
  readonly names: readonly string[];
  readonly lowerNames: readonly string[];
  readonly codes: readonly string[];
  readonly reasons: readonly string[];
}

export function readTables({ methods, names, codes, reasons }: ReturnType<typeof tables>): Tables {
  return {
    methods,
    codes,
    reasons,
    names: ['', ...names],
    lowerNames: ['', ...names.map((name) => name.toLowerCase())],
  };
}

/** Headers and cookies that identify a client, from the engine's lists. */
export interface Credentials {
  /** Header names in lower case. */
  readonly headers: readonly string[];
  /** Prefixes of cookie names that do not identify a client. */
  readonly analyticsCookies: readonly string[];
}

let known: Credentials | undefined;

export function credentials(): Credentials {
  if (known === undefined) {
    const { credentials: headers, analyticsCookies } = loadAddon().tables();
    known = { headers, analyticsCookies };
  }
  return known;
}
