import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@redline/services';
import type { Product } from './database.ts';

export interface Memory {
  readonly bytes: number;
  readonly isCoherent: boolean;
  readonly handlerRuns: number;
  readonly hits: number;
}

/** One process of the API. */
export interface Replica {
  readonly port: number;
  readonly process: ChildProcess;
}

export async function startReplica(env: Record<string, string>): Promise<Replica> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'replica.js')], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`A replica ended with ${child.exitCode}.`);
    const memory = await memoryOf({ port }).catch(() => undefined);
    if (memory?.isCoherent === true) return { port, process: child };
    await sleep(50);
  }
}

export async function memoryOf({ port }: { port: number }): Promise<Memory> {
  return (await (await fetch(`http://127.0.0.1:${port}/memory`)).json()) as Memory;
}

export interface Found {
  readonly status: number;
  readonly product: Product | undefined;
  /** Where it came from: the `X-Cache` header. */
  readonly from: string | null;
}

export async function find(port: number, id: string): Promise<Found> {
  const response = await fetch(`http://127.0.0.1:${port}/products/${id}`);
  const body = (await response.json()) as Product;
  const product = response.status === 200 ? body : undefined;
  return { status: response.status, product, from: response.headers.get('x-cache') };
}

/** The new revision, once a replica says that all caches know; undefined where it says that they may not. */
export async function rename(port: number, id: string, name: string): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/products/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  const body = (await response.json()) as Product;
  return response.status === 200 ? body.revision : undefined;
}
