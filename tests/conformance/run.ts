// `npm run test:conformance [-- SUITE [PART OF A FILE NAME]]`: other projects' own tests, run on this project's engines,
// and programs of ours over other projects.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A suite says on stdout what it found, and resolves to whether all was as expected. */
interface Suite {
  /** `folder` holds the other projects' tests; `filter` is a part of a test file's name. */
  run(folder: string, filter?: string): Promise<boolean>;
}

const suites: Record<string, () => Promise<Suite>> = {
  express: () => import('./express.ts'),
  koa: () => import('./koa.ts'),
  execa: () => import('./execa.ts'),
  'node-child-process': () => import('./node-child-process.ts'),
  'node-http': () => import('./node-http.ts'),
  'node-cluster': () => import('./node-cluster.ts'),
  pm2: () => import('./pm2.ts'),
  programs: () => import('./programs.ts'),
};
/** Those that bring their own programs, and need no folder. */
const own = ['programs', 'pm2'];

const folder = join(import.meta.dirname, '../../../shared/conformance');
const [chosen, filter] = process.argv.slice(2);

const isThere = existsSync(folder);
const runnable = Object.keys(suites).filter((name) => isThere || own.includes(name));

if (chosen !== undefined && !(chosen in suites)) {
  console.error(`unknown suite "${chosen}": give one of ${Object.keys(suites).join(', ')}`);
  process.exitCode = 2;
} else {
  if (!isThere) console.log(`conformance: only ${own.join(', ')}, as ${folder} is not there`);
  for (const name of runnable) {
    if (chosen !== undefined && name !== chosen) continue;
    const suite = await suites[name]!();
    if (!(await suite.run(folder, filter))) process.exitCode = 1;
  }
}
