import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bad, badExec } from './bad-input.ts';
import { type Behaviours, type ChildProcessModule, describeError } from './trace.ts';

type Call = 'spawnSync' | 'execSync' | 'execFileSync';

/** What a call returns or throws, with everything that a program could look at. */
function outcome(cp: ChildProcessModule, call: Call, ...args: unknown[]): unknown {
  try {
    return { returned: facts(Reflect.apply(cp[call] as () => unknown, undefined, args)) };
  } catch (error) {
    return { thrown: facts(error), keys: Object.keys(error as object) };
  }
}

function facts(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { buffer: shorten(value.toString('latin1')) };
  if (typeof value === 'string') return shorten(value);
  if (Array.isArray(value)) return value.map(facts);
  if (value instanceof Error) return factsOfError(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, member]) => [
    key,
    key === 'pid' ? member > 0 : facts(member),
  ]);
}

function factsOfError(error: Error): unknown {
  // An error of execSync carries itself.
  const { error: inner, pid, ...rest } = error as Error & Record<string, unknown>;
  const plain = Object.assign(new Error(error.message), rest);
  Object.defineProperty(plain, 'stack', { value: error.stack });
  const described = describeError(plain) as { rest: Record<string, unknown> };
  return {
    ...described,
    message: shorten(error.message),
    firstLine: undefined,
    className: error.constructor.name,
    rest: facts(described.rest),
    isItself: inner === undefined ? undefined : inner === error,
    pid: pid === undefined ? undefined : (pid as number) > 0,
  };
}

/** Long output by its length: where a limit cuts it is a matter of blocks. */
function shorten(text: string): string {
  return text.length > 5000 ? `${text.slice(0, 10)}… ${text.length}` : text;
}

const spawnSync = (cp: ChildProcessModule, ...args: unknown[]) => outcome(cp, 'spawnSync', ...args);
const shell = (cp: ChildProcessModule, code: string, options?: object) =>
  spawnSync(cp, 'sh', ['-c', code], options);
const both = 'echo out; echo err >&2';

function withFile<Result>(use: (path: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'redline-sync-'));
  try {
    return use(join(folder, 'file'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program of its own, where stdio of the calling process matters. */
function program(cp: ChildProcessModule, code: string): unknown {
  const engine =
    cp === process.getBuiltinModule('node:child_process') ? 'node:child_process' : index;
  return facts(
    process
      .getBuiltinModule('node:child_process')
      .spawnSync(
        process.execPath,
        ['--no-warnings', '--input-type=module', '-e', `import * as cp from '${engine}';${code}`],
        { encoding: 'utf8', input: 'given\n' },
      ),
  );
}

const index = join(import.meta.dirname, '../../src/index.ts');

export const sync: Behaviours = {
  spawnSync: (cp) => shell(cp, both),
  'without arguments': (cp) => spawnSync(cp, 'true'),
  'options in place of arguments': (cp) => spawnSync(cp, 'pwd', { cwd: '/usr' }),
  'undefined and null for arguments': (cp) => [
    spawnSync(cp, 'true', undefined, { encoding: 'utf8' }),
    spawnSync(cp, 'true', null, { encoding: 'utf8' }),
  ],
  'an exit code': (cp) => shell(cp, 'exit 77'),
  'a signal': (cp) => shell(cp, 'kill -KILL $$'),
  'a real-time signal': (cp) => shell(cp, 'kill -40 $$'),
  'arguments that are not strings': (cp) => spawnSync(cp, 'echo', [1, true, null, undefined, {}]),
  'a program that is not there': (cp) => spawnSync(cp, 'redline-no-such-program', ['a', 'b']),
  'a file that is not a program': (cp) => spawnSync(cp, '/etc/passwd'),
  'a script without an interpreter': (cp) =>
    withFile((path) => {
      writeFileSync(path, 'echo $1', { mode: 0o755 });
      return spawnSync(cp, path, ['x']);
    }),
  'a folder that is not there': (cp) => spawnSync(cp, 'true', { cwd: '/nowhere' }),
  'an empty cwd': (cp) => spawnSync(cp, 'true', { cwd: '' }),
  'a cwd that is a URL': (cp) => spawnSync(cp, 'pwd', { cwd: new URL('file:///usr') }),
  'a name too long': (cp) => spawnSync(cp, `/${'x'.repeat(300)}`),
  'arguments too long': (cp) => spawnSync(cp, 'true', ['x'.repeat(200_000)]),
  env: (cp) => spawnSync(cp, 'env', { env: { A: 'b', C: undefined, D: 1 } }),
  'an empty env': (cp) => spawnSync(cp, '/usr/bin/env', { env: {} }),
  'the env of the process': (cp) => {
    process.env['REDLINE_SYNC'] = 'here';
    const seen = shell(cp, 'echo $REDLINE_SYNC');
    delete process.env['REDLINE_SYNC'];
    return [seen, shell(cp, 'echo $REDLINE_SYNC')];
  },
  argv0: (cp) => spawnSync(cp, 'sh', ['-c', 'echo $0'], { argv0: 'other' }),
  shell: (cp) => [
    spawnSync(cp, 'echo $((1+1))', { shell: true }),
    spawnSync(cp, 'echo $0', { shell: '/bin/bash' }),
    spawnSync(cp, 'echo', ['$HOME', '|', 'wc', '-l'], { shell: true }),
  ],
  detached: (cp) => shell(cp, "ps -o pid=,sid= -p $$ | awk '{print $1 == $2}'", { detached: true }),
  'uid and gid': (cp) => [
    shell(cp, 'id -u; id -g', { uid: process.getuid!(), gid: process.getgid!() }),
    shell(cp, 'id -u; id -g; id -G', { uid: 65534, gid: 65534 }),
  ],
  encoding: (cp) =>
    ['utf8', 'hex', 'base64', 'latin1', 'buffer', '', null, undefined].map((encoding) =>
      shell(cp, both, { encoding }),
    ),
  'an encoding that is none': (cp) => shell(cp, both, { encoding: 'nothing' }),

  'input as text': (cp) => spawnSync(cp, 'cat', { input: 'text' }),
  'input as text of an encoding': (cp) => spawnSync(cp, 'cat', { input: '6162', encoding: 'hex' }),
  'input as bytes': (cp) =>
    [Buffer.from('x'), new Uint16Array([0x4141, 0x4242]), new DataView(new ArrayBuffer(3), 1)].map(
      (input) => spawnSync(cp, 'cat', { input }),
    ),
  'empty input': (cp) => [
    spawnSync(cp, 'cat', { input: '' }),
    spawnSync(cp, 'cat', { input: Buffer.alloc(0) }),
  ],
  'input of an unknown encoding': (cp) => spawnSync(cp, 'cat', { input: 'x', encoding: 'buffer' }),
  'much input': (cp) => {
    const input = Buffer.alloc(5_000_000, 'abc');
    return spawnSync(cp, 'md5sum', { input, encoding: 'utf8' });
  },
  'much input that comes back': (cp) => {
    const input = Buffer.alloc(5_000_000, 'abc');
    const { stdout, ...rest } = cp.spawnSync('cat', { input, maxBuffer: Infinity });
    return [stdout.equals(input), rest.status, rest.error];
  },
  'input that nobody reads': (cp) => spawnSync(cp, 'true', { input: Buffer.alloc(5_000_000) }),
  'input that is closed': (cp) =>
    shell(cp, 'exec <&-; sleep 0.2; exit 3', { input: Buffer.alloc(5_000_000) }),
  'input where stdin is not a pipe': (cp) =>
    spawnSync(cp, 'cat', { input: 'x', stdio: ['ignore', 'pipe', 'pipe'] }),
  'a stdin that nobody gives anything': (cp) => shell(cp, 'cat; echo end'),
  'a child that writes to its stdin': (cp) => shell(cp, 'echo x >&0; echo $?'),

  'stdio as one word': (cp) =>
    ['pipe', 'ignore', null, ''].map((stdio) => shell(cp, both, { stdio })),
  'stdio inherited': (cp) =>
    program(
      cp,
      `console.log(JSON.stringify(cp.spawnSync('sh', ['-c', 'cat; ${both}'], { stdio: 'inherit', encoding: 'utf8' }).output))`,
    ),
  'stdio by entries': (cp) => [
    shell(cp, both, { stdio: ['ignore', 'pipe', 'ignore'] }),
    shell(cp, both, { stdio: ['pipe', 'ignore'] }),
    shell(cp, both, { stdio: [] }),
    shell(cp, both, { stdio: [null, undefined, -1] }),
  ],
  'more than three entries': (cp) => [
    shell(cp, 'echo a >&3; echo b >&4', {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ignore', null],
    }),
    shell(cp, 'echo a >&9', { stdio: [...Array.from({ length: 9 }, () => 'ignore'), 'pipe'] }),
  ],
  'a descriptor': (cp) =>
    withFile((path) => {
      const fd = openSync(path, 'w+');
      const result = shell(cp, both, { stdio: ['ignore', fd, { fd }] });
      closeSync(fd);
      return [result, readFileSync(path, 'utf8')];
    }),
  'a descriptor that is not open': (cp) =>
    spawnSync(cp, 'true', { stdio: ['ignore', 999, 'pipe'] }),

  timeout: (cp) => shell(cp, 'echo before; exec sleep 20', { timeout: 1000 }),
  'a timeout with another signal': (cp) =>
    [9, 'SIGHUP', 'sigusr1'].map((killSignal) =>
      spawnSync(cp, 'sleep', ['20'], { timeout: 50, killSignal }),
    ),
  'a timeout that is not reached': (cp) => shell(cp, both, { timeout: 20_000 }),
  'a timeout of a child that ignores the signal': (cp) =>
    shell(cp, "trap '' TERM; echo before; sleep 2; exit 4", { timeout: 1000 }),
  'a timeout of a grandchild that holds the pipe': (cp) =>
    shell(cp, '(sleep 5; true) & echo before; exit 4', { timeout: 1500 }),
  'a grandchild that holds the pipe': (cp) =>
    shell(cp, '(sleep 0.2; echo after) & echo before; exit 4'),
  'a timeout while output floods': (cp) => {
    const { stdout, error, signal } = cp.spawnSync('yes', { timeout: 500, maxBuffer: Infinity });
    return [stdout.length > 0, describeError(error) !== undefined, signal];
  },
  'timeouts that are none': (cp) =>
    [0, null, undefined].map((timeout) => shell(cp, both, { timeout })),
  maxBuffer: (cp) => [
    shell(cp, 'printf 12345', { maxBuffer: 5 }),
    shell(cp, 'printf 123456; exec sleep 20', { maxBuffer: 5 }),
    shell(cp, 'printf 123; printf 456 >&2; exec sleep 20', { maxBuffer: 5 }),
  ],
  'maxBuffers that are none': (cp) =>
    [0, null, undefined, Infinity].map((maxBuffer) => shell(cp, 'printf 123456', { maxBuffer })),
  'the maxBuffer of those who give none': (cp) => {
    const { stdout, error, signal } = cp.spawnSync('head', ['-c', String(2 ** 20), '/dev/zero']);
    const over = cp.spawnSync('sh', ['-c', 'head -c 2000000 /dev/zero; exec sleep 20']);
    return [
      stdout.length,
      error,
      signal,
      over.stdout.length > 2 ** 20,
      over.signal,
      describeError(over.error) !== undefined,
    ];
  },
  'a flood': (cp) => {
    const { stdout, status } = cp.spawnSync('head', ['-c', '30000000', '/dev/zero'], {
      maxBuffer: 2 ** 30,
    });
    return [stdout.length, status];
  },
  'killSignal by number and name': (cp) => [
    spawnSync(cp, 'sleep', ['20'], { timeout: 50, killSignal: constants.signals.SIGKILL }),
    spawnSync(cp, 'sleep', ['20'], { timeout: 50, killSignal: null }),
  ],

  execSync: (cp) => outcome(cp, 'execSync', 'echo out'),
  'execSync with options': (cp) => [
    outcome(cp, 'execSync', 'pwd; echo $A', { cwd: '/usr', env: { A: 'b' }, encoding: 'utf8' }),
    outcome(cp, 'execSync', 'echo $0', { shell: '/bin/bash' }),
    outcome(cp, 'execSync', 'cat', { input: 'text' }),
    outcome(cp, 'execSync', 'echo x', null),
    outcome(cp, 'execSync', 'echo x', { stdio: 'ignore' }),
  ],
  'execSync that fails': (cp) => [
    outcome(cp, 'execSync', `${both}; exit 3`, { stdio: 'pipe' }),
    outcome(cp, 'execSync', 'kill -KILL $$', { stdio: 'pipe' }),
    outcome(cp, 'execSync', 'exec sleep 20', { timeout: 50, stdio: 'pipe' }),
    outcome(cp, 'execSync', 'printf 123456; exec sleep 20', {
      maxBuffer: 5,
      stdio: 'pipe',
      encoding: 'utf8',
    }),
    outcome(cp, 'execSync', 'true', { shell: '/nowhere' }),
  ],
  'execSync passes on what goes to stderr': (cp) => [
    program(cp, `console.log(JSON.stringify(cp.execSync('${both}', { encoding: 'utf8' })))`),
    program(
      cp,
      `try { cp.execSync('${both}; exit 3') } catch (error) { console.log(error.message) }`,
    ),
    program(cp, `cp.execSync('${both}', { stdio: 'pipe' })`),
  ],
  execFileSync: (cp) => [
    outcome(cp, 'execFileSync', 'echo', ['out']),
    outcome(cp, 'execFileSync', 'echo'),
    outcome(cp, 'execFileSync', 'pwd', { cwd: '/usr' }),
    outcome(cp, 'execFileSync', 'echo', ['$((1+1))'], { shell: true }),
    outcome(cp, 'execFileSync', 'echo', undefined, { encoding: 'utf8' }),
    outcome(cp, 'execFileSync', 'echo', null, null),
  ],
  'execFileSync that fails': (cp) => [
    outcome(cp, 'execFileSync', 'sh', ['-c', `${both}; exit 3`], { stdio: 'pipe' }),
    outcome(cp, 'execFileSync', 'sh', ['-c', 'exit 3'], { argv0: 'other', stdio: 'pipe' }),
    outcome(cp, 'execFileSync', 'redline-no-such-program', ['a', 'b']),
    outcome(cp, 'execFileSync', 'false', { stdio: 'ignore' }),
  ],

  'spawnSync of bad input': (cp) => [
    ...bad.filter(([, , options]) => !isAsyncOnly(options)).map((args) => spawnSync(cp, ...args)),
    ...[
      { maxBuffer: -1 },
      { maxBuffer: 'x' },
      { maxBuffer: Number.NaN },
      { input: 1 },
      { input: {} },
      { stdio: 'ipc' },
      { stdio: ['pipe', 'pipe', 'pipe', 'ipc'] },
    ].map((options) => spawnSync(cp, 'true', [], options)),
  ],
  'options that the Sync functions ignore': (cp) => [
    spawnSync(cp, 'true', { signal: 1, serialization: 'xml' }),
    spawnSync(cp, 'true', { signal: AbortSignal.abort() }),
  ],
  'bytes and texts among the stdio': (cp) =>
    spawnSync(cp, 'echo', ['x'], { stdio: ['pipe', Buffer.from('a'), 'pipe', 'pipe'] }),
  'execSync of bad input': (cp) => [
    ...badExec.map((args) => outcome(cp, 'execSync', ...args)),
    outcome(cp, 'execSync', 'true', 'text'),
    outcome(cp, 'execSync', 'true', []),
  ],
  'execFileSync of bad input': (cp) =>
    [
      [],
      [1],
      [''],
      ['a\0b'],
      ['true', 'text'],
      ['true', 1],
      ['true', ['a\0b']],
      ['true', [], 'text'],
      ['true', [], []],
      ['true', [], { argv0: 1 }],
      ['true', {}, {}],
      ['true', {}, 1],
      ['true', [], { timeout: -1 }],
      ['true', [], { killSignal: 'SIGNOTHING' }],
      ['true', [], { input: 1 }],
    ].map((args) => outcome(cp, 'execFileSync', ...args)),
  'while others run': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo async; exit 5']);
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    const closed = new Promise((resolve) => child.on('close', resolve));
    const own = shell(cp, 'sleep 0.2; echo sync; exit 6');
    return [own, await closed, text];
  },
};

/** What only the functions with a ChildProcess look at. */
function isAsyncOnly(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'serialization' in options;
}
