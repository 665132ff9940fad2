import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { existsSync } from 'node:fs';
import { createPool, type Pool, type PoolOptions } from '../../src/pool/index.ts';

/** A pool that is gone when the test is. */
export function openPool(context: TestContext, options: PoolOptions): Pool {
  const pool = createPool(options);
  context.after(() => pool.close({ killSignal: 'SIGKILL' }));
  return pool;
}

/** Bun on PATH, or in the variable BUN; undefined where there is none. */
export function findBun(): string | undefined {
  if (process.env['BUN']) return process.env['BUN'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'bun')).find((file) => existsSync(file));
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended; its new parent has only not looked yet.
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** Processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        return new RegExp(`^PPid:\\s+${pid}$`, 'm').test(
          readFileSync(`/proc/${each}/status`, 'latin1'),
        );
      } catch {
        return false;
      }
    });
}

export function rssBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) * 1024;
}
