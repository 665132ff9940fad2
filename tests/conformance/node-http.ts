// Node's own tests that make an HTTP server, on the engine.
import { createRequire } from 'node:module';
import { engine } from '@redline/http';
import { differences } from './node-http-differences.ts';
import { runNodeSuite, type NodeSuite } from './node-suite.ts';

export const nodeHttp: NodeSuite = {
  name: 'node-http',
  root: 'node',
  preload: ['--require', createRequire(import.meta.url).resolve('@redline/http/register')],
  preloadsChildren: false,
  includes: (id, text) =>
    /(require\(|from )['"](node:)?http['"]/.test(text) &&
    (/createServer\(|\bServer\(|http\.Server\b/.test(text) || id.includes('/test-http-')),
  differences,
};

export async function run(folder: string, filter?: string): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`node-http: skipped, ${serving.reason}`);
    return true;
  }
  return await runNodeSuite(nodeHttp, folder, filter);
}
