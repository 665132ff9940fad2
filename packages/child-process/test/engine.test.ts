import assert from 'node:assert/strict';
import * as node from 'node:child_process';
import nodeDefault from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';

const source = join(import.meta.dirname, '../src/index.ts');

function engineOf(env: NodeJS.ProcessEnv, flags: string[] = [], launcher: string[] = []): unknown {
  const code = `import(${JSON.stringify(source)}).then((m) => console.log(JSON.stringify([m.engine(), m.spawn === require('node:child_process').spawn])))`;
  const [program, ...args] = [...launcher, process.execPath, '--no-warnings', ...flags, '-e', code];
  const answer = node.execFileSync(program!, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return JSON.parse(answer);
}

const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;

/** Perl that puts what it starts behind a filter of so many steps. */
function setFilter(steps: number): string {
  return `my $program = pack('S x![P] P', ${steps}, $filter);
  my $prctl = ${process.arch === 'arm64' ? 167 : 157};
  syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
  syscall($prctl, 22, 2, $program, 0, 0) == 0 or die "seccomp: $!";
  exec @ARGV;`;
}

/** Starts a program in which a system call fails with EPERM, as under the seccomp profile of an old container runtime. */
const without = (call: number): string[] => [
  'perl',
  '-e',
  `my ($load, $equal, $return) = (0x20, 0x15, 0x06);
  my $filter = pack('(SCCL)4',
    $load, 0, 0, 0, $equal, 0, 1, ${call}, $return, 0, 0, 0x00050001, $return, 0, 0, 0x7fff0000);
  ${setFilter(4)}`,
];
const CLONE = process.arch === 'arm64' ? 220 : 56;
const CLONE_PIDFD = 0x1000;

/** Starts a program in which clone() with pidfds is EINVAL, as where qemu emulates the processor. */
const withoutCloningPidfds = [
  'perl',
  '-e',
  `my ($load, $equal, $set, $return) = (0x20, 0x15, 0x45, 0x06);
  my $filter = pack('(SCCL)6', $load, 0, 0, 0, $equal, 0, 3, ${CLONE}, $load, 0, 0, 16, $set, 0, 1, ${CLONE_PIDFD},
    $return, 0, 0, 0x00050016, $return, 0, 0, 0x7fff0000);
  ${setFilter(6)}`,
];
const hasPerl = node.spawnSync('perl', ['-v']).status === 0;

describe('the engine', () => {
  test('exports everything that node:child_process does', () => {
    const ours = new Map(Object.entries(redline));
    for (const [name, value] of Object.entries(node)) {
      if (name === 'default' || name === 'module.exports' || name.startsWith('_')) continue;
      assert.equal(typeof ours.get(name), typeof value, name);
    }
  });

  test('exports the same functions by default', () => {
    assert.deepEqual(Object.keys(redline.default), Object.keys(nodeDefault));
    assert.equal(redline.default.spawn, redline.spawn);
    assert.equal(redline.default.execFile, redline.execFile);
  });

  test("is Node's module when the environment asks for it, and says so", () => {
    assert.deepEqual(engineOf({ REDLINE_CHILD_PROCESS: 'node' }), [
      { name: 'node', reason: 'REDLINE_CHILD_PROCESS=node is set' },
      true,
    ]);
  });

  test("is Node's module under the permission model", () => {
    assert.deepEqual(engineOf({}, ['--permission', '--allow-fs-read=*', '--allow-child-process']), [
      { name: 'node', reason: "Node's permission model is on" },
      true,
    ]);
  });

  test("is Node's module before Node 22", () => {
    const versions = "{ ...process.versions, node: '21.9.0' }";
    const preload = `data:text/javascript,Object.defineProperty(process, 'versions', { value: ${versions} })`;
    assert.deepEqual(engineOf({}, ['--import', preload]), [
      { name: 'node', reason: 'the native engine is for Node 22 or newer' },
      true,
    ]);
  });

  const skip = redline.engine().name === 'node' || !hasPerl;
  for (const [name, call] of Object.entries({ PIDFD_OPEN, PIDFD_SEND_SIGNAL })) {
    test(`is Node's module where ${name.toLowerCase()}() is forbidden`, { skip }, () => {
      assert.deepEqual(engineOf({}, [], without(call)), [
        { name: 'node', reason: 'the kernel lacks a required system call: ENOSYS' },
        true,
      ]);
    });
  }

  test("is Node's module where a child cannot borrow its memory", { skip }, () => {
    assert.deepEqual(engineOf({}, [], withoutCloningPidfds), [
      { name: 'node', reason: 'the kernel lacks a required system call: EINVAL' },
      true,
    ]);
  });

  test('names itself', () => {
    const { name } = redline.engine();
    assert.match(name, /^(native|node)$/);
    if (name === 'node') assert.match((redline.engine() as { reason: string }).reason, /\w/);
  });
});
