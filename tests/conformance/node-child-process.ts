// Node's own tests that start processes, on the engine.
import { engine } from '@redline/child-process';
import { differences } from './node-child-process-differences.ts';
import { runNodeSuite, type NodeSuite } from './node-suite.ts';

const register = import.meta.resolve('@redline/child-process/register');

export const nodeChildProcess: NodeSuite = {
  name: 'node-child-process',
  root: 'node',
  preload: ['--import', register],
  preloadsChildren: false,
  includes: (_id, text) => /(require\(|from )['"](node:)?child_process['"]/.test(text),
  differences,
};

export async function run(folder: string, filter?: string): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`node-child-process: skipped, ${serving.reason}`);
    return true;
  }
  return await runNodeSuite(nodeChildProcess, folder, filter);
}
