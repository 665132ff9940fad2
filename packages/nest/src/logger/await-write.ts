import { readdirSync, readFileSync } from 'node:fs';

const LOOK_MS = 10;
/** How often threads that may be writing, or anything else, are worth another look. */
const MOST_DOUBTS = 10;
const TASKS = '/proc/self/task';

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread. */
export function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

/**
 * Blocks until no other thread of the process writes to the descriptor, for `mostMs` at most.
 *
 * Node says that a write is over in the event loop, which turns no more once the process exits. What is written before
 * then mixes with the rest of the write if the reader is slower than that. Linux tells in which system call each thread
 * is; elsewhere the thread gets a moment.
 */
export function awaitWrite(fd: number, mostMs: number): void {
  let doubts = 0;
  for (let waitedMs = 0; waitedMs < mostMs; waitedMs += LOOK_MS) {
    pause(LOOK_MS);
    const seen = lookAtThreads(fd);
    if (seen === 'elsewhere') return;
    doubts = seen === 'running' ? doubts + 1 : 0;
    if (doubts === MOST_DOUBTS) return;
  }
}

function lookAtThreads(fd: number): 'writing' | 'running' | 'elsewhere' {
  let seen: 'running' | 'elsewhere' = 'elsewhere';
  try {
    for (const thread of readdirSync(TASKS)) {
      // `running`, or the number of the call and what it was called with. This thread is reading that file.
      const [call, first] = readFileSync(`${TASKS}/${thread}/syscall`, 'latin1').trim().split(' ');
      if (call === 'running') seen = 'running';
      else if (call !== '-1' && Number(first) === fd) return 'writing';
    }
  } catch {
    // Another system, a kernel without it, or a thread that has ended.
  }
  return seen;
}
