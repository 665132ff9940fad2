import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  block,
  describeError,
  moment,
  settled,
  type Behaviours,
  type ChildProcessModule,
} from './trace.ts';

type Answer = [error: unknown, stdout: unknown, stderr: unknown];

function exec(cp: ChildProcessModule, ...args: unknown[]): Promise<Answer> {
  return call(cp.exec, args);
}

function execFile(cp: ChildProcessModule, ...args: unknown[]): Promise<Answer> {
  return call(cp.execFile, args);
}

function call(run: unknown, args: unknown[]): Promise<Answer> {
  return new Promise((resolve) => {
    Reflect.apply(run as () => void, undefined, [
      ...args,
      (error: unknown, stdout: unknown, stderr: unknown) =>
        resolve([describeError(error), shape(stdout), shape(stderr)]),
    ]);
  });
}

function shape(output: unknown): unknown {
  return Buffer.isBuffer(output) ? { buffer: output.toString('latin1') } : output;
}

const both = 'echo out; echo err >&2';
/** Says something at once when it is to end. */
const complaining = 'trap "echo caught; exit 7" TERM; echo ready; read line; exit 8';

/** What ten do at once, of those that had got ready: what one does seldom, another does. */
async function often(run: () => Promise<unknown>): Promise<unknown> {
  const outcomes = await Promise.all(Array.from({ length: 10 }, run));
  const texts = outcomes.map((outcome) => JSON.stringify(outcome));
  return [...new Set(texts.filter((text) => text.includes('read')))];
}

const folder = mkdtempSync(join(tmpdir(), 'redline-collected-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** With a file of its own, which does not exist yet. */
function apart(run: (file: string) => Promise<Answer>): Promise<Answer> {
  return run(join(folder, `${files++}`));
}

/** Keeps the thread until a child has made the file. */
function blockUntil(file: string): void {
  while (!existsSync(file)) block(5);
}

export const collected: Behaviours = {
  'what the callback is called on, and with': (cp) =>
    Promise.all(
      ['exit 0', 'exit 3'].map(
        (code) =>
          new Promise((resolve) =>
            cp.exec(code, function (this: unknown, ...args: unknown[]) {
              resolve([typeof this, args.length]);
            }),
          ),
      ),
    ),
  exec: (cp) => exec(cp, both),
  'exec that fails': (cp) => exec(cp, `${both}; exit 3`),
  'exec of what is not there': (cp) => exec(cp, 'redline-no-such-program'),
  'exec with a signal': (cp) => exec(cp, 'kill -KILL $$'),
  'exec with options': (cp) => exec(cp, 'pwd; echo $A', { cwd: '/usr', env: { A: 'b' } }),
  'exec with another shell': (cp) => exec(cp, 'echo $0', { shell: '/bin/bash' }),
  'exec with undefined and null for options': async (cp) => [
    await exec(cp, 'echo x', undefined),
    await exec(cp, 'echo x', null),
  ],
  execFile: (cp) => execFile(cp, 'sh', ['-c', both]),
  'execFile without arguments': (cp) => execFile(cp, 'pwd', { cwd: '/usr' }),
  'execFile with a file alone': (cp) => execFile(cp, 'true'),
  'execFile that fails': (cp) => execFile(cp, 'sh', ['-c', `${both}; exit 3`]),
  'execFile of what is not there': (cp) => execFile(cp, 'redline-no-such-program', ['a', 'b']),
  'execFile with shell': (cp) => execFile(cp, 'echo', ['$((1+1))'], { shell: true }),
  'a callback that is null': async (cp) => {
    const child = cp.execFile('true', [], {}, null as never);
    await settled(child);
    return child.exitCode;
  },
  'no callback': async (cp) => {
    const child = cp.exec('echo x; exit 2');
    await settled(child);
    return child.exitCode;
  },
  encodings: async (cp) => {
    const answers: unknown[] = [];
    for (const encoding of [
      'utf8',
      'buffer',
      null,
      'latin1',
      'hex',
      'base64',
      'utf16le',
      'nothing',
      undefined,
    ]) {
      answers.push([encoding, await exec(cp, "printf 'ä€'; printf 'ü' >&2", { encoding })]);
    }
    return answers;
  },
  'bytes that are no text': (cp) => exec(cp, String.raw`printf '\377\376a'`),
  'an output cut in a character': (cp) => exec(cp, String.raw`printf 'a\342\202'`),
  'much output': async (cp) => {
    const [error, stdout] = await execFile(cp, 'head', ['-c', '900000', '/dev/zero'], {
      encoding: 'latin1',
    });
    return [error, (stdout as string).length];
  },
  'more output than maxBuffer': async (cp) => {
    const [error, stdout, stderr] = await exec(cp, 'yes', { maxBuffer: 100 });
    return [error, stdout, stderr];
  },
  'more errors than maxBuffer': async (cp) => exec(cp, 'yes >&2', { maxBuffer: 100 }),
  'the default of maxBuffer': async (cp) => {
    const [error, stdout] = await exec(cp, 'head -c 2000000 /dev/zero');
    return [error, (stdout as string).length];
  },
  'exactly maxBuffer': (cp) => exec(cp, 'printf 12345', { maxBuffer: 5 }),
  'one more than maxBuffer': (cp) => exec(cp, 'printf 123456', { maxBuffer: 5 }),
  'one more than maxBuffer as bytes': (cp) =>
    exec(cp, 'printf 123456', { maxBuffer: 5, encoding: 'buffer' }),
  'maxBuffer counts bytes and cuts characters': (cp) =>
    exec(cp, "printf '中文测试'", { maxBuffer: 11 }),
  'maxBuffer of 0, Infinity, null and undefined': async (cp) => [
    await exec(cp, 'printf x', { maxBuffer: 0 }),
    await exec(cp, 'true', { maxBuffer: 0 }),
    await exec(cp, 'printf x', { maxBuffer: Infinity }),
    await exec(cp, 'printf x', { maxBuffer: null }),
    await exec(cp, 'printf x', { maxBuffer: undefined }),
  ],
  timeout: (cp) => exec(cp, 'printf before; exec sleep 10', { timeout: 100 }),
  'timeout with killSignal': (cp) =>
    exec(cp, 'exec sleep 10', { timeout: 50, killSignal: 'SIGKILL' }),
  'timeout of a child that ends itself': (cp) =>
    exec(cp, 'trap "exit 5" TERM; while :; do sleep 0.01; done', { timeout: 100 }),
  abort: (cp) => {
    const controller = new AbortController();
    const sleep = (...args: unknown[]) => {
      const child = Reflect.apply(cp.execFile, undefined, args) as ChildProcess;
      child.once('spawn', () => controller.abort());
    };
    return call(sleep, ['sleep', ['10'], { signal: controller.signal }]);
  },
  'an abort that the child has something to say to': (cp) =>
    often(async () => {
      const controller = new AbortController();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const { signal } = controller;
      const child = cp.execFile('sh', ['-c', complaining], { signal }, (error, stdout) =>
        resolve([describeError(error), stdout]),
      );
      // It is ready once its prompt is in the pipe, which is not looked at: that would make it a stream.
      await moment(100);
      controller.abort();
      const outcome = await promise;
      await settled(child);
      return outcome;
    }),
  'abort before': (cp) => execFile(cp, 'sleep', ['10'], { signal: AbortSignal.abort() }),
  'killing the child': (cp) =>
    new Promise((resolve) => {
      const child = cp.execFile('sleep', ['10'], (error) => resolve(describeError(error)));
      child.kill('SIGINT');
    }),
  'streams beside the callback': async (cp) => {
    const seen: string[] = ['', ''];
    const answer = await new Promise<Answer>((resolve) => {
      const child = cp.exec(both, (error, stdout, stderr) =>
        resolve([describeError(error), stdout, stderr]),
      );
      child.stdout!.on('data', (chunk) => (seen[0] += chunk));
      child.stderr!.on('data', (chunk) => (seen[1] += chunk));
    });
    return [seen, answer];
  },
  'streams looked at late': async (cp) => {
    const answer = new Promise<Answer>((resolve) => {
      const child = cp.exec(`${both}; sleep 0.2; echo more`, (error, stdout, stderr) =>
        resolve([describeError(error), stdout, stderr]),
      );
      setTimeout(() => child.stdout!.on('data', () => {}), 80);
    });
    return answer;
  },
  'more output than maxBuffer on a stream': (cp) =>
    new Promise((resolve) => {
      const child = cp.exec('yes', { maxBuffer: 10 }, (error, stdout) =>
        resolve([describeError(error), stdout]),
      );
      child.stdout!.on('data', () => {});
    }),
  'an encoding set on the stream': (cp) =>
    new Promise((resolve) => {
      const child = cp.exec('printf ab', { encoding: 'buffer' }, (error, stdout, stderr) =>
        resolve([describeError(error), shape(stdout), shape(stderr)]),
      );
      child.stdout!.setEncoding('hex');
    }),
  'stdin of exec': (cp) =>
    new Promise((resolve) => {
      const child = cp.exec('cat', (error, stdout) => resolve([describeError(error), stdout]));
      child.stdin!.end('given');
    }),
  'a stream looked at after the timeout': async (cp) => {
    const child = cp.execFile('sleep', ['10'], { timeout: 100 }, () => {});
    await settled(child);
    try {
      for await (const _ of child.stdout!);
      return 'iterated';
    } catch (error) {
      return describeError(error);
    }
  },
  'a grandchild that holds the output': (cp) => exec(cp, '(sleep 0.2; echo late) & echo early'),
  promises: async (cp) => {
    const run = promisify(cp.exec);
    const runFile = promisify(cp.execFile);
    const pending = runFile('echo', ['x']);
    return [
      run.name,
      runFile.name,
      typeof pending.child.kill,
      await pending,
      await run('exit 3').catch(describeError),
      await runFile('redline-no-such-program').catch(describeError),
      await runFile('echo', ['y'], { encoding: 'buffer' }).then(({ stdout }) => shape(stdout)),
      Object.getOwnPropertyDescriptor(cp.exec, promisify.custom)?.enumerable,
    ];
  },
  'events beside the callback': async (cp) => {
    const order: unknown[] = [];
    const child = cp.exec('exit 4', () => order.push('callback'));
    child.on('exit', (code) => order.push(['exit', code]));
    child.on('close', (code) => order.push(['close', code]));
    await settled(child);
    return [order, child.listenerCount('close'), child.listenerCount('error')];
  },
  'output that comes behind too much of the other': (cp) =>
    apart(async (file) => {
      const wait = 'while [ ! -e $FILE-go ]; do sleep 0.01; done';
      const command = `${wait}; head -c 25000 /dev/zero >&2; echo out; : > $FILE; exec sleep 20`;
      const env = { ...process.env, FILE: file };
      const answer = exec(cp, command, { maxBuffer: 1000, env });
      // The loop looks for output by now: what came first is seen first.
      await moment();
      writeFileSync(`${file}-go`, '');
      blockUntil(file);
      return answer;
    }),
  'too much of both outputs at once': async (cp) => {
    const answers: unknown[] = [];
    for (const limit of [3, 7]) {
      const ofBoth = apart((file) => {
        const command = 'printf 12345; printf 123456789 >&2; : > $FILE; exec sleep 20';
        const env = { ...process.env, FILE: file };
        const answer = exec(cp, command, { maxBuffer: limit, env });
        blockUntil(file);
        return answer;
      });
      answers.push(await ofBoth);
    }
    return answers;
  },
  'a child that writes when a timeout kills it': (cp) =>
    often(() => exec(cp, complaining, { timeout: 2000 })),
  'a child that writes when too much output kills it': (cp) =>
    often(() => exec(cp, complaining, { maxBuffer: 5 })),
  'a child that writes when too much of its errors kills it': (cp) =>
    often(() => exec(cp, `exec 3>&1 >&2; ${complaining}`, { maxBuffer: 5 })),
  'a child that writes when too much of a stream kills it': (cp) =>
    often(async () => {
      const child = cp.exec(complaining, { maxBuffer: 5 });
      child.stdout!.on('data', () => {});
      await settled(child);
      return ['ready', child.exitCode, child.signalCode];
    }),
  'an error nobody calls back for': async (cp) => {
    const child = cp.execFile('redline-no-such-program');
    await settled(child);
    await moment();
    return child.exitCode;
  },
};
