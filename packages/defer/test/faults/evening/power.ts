// A model of power failures: each file and each folder is left in the state of its last sync or in its current one, at random.
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { KeyServer } from '../kill-trials.ts';
import type { Round } from './round.ts';

interface Entry {
  readonly name: string;
  readonly inode: number;
  readonly isFolder: boolean;
}

/** Returns how many power failures there were. */
export async function runPower(round: Round, server: KeyServer, library: string): Promise<number> {
  const { directory, random } = round.settings;
  const shadow = join(directory, '..', 'shadow');
  const model = new PowerModel(directory, shadow, random);
  model.snapshot();
  let failures = 0;
  for (; !round.isOver; failures++) {
    server.isUp = failures % 3 !== 0;
    const env = {
      LD_PRELOAD: library,
      POWER_PART: directory,
      POWER_SHADOW: shadow,
      UV_USE_IO_URING: '0',
    };
    await round.live(() => round.pause(300, 1_200), env);
    model.fail();
    model.snapshot();
  }
  server.isUp = true;
  return failures;
}

class PowerModel {
  readonly #directory: string;
  readonly #shadow: string;
  readonly #random: () => number;

  constructor(directory: string, shadow: string, random: () => number) {
    this.#directory = directory;
    this.#shadow = shadow;
    this.#random = random;
  }

  /** Everything that exists counts as synced. */
  snapshot(): void {
    rmSync(this.#shadow, { recursive: true, force: true });
    mkdirSync(this.#shadow);
    this.#note(this.#directory);
  }

  /** Leaves what the disk has when the power is back. */
  fail(): void {
    const next = `${this.#directory}.next`;
    this.#leave(this.#directory, next);
    rmSync(this.#directory, { recursive: true, force: true });
    renameSync(next, this.#directory);
  }

  #note(folder: string): void {
    const lines = entriesOf(folder).map(({ name, inode, isFolder }) => {
      if (isFolder) this.#note(join(folder, name));
      else copyFileSync(join(folder, name), join(this.#shadow, `f${inode}`));
      return `${name} ${inode} ${isFolder ? 1 : 0}\n`;
    });
    writeFileSync(join(this.#shadow, `d${statSync(folder).ino}`), lines.join(''));
  }

  #leave(folder: string, to: string): void {
    mkdirSync(to);
    const now = entriesOf(folder);
    for (const entry of this.#keepsNow() ? now : this.#synced(folder)) {
      const { name, inode, isFolder } = entry;
      // It may have another name by now.
      const live = now.find((each) => each.inode === inode && (isFolder || each.name === name));
      const target = join(to, name);
      if (!isFolder) writeFileSync(target, this.#bytesOf(folder, entry, live !== undefined));
      else if (live === undefined) mkdirSync(target);
      else this.#leave(join(folder, live.name), target);
    }
  }

  #bytesOf(folder: string, { name, inode }: Entry, isLive: boolean): Buffer {
    if (isLive && this.#keepsNow()) return readFileSync(join(folder, name));
    const copies = isLive ? [`f${inode}`] : [`f${inode}@${name}`, `f${inode}`];
    const copy = copies.map((each) => join(this.#shadow, each)).find((each) => existsSync(each));
    return copy === undefined ? Buffer.alloc(0) : readFileSync(copy);
  }

  #synced(folder: string): Entry[] {
    const note = join(this.#shadow, `d${statSync(folder).ino}`);
    if (!existsSync(note)) return [];
    return readFileSync(note, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('.alive '))
      .map((line) => {
        const [name, inode, isFolder] = line.split(' ') as [string, string, string];
        return { name, inode: Number(inode), isFolder: isFolder === '1' };
      });
  }

  #keepsNow(): boolean {
    return this.#random() < 0.5;
  }
}

/* Without sockets, which no power failure leaves. */
function entriesOf(folder: string): Entry[] {
  return readdirSync(folder).flatMap((name) => {
    const facts = lstatSync(join(folder, name));
    if (!facts.isFile() && !facts.isDirectory()) return [];
    return { name, inode: facts.ino, isFolder: facts.isDirectory() };
  });
}
