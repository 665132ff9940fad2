// `npm run bench -- strict-overcommit`: what a server with much memory can start where the kernel promises no more memory than it has
// (vm.overcommit_memory=2, as databases recommend): fork asks for a copy of everything, the engine for nothing. As root,
// on a machine of one's own: the setting is the whole machine's, for some seconds.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const setting = '/proc/sys/vm/overcommit_memory';
const GIB = 2 ** 20;

/** More than half of what is left: it fits once, not twice. The memory is promised, not used. */
function gibibytesToHold(): number {
  const meminfo = readFileSync('/proc/meminfo', 'utf8');
  const kibibytes = (name: string) =>
    Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(meminfo)?.[1]);
  return Math.floor(((kibibytes('CommitLimit') - kibibytes('Committed_AS')) * 0.65) / GIB);
}

const program = `
  const held = Array.from({ length: Number(process.argv[2]) }, () => Buffer.allocUnsafeSlow(2 ** 30));
  const cp = require(process.argv[1]);
  const tell = (call, answer) => console.log('  ' + call + ': ' + answer);
  try { tell('spawnSync', cp.spawnSync('true').error?.code ?? 'runs') } catch (error) { tell('spawnSync', error.code) }
  try {
    cp.spawn('true').on('error', (error) => tell('spawn', error.code)).on('exit', () => tell('spawn', 'runs'));
  } catch (error) { tell('spawn', error.code) }
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
    // Of a small process: this one forks.
    execFileSync(process.execPath, ['--no-warnings', '-e', program, engine, size], {
      stdio: 'inherit',
    });
  }
} finally {
  writeFileSync(setting, before);
}
