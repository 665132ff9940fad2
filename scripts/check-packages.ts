// What would be published must install and type-check for others: publint over every package that is not private.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const folder = join(import.meta.dirname, '../packages');
let failed = false;
for (const name of readdirSync(folder)) {
  const pkgDir = join(folder, name);
  const pkg = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
  const { messages } = await publint({ pkgDir, strict: true });
  for (const message of messages) {
    failed = true;
    process.stderr.write(`${pkg.name}: ${formatMessage(message, pkg)}\n`);
  }
}
process.exitCode = failed ? 1 : 0;
