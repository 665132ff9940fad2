import { attempt, type Behaviours } from './trace.ts';

/** Whatever Node refuses is refused with Node's own error. */
export const bad: unknown[][] = [
  [],
  [''],
  [1],
  [null],
  ['a\0b'],
  ['echo', 'text'],
  ['echo', 1],
  ['echo', ['a\0b']],
  ['/etc/passwd/x'],
  ['./passwd/x', [], { cwd: '/etc' }],
  ['./x', [], { cwd: '/etc/passwd' }],
  ['echo', [], null],
  ['echo', [], 'text'],
  ['echo', [], []],
  ['echo', [], () => {}],
  ...[
    { cwd: 1 },
    { cwd: 'a\0b' },
    { cwd: new URL('http://example.com/') },
    { detached: 1 },
    { uid: 'root' },
    { uid: 1.5 },
    { uid: 2 ** 31 },
    { gid: {} },
    { shell: 1 },
    { shell: 'a\0b' },
    { argv0: 1 },
    { argv0: 'a\0b' },
    { windowsHide: 'yes' },
    { windowsVerbatimArguments: 0 },
    { env: { A: 'a\0b' } },
    { env: { 'a\0b': 'c' } },
    { timeout: -1 },
    { timeout: 'x' },
    { timeout: 1.5 },
    { signal: null },
    { signal: 1 },
    { signal: {} },
    { killSignal: 'SIGNOTHING' },
    { killSignal: 999 },
    { killSignal: {} },
    { serialization: 'xml' },
    { stdio: 'none' },
    { stdio: 1 },
    { stdio: {} },
    { stdio: ['none'] },
    { stdio: [{}] },
    { stdio: ['pipe', true] },
    { stdio: ['ipc', 'ipc'] },
    { stdio: [Buffer.from('x')] },
    { stdio: ['pipe', 'pipe', 'pipe', 999] },
  ].map((options) => ['true', [], options]),
];

export const badExec: unknown[][] = [
  [],
  [1],
  ['a\0b'],
  ['true', { encoding: 1, maxBuffer: -1 }],
  ['true', { maxBuffer: 'x' }],
  ['true', { maxBuffer: Number.NaN }],
  ['true', { timeout: -1 }],
  ['true', { killSignal: 'SIGNOTHING' }],
  ['true', { cwd: 1 }],
  ['true', { signal: {} }],
  ['true', {}, 'callback'],
];

const badExecFile: unknown[][] = [
  ...badExec,
  [''],
  ['true', ['a\0b']],
  ['true', [], 'text'],
  ['true', [], { argv0: 1 }],
  ['true', [], {}, 1],
  ['true', 'text'],
];

const badFork: unknown[][] = [
  [],
  [1],
  ['a\0b'],
  ['x.js', 'text'],
  ['x.js', [], 'text'],
  ['x.js', [], { execPath: 'a\0b' }],
  ['x.js', [], { execArgv: ['a\0b'] }],
  ['x.js', [], { stdio: 'none' }],
  ['x.js', [], { stdio: ['pipe'] }],
  ['x.js', [], { cwd: 1 }],
  ['x.js', [], { serialization: 'xml' }],
];

export const badInput: Behaviours = Object.fromEntries([
  ...bad.map((args) => row('spawn', args)),
  ...badExec.map((args) => row('exec', args)),
  ...badExecFile.map((args) => row('execFile', args)),
  ...badFork.map((args) => row('fork', args)),
]);

function row(
  name: 'spawn' | 'exec' | 'execFile' | 'fork',
  args: unknown[],
): [string, Behaviours[string]] {
  const text = JSON.stringify(args, (_, value) =>
    typeof value === 'function' ? 'function' : value,
  );
  return [
    `${name} ${text}`,
    (cp) =>
      attempt(() => {
        const child = Reflect.apply(cp[name], undefined, args) as { kill(): void };
        child.kill();
      }),
  ];
}
