// Faults of a disk: errors, half writes and delays of the calls below the journal's folder of the app, by a preloaded library.
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { KeyServer } from '../kill-trials.ts';
import type { Round } from './round.ts';

const { EACCES, EDQUOT, EIO, EMFILE, ENOSPC } = constants.errno;

/** Bytes of the page that preload/disk-faults.c describes. */
const places = {
  write: 0,
  sync: 1,
  open: 2,
  short: 3,
  delay: 4,
  half: 5,
  rename: 6,
  truncate: 7,
  oneIn: 8,
} as const;
type Fault = Partial<Record<keyof typeof places, number>>;

export const diskFaults: Readonly<Record<string, Fault>> = {
  'a full disk': { write: ENOSPC },
  'a full disk, now and then': { write: ENOSPC, oneIn: 3 },
  'a used up quota': { write: EDQUOT, sync: EDQUOT },
  'errors of writes': { write: EIO },
  'half a write, then a full disk': { half: ENOSPC },
  'half a write that cannot be cut back': { half: ENOSPC, truncate: EIO },
  'short writes': { short: 1 },
  'errors of syncs': { sync: EIO },
  'errors of syncs, now and then': { sync: EIO, oneIn: 3 },
  'syncs that take 1.5 s': { delay: 15 },
  'too many open files': { open: EMFILE },
  'files that cannot be opened': { open: EACCES },
  'renames that fail': { rename: EACCES },
};

const faultBytesAt = 64;
/** A busy machine may do nothing with its disk while the fault lasts. */
const maxLives = 40;

/** Returns how many calls the library interfered with. */
export async function runDiskFault(
  round: Round,
  name: string,
  server: KeyServer,
  library: string,
): Promise<number> {
  const control = join(round.settings.directory, '..', 'control');
  writeFileSync(control, Buffer.alloc(4_096));
  const env = {
    LD_PRELOAD: library,
    FAULT_CONTROL: control,
    FAULT_PART: round.settings.directory,
    // Calls through io_uring pass no library.
    UV_USE_IO_URING: '0',
  };
  const fd = openSync(control, 'r+');
  const set = (fault: Fault): void => {
    const bytes = Buffer.alloc(faultBytesAt);
    for (const [what, value] of Object.entries(fault)) bytes[places[what as keyof Fault]] = value;
    writeSync(fd, bytes, 0, bytes.length, 0);
  };
  try {
    const fault = diskFaults[name]!;
    // Renames are seldom: most belong to an adoption at the start.
    const isFromStart = fault.rename !== undefined;
    const minLives = isFromStart ? 2 : 1;
    const hits = (): number => {
      const count = Buffer.alloc(4);
      readSync(fd, count, 0, 4, faultBytesAt);
      return count.readUInt32LE();
    };
    const isDone = (life: number): boolean =>
      round.isOver && life >= minLives && (hits() > 0 || life >= maxLives);
    for (let life = 0; !isDone(life); life++) {
      if (isFromStart) set(fault);
      await round.live(async () => {
        await round.pause(100, 400);
        server.isUp = life % 2 === 1;
        set(fault);
        await round.pause(300, 900);
        // Every other time the app is killed while the disk is still bad.
        if (life % 4 < 2) set({});
        if (life % 4 === 0) await round.pause(50, 300);
      }, env);
      set({});
      server.isUp = true;
    }
    return hits();
  } finally {
    closeSync(fd);
    server.isUp = true;
  }
}
