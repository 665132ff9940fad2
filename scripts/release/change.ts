// `npm run change`: asks for a description of the change, and writes it into .changeset.
import { join } from 'node:path';
import { obtainTools } from './registry.ts';
import { run } from './say.ts';

const root = join(import.meta.dirname, '../..');
const cli = join(obtainTools(root), 'node_modules', '@changesets', 'cli', 'bin.js');
run(process.execPath, [cli, 'add', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
