import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 10;
/** Max number of looks in a row at threads that may be writing, or doing something else. */
const MAX_DOUBTS = 10;
const TASKS = '/proc/self/task';

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for `ms` milliseconds. */
export function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

/**
 * Blocks until no other thread of the process writes to the descriptor, up to `maxMs` milliseconds.
 *
 * Node reports the end of a write in the event loop, which no longer turns once the process exits. Bytes written before the end
 * mix with the rest of the write if the reader is slower than that. Linux shows the current system call of each thread; on other
 * systems the thread gets a moment.
 */
export function awaitWrite(fd: number, maxMs: number): void {
  let doubts = 0;
  for (let waitedMs = 0; waitedMs < maxMs; waitedMs += LOOK_MS) {
    pause(LOOK_MS);
    const seen = lookAtThreads(fd);
    if (seen === 'elsewhere') return;
    doubts = seen === 'running' ? doubts + 1 : 0;
    if (doubts === MAX_DOUBTS) return;
  }
}

function lookAtThreads(fd: number): 'writing' | 'running' | 'elsewhere' {
  let seen: 'running' | 'elsewhere' = 'elsewhere';
  try {
    for (const thread of readdirSync(TASKS)) {
      // `running`, or the number of the call and its arguments. This thread is reading that file.
      const [call, first] = readFileSync(`${TASKS}/${thread}/syscall`, 'latin1').trim().split(' ');
      if (call === 'running') seen = 'running';
      else if (call !== '-1' && Number(first) === fd) return 'writing';
    }
  } catch {
    // Another system, a kernel without the file, or a thread that has ended.
  }
  return seen;
}
