// `npm run bench -- strict-overcommit`: which calls work in a server with much memory if the kernel promises no more memory
// than it has (vm.overcommit_memory=2, as databases recommend): fork requests a copy of everything, the engine none. As
// root, on a private machine: the setting affects the whole machine, for some seconds.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const setting = '/proc/sys/vm/overcommit_memory';
const GIB = 2 ** 20;

/** Returns more than half of the remaining memory: it fits once, not twice. The memory is promised, not used. */
function gibibytesToHold(): number {
  const meminfo = readFileSync('/proc/meminfo', 'utf8');
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(meminfo)?.[1]);
  return Math.floor(((kibibytes('CommitLimit') - kibibytes('Committed_AS')) * 0.65) / GIB);
}

const program = `
  const held = Array.from({ length: Number(process.argv[2]) }, () => Buffer.allocUnsafeSlow(2 ** 30));
  const cp = require(process.argv[1]);
  const report = (call, answer) => console.log('  ' + call + ': ' + answer);
  try { report('spawnSync', cp.spawnSync('true').error?.code ?? 'runs') } catch (error) { report('spawnSync', error.code) }
  try {
    cp.spawn('true').on('error', (error) => report('spawn', error.code)).on('exit', () => report('spawn', 'runs'));
  } catch (error) { report('spawn', error.code) }
  process.on('exit', () => held.length);`;

const before = readFileSync(setting, 'utf8');
const size = String(gibibytesToHold());
try {
  writeFileSync(setting, '2');
} catch (error) {
  console.error(
    `${setting} cannot be set (${(error as NodeJS.ErrnoException).code}): run this as root`,
  );
  process.exit(1);
}
try {
  for (const name of ['node:child_process', '@redline/child-process']) {
    const engine = name.startsWith('node:') ? name : createRequire(import.meta.url).resolve(name);
    console.log(`${name}, ${size} GiB held, vm.overcommit_memory=2`);
    // Started from this small process, because Node's call forks.
    execFileSync(process.execPath, ['--no-warnings', '-e', program, engine, size], {
      stdio: 'inherit',
    });
  }
} finally {
  writeFileSync(setting, before);
}
