// `npm run docs` and `npm run docs:build`: makes the pages, then lets VitePress serve or build them.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';
import { stage } from './stage.ts';

const [command = 'dev', ...args] = process.argv.slice(2);
const site = import.meta.dirname;

// It takes a while: while somebody writes, the last one will do.
if (command === 'build' || !existsSync(join(site, 'pages/api/sidebar.json'))) {
  const { status } = spawnSync(process.execPath, [join(site, 'api.ts')], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
stage();
if (command === 'dev') {
  for (const folder of ['docs', 'site/home.md', 'benchmarks/results']) {
    watch(join(root, folder), { recursive: true }, () => stage());
  }
}
const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js');
const child = spawn(process.execPath, [vitepress, command, site, ...args], { stdio: 'inherit' });
child.once('exit', (code) => process.exit(code ?? 1));
