// `npm run arena -- validate | folder | bench`: documented in README.md next to this file.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { entriesNamed } from './entries.ts';
import { writeSubmission } from './submission.ts';
import { validate } from './validate.ts';

const root = join(import.meta.dirname, '../..');
const usage = `Usage: npm run arena -- COMMAND

validate [ENTRY…]            start each entry and check its responses by the board's rules
folder [ENTRY…] [--into DIR]  write frameworks/ENTRY, to submit (default: redline-out/arena)
bench [OPTION…]              compare the entries with others: npm run bench -- arena
`;

const [command, ...rest] = process.argv.slice(2);
if (command === 'bench') {
  const bench = [join(root, 'benchmarks', 'run.ts'), 'arena', ...rest];
  process.exitCode =
    spawnSync(process.execPath, bench, { cwd: root, stdio: 'inherit' }).status ?? 1;
} else if (command === 'validate') {
  for (const entry of entriesNamed(rest)) {
    const { checks, complaints } = await validate(entry);
    const passed = complaints.length === 0 ? `${checks} checks passed` : 'not valid';
    process.stdout.write([`${entry.name}: ${passed}`, ...complaints].join('\n  ') + '\n');
    if (complaints.length > 0) process.exitCode = 1;
  }
} else if (command === 'folder') {
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: { into: { type: 'string', default: join(root, 'redline-out', 'arena') } },
  });
  for (const entry of entriesNamed(positionals)) {
    process.stdout.write(`${writeSubmission(entry, values.into)}\n`);
  }
} else {
  process.stdout.write(usage);
  process.exitCode = command === undefined || command === '--help' ? 0 : 2;
}
