// `npm run test:conformance [-- SUITE [PART OF A FILE NAME]]`: other projects' own tests, run on this project's engines.
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
};

const folder = join(import.meta.dirname, '../../../shared/conformance');
const [chosen, filter] = process.argv.slice(2);

if (existsSync(folder)) {
  for (const [name, load] of Object.entries(suites)) {
    if (chosen !== undefined && name !== chosen) continue;
    const suite = await load();
    if (!(await suite.run(folder, filter))) process.exitCode = 1;
  }
  if (chosen !== undefined && !(chosen in suites)) {
    console.error(`unknown suite "${chosen}": give one of ${Object.keys(suites).join(', ')}`);
    process.exitCode = 2;
  }
} else {
  console.log(`conformance: skipped, ${folder} is not there`);
}
