import type { Port as AddonPort } from '../../native.cjs';

/** Counts the servers that keep the loop alive. */
export class References {
  readonly #addon: AddonPort;
  #count = 0;

  constructor(addon: AddonPort) {
    this.#addon = addon;
  }

  add(): void {
    this.#addon.setReferencedServers(++this.#count);
  }

  remove(): void {
    this.#addon.setReferencedServers(--this.#count);
  }
}
