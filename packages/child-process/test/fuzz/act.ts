import type { ChildProcess } from 'node:child_process';
import { Readable, type Duplex } from 'node:stream';
import { short, type Log } from './log.ts';
import type { Deed } from './program.ts';
import { iterate, read, readByHand, share, streamLog } from './reading.ts';

type Module = typeof import('node:child_process');

/** Where deeds are done, and what comes of them. */
export interface Scene {
  readonly cp: Module;
  readonly child: ChildProcess;
  readonly name: string;
  readonly log: Log;
  readonly acts: unknown[];
  /** Whether `exec` or `execFile` reads its outputs. */
  readonly isCollected: boolean;
  /** Whether something is done at "spawn". */
  readonly isSpawnAwaited: boolean;
  /** What is yet to come. */
  readonly pending: Set<unknown>;
}

/** Does something to a child. */
export function act(scene: Scene, deed: Deed): void {
  const { cp, child, name, log, acts, isCollected, isSpawnAwaited, pending } = scene;
  // Only what the deed is about: when a stream is first looked at is a part of the program.
  const stdin = /stdin|^write( much)?$/.test(deed) ? child.stdin : null;
  const stdout = /stdout|read all|by hand|pipe on/.test(deed) ? child.stdout : null;
  const stderr = /stderr|read all/.test(deed) ? child.stderr : null;
  const three = /three/.test(deed) ? (child.stdio?.[3] as Duplex | null | undefined) : null;
  const hasExited = child.exitCode !== null || child.signalCode !== null;
  const look = { name, log, isPastExit: hasExited };
  const note = (fact: unknown) => acts.push([deed, fact]);
  for (const [index, stream] of [stdin, stdout, stderr, three].entries()) {
    // Whoever uses a stream listens for its errors.
    if (stream && !deed.startsWith('look') && !stream.listenerCount('error')) {
      stream.on('error', (error) => streamLog(log, name, index).push(['error', short(error)]));
    }
  }
  switch (deed) {
    case 'kill':
      note(child.kill());
      return;
    case 'kill 0':
      note(child.kill(0));
      return;
    case 'kill SIGKILL':
      note(child.kill('SIGKILL'));
      return;
    case 'kill nothing':
      note(child.kill('SIGNOTHING' as never));
      return;
    case 'write': {
      // "spawn" comes later than Node's, so what comes first, a deed at that moment or the end of a write, is not compared.
      const fact: unknown[] = [deed, 'under way'];
      if (stdin && isSpawnAwaited) acts.push(fact);
      stdin?.write('line\n', (error) => {
        fact[1] = error ? 'failed' : 'written';
        if (!isSpawnAwaited) acts.push(fact);
      });
      return;
    }
    case 'write much':
      // In lines: what `read` takes of it, and the child says again, fits into a pipe that nobody reads.
      stdin?.write(Buffer.alloc(2_000_000, 'y\n'));
      return;
    case 'end stdin':
      stdin?.end();
      return;
    case 'end stdin with data':
      stdin?.end('last\n');
      return;
    case 'destroy stdin':
      stdin?.destroy();
      return;
    case 'destroy stdout':
      stdout?.destroy();
      return;
    case 'destroy stderr':
      stderr?.destroy();
      return;
    case 'destroy stdout with an error':
      stdout?.destroy(new Error('broken'));
      return;
    case 'read stdout':
      read(stdout, 1, look);
      return;
    case 'read stderr':
      read(stderr, 2, look);
      return;
    case 'read all':
      read(stdout, 1, look);
      read(stderr, 2, look);
      return;
    case 'look at stdout':
      note(stdout === null ? null : typeof stdout);
      return;
    case 'look at all':
      note(child.stdio?.map((stream) => stream?.constructor.name ?? null));
      return;
    case 'iterate stdout':
      if (stdout) void iterate(stdout, streamLog(log, name, 1));
      return;
    case 'read by hand':
      if (stdout) readByHand(stdout, streamLog(log, name, 1));
      return;
    case 'pause stdout':
      stdout?.pause();
      return;
    case 'resume stdout':
      stdout?.resume();
      return;
    case 'encode stdout':
      stdout?.setEncoding('latin1');
      return;
    case 'unref':
      child.unref();
      return;
    case 'ref':
      child.ref();
      return;
    case 'unref all':
      child.unref();
      for (const stream of child.stdio ?? []) (stream as { unref?(): void } | null)?.unref?.();
      return;
    case 'pid':
      note(typeof child.pid);
      return;
    case 'write three':
      three?.write('three\n');
      return;
    case 'end three':
      three?.end('three\n');
      return;
    case 'read three':
      read(three ?? null, 3, look);
      return;
    case 'destroy three':
      three?.destroy();
      return;
    case 'send':
      if (child.send) note(child.connected && child.send('hello', () => {}) !== undefined);
      return;
    case 'disconnect':
      if (child.connected) child.disconnect();
      return;
    case 'pipe on':
      // Node never closes the output of one that could not start, once it is another's: it is under "What differs".
      if (stdout && child.pid !== undefined) {
        const next = cp.spawn('cat', { stdio: [stdout, 'pipe', 'ignore'] });
        pending.add(next);
        next.on('close', () => pending.delete(next));
        if (next.stdout) share(stdout, next.stdout, isCollected);
        // Two others that read the same pipe race with each other: each has a list of its own.
        let index = 9;
        while (`${name} fd ${index}` in log) index++;
        read(next.stdout, index, { name, log });
      }
      return;
    case 'pipe stdin':
      if (stdin) Readable.from(['a\n', 'b\n']).pipe(stdin);
      return;
    case 'remove listeners':
      child.removeAllListeners('exit');
      return;
    case 'dispose':
      child[Symbol.dispose]();
      return;
  }
}
