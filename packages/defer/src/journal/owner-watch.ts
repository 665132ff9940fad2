import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { isHeld } from './alive-socket.ts';
import { isAlive, lifeSign, parseFolderName } from './owner.ts';

/** Detects journals that have lost their owner: by its process, otherwise by its socket, otherwise by time. */
export class OwnerWatch {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #strangerTimeoutMs: number;
  readonly #strangers = new Map<string, { sign: number | undefined; sinceMs: number }>();

  constructor(directory: string, clock: Clock, strangerTimeoutMs: number) {
    this.#directory = directory;
    this.#clock = clock;
    this.#strangerTimeoutMs = strangerTimeoutMs;
  }

  /** `folder` is one of `names`, the entries of the directory. */
  async isOrphan(folder: string, names: readonly string[]): Promise<boolean> {
    const { owner } = parseFolderName(folder)!;
    const alive = isAlive(owner) ?? (await isHeld(this.#directory, owner, names));
    return alive === undefined ? this.#showsNoLife(folder) : !alive;
  }

  #showsNoLife(folder: string): boolean {
    const sign = lifeSign(join(this.#directory, folder));
    const now = this.#clock.now();
    const seen = this.#strangers.get(folder);
    if (seen === undefined || seen.sign !== sign) {
      this.#strangers.set(folder, { sign, sinceMs: now });
      return false;
    }
    if (now - seen.sinceMs < this.#strangerTimeoutMs) return false;
    this.#strangers.delete(folder);
    return true;
  }
}
