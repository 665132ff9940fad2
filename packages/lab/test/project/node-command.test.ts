import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from '../../src/config/command-line.ts';
import { nodeCommandOf } from '../../src/project/node-command.ts';
import type { Project } from '../../src/project/read-project.ts';

function nodeOf(command: string, start = 'x'): string | undefined {
  const project = { scripts: { start } } as unknown as Project;
  return nodeCommandOf(parseCommand(command), project);
}

test('what a command has node do is read from its script, unless that does more', () => {
  assert.equal(nodeOf('A=1 node --flag app.js x'), 'A=1 node --flag app.js x');
  assert.equal(nodeOf('npm start', 'node dist/main'), 'node dist/main');
  assert.equal(nodeOf('B=2 npm start', 'cross-env A=1 node .'), 'B=2 A=1 node .');
  assert.equal(nodeOf('env B=2 npm start', 'env A=1 node .'), 'B=2 A=1 node .');
  assert.equal(nodeOf('pnpm run start', 'tsx src/main.ts'), 'node --import tsx src/main.ts');
  assert.equal(nodeOf('tsx src/main.ts'), 'node --import tsx src/main.ts');
  assert.equal(nodeOf('npm start', 'nest start'), undefined);
  assert.equal(nodeOf('npm start', 'tsx watch src/main.ts'), undefined);
  assert.equal(nodeOf('npm start', 'npm run build && node .'), undefined);
  assert.equal(nodeOf('npm run other', 'node .'), undefined);
  assert.equal(nodeCommandOf(parseCommand('npm start'), undefined), undefined);
});
