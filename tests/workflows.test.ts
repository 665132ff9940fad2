// A workflow that only runs elsewhere is one that nobody can try. Each of its steps is a script of this repository.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.github', 'workflows');
const workflows = readdirSync(folder);
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

describe('the steps of a workflow are scripts of this repository:', () => {
  for (const workflow of workflows) {
    test(workflow, () => {
      const text = readFileSync(join(folder, workflow), 'utf8');
      const commands = [...text.matchAll(/^ +(?:- )?(?:run|version|publish): (.+)$/gm)];
      assert.ok(commands.length > 0);
      for (const [, command] of commands) assert.ok(isOurs(command!), command);
    });
  }

  test('no token of npm is among them', () => {
    for (const workflow of workflows) {
      const text = readFileSync(join(folder, workflow), 'utf8');
      const secrets = [...text.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name);
      assert.deepEqual(
        secrets.filter((name) => name !== 'GITHUB_TOKEN'),
        [],
        workflow,
      );
    }
  });
});

const hasActionlint = spawnSync('actionlint', ['-version']).status === 0;

test(
  'actionlint has no complaint',
  {
    skip:
      !hasActionlint &&
      'actionlint is not on PATH: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
  },
  () => {
    const files = workflows.map((name) => join(folder, name));
    const { stdout, status } = spawnSync('actionlint', ['-no-color', ...files], {
      encoding: 'utf8',
    });
    assert.equal(stdout, '');
    assert.equal(status, 0);
  },
);

function isOurs(command: string): boolean {
  const [program, ...args] = command.split(' ');
  if (program === 'npm' && args[0] === 'ci') return true;
  if (program === 'npm' && args[0] === 'run') return scripts[args[1]!] !== undefined;
  if (program === 'node') return existsSync(join(root, args[0]!));
  if (!program!.startsWith('.ci/')) return false;
  accessSync(join(root, program!), constants.X_OK);
  return true;
}
