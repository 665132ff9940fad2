// Files of four sizes, by `send` and Express on Node and on the engine, and by nginx. Variants are named CONTENDER/SIZE.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type RedlineConfig } from '@redline/lab';
import { engine } from '@redline/http';
import { debianEnv, obtainFromDebian } from '../contenders/obtain-debian.ts';

type Group = NonNullable<RedlineConfig['groups']>[string];

const programs = join(import.meta.dirname, '../contenders/files');
const server = (by: string): string[] => ['node', join(programs, 'server.js'), by];
const ours = { ENGINE: 'redline' };
const contenders: { name: string; note: string; command: string[]; env?: typeof ours }[] = [
  { name: 'send-node', note: '`send` on node:http', command: server('send') },
  { name: 'send-redline', note: '`send` on @redline/http', command: server('send'), env: ours },
  { name: 'express-node', note: '`express.static` on node:http', command: server('express') },
  {
    name: 'express-redline',
    note: '`express.static` on @redline/http',
    command: server('express'),
    env: ours,
  },
  { name: 'nginx', note: 'sendfile, one process', command: ['node', join(programs, 'nginx.js')] },
];

/** File → its size, and the rate of the open loop. */
const sizes: Record<string, { title: string; bytes: number; load: Group['load'] }> = {
  '1k': { title: '1 KiB', bytes: 1024, load: { connections: 16, openLoopRps: 500 } },
  '64k': { title: '64 KiB', bytes: 64 * 1024, load: { connections: 16, openLoopRps: 300 } },
  '1m': { title: '1 MiB', bytes: 1024 ** 2, load: { connections: 16, openLoopRps: 50 } },
  '16m': { title: '16 MiB', bytes: 16 * 1024 ** 2, load: { connections: 4, openLoopRps: 5 } },
};

/** Returns bytes that differ at every position. */
function contentOf(bytes: number): Buffer {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 4) content.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return content;
}

export default defineConfig({
  name: 'files',
  title: 'Files that are in memory',
  load: { turns: false },
  precision: { restarts: 3, blocks: 3, sliceMs: 300, warmupMs: 1_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, sliceMs: 250, warmupMs: 600, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(sizes).map(([size, { title, load }]) => [
      size,
      { title: `GET of ${title}`, requests: [`/${size}`], ...(load && { load }) },
    ]),
  ),
  variants: Object.keys(sizes).flatMap((size) =>
    contenders.map(({ name, note, command, env = {} }) => ({
      name: `${name}/${size}`,
      note,
      group: size,
      command,
      env,
      ...(['64k', '1m'].includes(size) ? {} : { quick: false as const }),
    })),
  ),

  async setup() {
    const folder = mkdtempSync(join(tmpdir(), 'redline-bench-files-'));
    const files = join(folder, 'files');
    const work = join(folder, 'work');
    for (const each of [files, work]) mkdirSync(each);
    for (const [size, { bytes }] of Object.entries(sizes)) {
      writeFileSync(join(files, size), contentOf(bytes));
    }
    const missing: Record<string, string> = {};
    const nginx = await obtainFromDebian('nginx', 'nginx');
    if ('missing' in nginx) missing['nginx'] = nginx.missing;
    const served = engine();
    if (served.name !== 'native') {
      missing['send-redline'] = missing['express-redline'] = served.reason;
    }
    const skip = Object.keys(sizes).flatMap((size) =>
      Object.entries(missing).map(([name, reason]) => [`${name}/${size}`, reason]),
    );
    return {
      env: {
        ...debianEnv(),
        FILES_FOLDER: files,
        WORK_FOLDER: work,
        NGINX: 'file' in nginx ? nginx.file : '',
      },
      skip: Object.fromEntries(skip),
      stop: () => rmSync(folder, { recursive: true, force: true }),
    };
  },

  /** Compares every byte. */
  async verify({ name, url }) {
    const size = name.split('/')[1]!;
    const response = await fetch(`${url}/${size}`);
    const body = Buffer.from(await response.arrayBuffer());
    assert.equal(response.status, 200);
    assert.ok(body.equals(contentOf(sizes[size]!.bytes)), `${name} sends other bytes`);
  },
});
