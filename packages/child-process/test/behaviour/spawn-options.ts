import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { attempt, outcome, record, type Behaviours } from './trace.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-spawn-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const script = join(folder, 'script');
writeFileSync(script, 'echo "script $0 $1"\n');
chmodSync(script, 0o755);
const denied = join(folder, 'denied');
writeFileSync(denied, '#!/bin/sh\n');
mkdirSync(join(folder, 'bin'));
writeFileSync(join(folder, 'bin', 'mine'), '#!/bin/sh\necho mine "$@"\n');
chmodSync(join(folder, 'bin', 'mine'), 0o755);
symlinkSync('loop', join(folder, 'loop'));
const isRoot = process.getuid?.() === 0;

export const spawnOptions: Behaviours = {
  'no arguments': (cp) => record(cp.spawn('true')),
  'arguments, the empty one and those with spaces and quotes': (cp) =>
    outcome(cp.spawn('printf', ['<%s>', 'a', '', 'b c', `"'`, 'ä€😀'])),
  'arguments that are no strings': (cp) =>
    outcome(cp.spawn('echo', [1, true, null, undefined, { toString: () => 'o' }] as never)),
  'undefined and null for arguments': async (cp) => [
    await outcome(cp.spawn('echo', undefined)),
    await outcome(cp.spawn('echo', null as never)),
  ],
  'options in the place of arguments': (cp) => outcome(cp.spawn('pwd', { cwd: '/' })),
  'the arguments given are not changed': async (cp) => {
    const args = ['a'];
    const options = { shell: true };
    await outcome(cp.spawn('echo', args, options));
    return { args, options };
  },
  'an exit code': (cp) => record(cp.spawn('sh', ['-c', 'exit 42'])),
  'a signal': (cp) => record(cp.spawn('sh', ['-c', 'kill -SEGV $$'])),
  argv0: (cp) => outcome(cp.spawn('sh', ['-c', 'echo $0'], { argv0: 'other' })),
  'argv0 that is visible': (cp) =>
    outcome(cp.spawn('/bin/sh', ['-c', 'tr "\\0" "," < /proc/$$/cmdline'], { argv0: 'me' })),
  cwd: (cp) => outcome(cp.spawn('pwd', [], { cwd: '/usr' })),
  'cwd as a URL': (cp) => outcome(cp.spawn('pwd', [], { cwd: pathToFileURL('/usr') })),
  'cwd as a Buffer': (cp) =>
    attempt(() => cp.spawn('pwd', [], { cwd: Buffer.from('/usr') as never })),
  'an empty cwd': (cp) => outcome(cp.spawn('pwd', [], { cwd: '' })),
  'a cwd that is not there': (cp) => record(cp.spawn('pwd', [], { cwd: join(folder, 'none') })),
  'a cwd that is a file': (cp) => attempt(() => cp.spawn('pwd', [], { cwd: script })),
  'a relative program in a cwd': (cp) => outcome(cp.spawn('./script', ['x'], { cwd: folder })),
  'a program that is a script without a first line': (cp) => outcome(cp.spawn(script, ['x'])),
  'a program that is not there': (cp) => record(cp.spawn('redline-no-such-program', ['a', 'b'])),
  'a path that is not there': (cp) => record(cp.spawn(join(folder, 'none'))),
  'a program that may not be run': (cp) => record(cp.spawn(denied)),
  'a folder for a program': (cp) => record(cp.spawn(folder)),
  'a path through a file': (cp) => attempt(() => cp.spawn(`${script}/x`)),
  'a path in a circle': (cp) => attempt(() => cp.spawn(join(folder, 'loop'))),
  'a name that is too long': (cp) => attempt(() => cp.spawn('x'.repeat(300))),
  'a path that is too long': (cp) => attempt(() => cp.spawn(`/${'x/'.repeat(3000)}`)),
  'an argument that is too long': (cp) => attempt(() => cp.spawn('true', ['x'.repeat(200_000)])),
  'an environment that is too long': (cp) =>
    attempt(() => cp.spawn('true', [], { env: { LONG: 'x'.repeat(200_000) } })),
  'a long argument that fits': (cp) =>
    outcome(cp.spawn('sh', ['-c', 'echo ${#0}', 'x'.repeat(120_000)])),
  'an environment': (cp) =>
    outcome(cp.spawn('/usr/bin/env', [], { env: { A: '1', B: '', C: 'x=y' } })),
  'an empty environment': (cp) => outcome(cp.spawn('/usr/bin/env', [], { env: {} })),
  'an environment with undefined and other values': (cp) =>
    outcome(
      cp.spawn('/usr/bin/env', [], { env: { A: undefined, B: 2, C: null, D: false } as never }),
    ),
  'an environment with a prototype': (cp) =>
    outcome(cp.spawn('/usr/bin/env', [], { env: Object.create({ A: 'inherited' }) })),
  "this process's environment": async (cp) => {
    process.env['REDLINE_TEST'] = 'ä';
    const seen = await outcome(cp.spawn('sh', ['-c', 'echo $REDLINE_TEST; env | wc -l']));
    delete process.env['REDLINE_TEST'];
    return [seen, await outcome(cp.spawn('sh', ['-c', 'echo -$REDLINE_TEST-']))];
  },
  'the PATH of the child finds the program': (cp) =>
    outcome(cp.spawn('mine', ['a'], { env: { PATH: join(folder, 'bin') } })),
  'a PATH without the program': (cp) =>
    record(cp.spawn('mine', [], { env: { PATH: '/nowhere::' } })),
  'no PATH': (cp) => outcome(cp.spawn('echo', ['found'], { env: { A: '1' } })),
  'a PATH in which the program may not be run': (cp) =>
    record(cp.spawn('denied', [], { env: { PATH: `${folder}:/usr/bin` } })),
  'an empty PATH entry is the cwd': (cp) =>
    outcome(cp.spawn('mine', [], { env: { PATH: '/nowhere:' }, cwd: join(folder, 'bin') })),
  shell: (cp) => outcome(cp.spawn('echo $((1 + 2)) "$0"', { shell: true })),
  'shell with arguments': (cp) =>
    outcome(cp.spawn('echo', ['a', '&&', 'echo', 'b'], { shell: true })),
  'a shell by name': (cp) => outcome(cp.spawn('echo $0', { shell: '/bin/bash' })),
  'a shell that is not there': (cp) => record(cp.spawn('echo', { shell: '/bin/none' })),
  'an empty shell is none': (cp) => outcome(cp.spawn('echo', ['$HOME'], { shell: '' })),
  'a shell whose command is not there': (cp) =>
    record(cp.spawn('redline-no-such-program', { shell: true })),
  detached: async (cp) =>
    outcome(
      cp.spawn(
        'sh',
        ['-c', 'set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ] && echo leads'],
        {
          detached: true,
        },
      ),
    ),
  'not detached': async (cp) =>
    outcome(cp.spawn('sh', ['-c', 'set -- $(cat /proc/$$/stat); [ $6 = $$ ] || echo follows'])),
  'the parent is this process': (cp) =>
    outcome(cp.spawn('sh', ['-c', `[ $PPID = ${process.pid} ] && echo child`])),
  'uid and gid': (cp) => {
    if (isRoot)
      return outcome(cp.spawn('id', ['-u', '-G'].slice(0, 1), { uid: 65534, gid: 65534 }));
    return attempt(() => cp.spawn('id', { uid: 0 }));
  },
  'the groups go with the gid': (cp) =>
    isRoot ? outcome(cp.spawn('id', ['-G'], { uid: 65534, gid: 65533 })) : null,
  'a uid that is none': (cp) => attempt(() => cp.spawn('id', { uid: -1 })),
  'a program the uid may not run': (cp) =>
    isRoot ? record(cp.spawn(denied, [], { uid: 65534 })) : null,
  'signal handlers and the mask are those of a fresh process': (cp) =>
    outcome(cp.spawn('grep', ['-E', 'Sig(Blk|Ign|Cgt)', '/proc/self/status'])),
  'open descriptors are the three': (cp) =>
    outcome(cp.spawn('sh', ['-c', 'ls /proc/self/fd | wc -l'])),
  'the umask': async (cp) => {
    const before = process.umask(0o27);
    const child = cp.spawn('sh', ['-c', 'umask']);
    process.umask(before);
    return outcome(child);
  },
  'process.chdir right after does not move the child': async (cp) => {
    const before = process.cwd();
    process.chdir('/usr');
    const child = cp.spawn('pwd');
    process.chdir('/');
    const seen = await outcome(child);
    process.chdir(before);
    return seen;
  },
  'windows options change nothing': (cp) =>
    outcome(cp.spawn('echo', ['x'], { windowsHide: true, windowsVerbatimArguments: true })),
};
