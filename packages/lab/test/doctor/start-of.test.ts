import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodeStart } from '../../src/doctor/app/start-of.ts';
import type { Project } from '../../src/project/read-project.ts';

/** What node is started with by `npm start`, where package.json has this script. */
function startedBy(script: string): string[] | undefined {
  const project: Project = {
    folder: '/app',
    name: undefined,
    manager: 'npm',
    framework: undefined,
    scripts: { start: script },
    dependencies: new Set(),
    start: ['npm', 'start'],
    workspaces: [],
    hasConfig: false,
  };
  return nodeStart(undefined, project)?.command;
}

describe('what a script starts', () => {
  const cases: [script: string, command: string[]][] = [
    ['npm run build && node . | pino-pretty', ['node', '.']],
    ['node app.js --port 3000|pino', ['node', 'app.js', '--port', '3000']],
    ['node app.js --port 3|pino', ['node', 'app.js', '--port', '3']],
    ['node app.js --port 3000>log', ['node', 'app.js', '--port', '3000']],
    ['node app.js --port 3000&', ['node', 'app.js', '--port', '3000']],
    ['node app.js 8|pino', ['node', 'app.js', '8']],
    ['node app.js 2>&1 | pino', ['node', 'app.js']],
    ['node app.js --port 3000 2>errors', ['node', 'app.js', '--port', '3000']],
  ];
  for (const [script, command] of cases)
    test(script, () => assert.deepEqual(startedBy(script), command));
});
