import { loadAddon } from '../../native.cjs';

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
