import { loadAddon } from '../../native.cjs';

/** What shows who is asking, as the engine sees it. */
export interface Credentials {
  /** Headers, in lower case. */
  readonly headers: readonly string[];
  /** How the names of cookies begin that do not. */
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
