import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Behaviours, type ChildProcessModule } from './trace.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-after-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** What is done right after `spawn()`, which in Node returns after the exec. */
export const afterTheCall: Behaviours = {
  'the program is removed': (cp) => each(20, () => started(cp, program(), unlinkSync)),
  'the program is renamed': (cp) =>
    each(20, () => started(cp, program(), (file) => renameSync(file, `${file}.old`))),
  'the program of a PATH is removed': (cp) =>
    each(20, () => {
      const file = program();
      const name = file.slice(folder.length + 1);
      const child = cp.spawn(name, { env: { PATH: `/nowhere:${folder}` } });
      unlinkSync(file);
      return ended(child);
    }),
  'two of one tick are connected once both have started': (cp) => each(30, () => connected(cp)),
  'two of one tick, one of them missing': (cp) => each(10, () => oneMissing(cp)),
  'the folder is removed': (cp) =>
    each(20, () => {
      const cwd = join(folder, `folder-${count++}`);
      mkdirSync(cwd);
      const child = cp.spawn('true', { cwd });
      rmdirSync(cwd);
      return ended(child);
    }),
  'the folder is renamed': (cp) =>
    each(20, () => {
      const cwd = join(folder, `folder-${count++}`);
      mkdirSync(cwd);
      const child = cp.spawn('/bin/true', { cwd });
      renameSync(cwd, `${cwd}-old`);
      return ended(child);
    }),
  'a port is closed and listened on again': async (cp) => {
    const outcomes = new Map<string, number>();
    const children: Promise<unknown>[] = [];
    let port = 0;
    for (let round = 0; round < 60; round++) {
      const server = createServer();
      server.listen(port, '127.0.0.1');
      const outcome = await once(server, 'listening').then(
        () => 'listening',
        (error: NodeJS.ErrnoException) => error.code!,
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome !== 'listening') continue;
      ({ port } = server.address() as AddressInfo);
      for (let child = 0; child < 3; child++) children.push(ended(cp.spawn('true')));
      server.close();
      await once(server, 'close');
      if (round % 10 === 9) await Promise.all(children);
    }
    await Promise.all(children);
    return [...outcomes];
  },
  'a program is written and run': async (cp) => {
    const children: Promise<unknown>[] = [];
    const outcomes = new Set<unknown>();
    for (let round = 0; round < 60; round++) {
      for (let child = 0; child < 3; child++) children.push(ended(cp.spawn('true')));
      const file = join(folder, `script-${count++}`);
      const fd = openSync(file, 'w', 0o755);
      writeSync(fd, '#!/bin/sh\nexit 0\n');
      closeSync(fd);
      children.push(ended(cp.spawn(file)).then((end) => outcomes.add(end)));
      await new Promise((resolve) => setImmediate(resolve));
      if (round % 10 === 9) await Promise.all(children);
    }
    await Promise.all(children);
    return [...outcomes];
  },
  'a program is copied and run': async (cp) => {
    const children: Promise<unknown>[] = [];
    const outcomes = new Set<unknown>();
    for (let round = 0; round < 60; round++) {
      for (let child = 0; child < 3; child++) children.push(ended(cp.spawn('true')));
      children.push(ended(cp.spawn(program())).then((end) => outcomes.add(end)));
      await new Promise((resolve) => setImmediate(resolve));
      if (round % 10 === 9) await Promise.all(children);
    }
    await Promise.all(children);
    return [...outcomes];
  },
};

/** A program of its own. */
function program(): string {
  const file = join(folder, `program-${count++}`);
  copyFileSync('/bin/true', file);
  chmodSync(file, 0o755);
  return file;
}

function started(
  cp: ChildProcessModule,
  file: string,
  act: (file: string) => void,
): Promise<unknown> {
  const child = cp.spawn(file);
  act(file);
  return ended(child);
}

async function ended(child: ReturnType<ChildProcessModule['spawn']>): Promise<unknown> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve((error as NodeJS.ErrnoException).code));
    child.on('close', resolve);
  });
}

async function each(times: number, act: () => Promise<unknown>): Promise<unknown> {
  const outcomes = new Set<unknown>();
  for (let round = 0; round < times; round++) outcomes.add(await act());
  return [...outcomes];
}

/** What the second gets, and what a reader that is there from the beginning has seen by then. */
async function connected(cp: ChildProcessModule): Promise<unknown> {
  const first = cp.spawn('echo', ['one']);
  let seen = '';
  first.stdout.on('data', (chunk) => (seen += String(chunk)));
  const second = cp.spawn('cat');
  let got = '';
  second.stdout.on('data', (chunk) => (got += String(chunk)));
  await Promise.all([once(first, 'spawn'), once(second, 'spawn')]);
  first.stdout.pipe(second.stdin);
  await once(second, 'close');
  return { seen, got };
}

async function oneMissing(cp: ChildProcessModule): Promise<unknown> {
  const seen: string[] = [];
  const names = ['echo', 'no-such-program'];
  const children = names.map((name) => {
    const child = cp.spawn(name, ['one']);
    for (const event of ['spawn', 'error', 'exit'])
      child.on(event, () => seen.push(`${name}: ${event}`));
    child.stdout?.on('data', () => seen.push(`${name}: data`));
    return child;
  });
  await Promise.all(children.map((child) => new Promise((resolve) => child.on('close', resolve))));
  // Which of the two is first depends on how fast the one starts.
  return [seen.slice(0, 2).toSorted(), seen.slice(2)];
}
