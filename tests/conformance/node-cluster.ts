// Node's own tests of node:cluster, with the engine in the primary and in every worker.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { engine } from '@redline/http';
import { runNodeSuite, type NodeSuite } from './node-suite.ts';

export const nodeCluster: NodeSuite = {
  name: 'node-cluster',
  root: 'node-tls-h2',
  preload: ['--require', createRequire(import.meta.url).resolve('@redline/http/register')],
  preloadsChildren: true,
  includes: (id) => id.includes('/test-cluster-'),
  differences: {},
};

export async function run(folder: string, filter?: string): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`node-cluster: skipped, ${serving.reason}`);
    return true;
  }
  if (!existsSync(join(folder, nodeCluster.root))) {
    console.log(`node-cluster: skipped, as ${join(folder, nodeCluster.root)} is not there`);
    return true;
  }
  return await runNodeSuite(nodeCluster, folder, filter);
}
