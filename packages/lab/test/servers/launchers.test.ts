import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { commandText, parseCommand } from '../../src/config/command-line.ts';
import { LabError } from '../../src/errors.ts';
import { launchedApp } from '../../src/servers/launched-app.ts';
import { launchOf } from '../../src/servers/launchers.ts';

function folderWith(context: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-launchers-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    if (text.startsWith('#!')) chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** What is started in place of a command, in one line; or the code and the message of the refusal. */
function started(command: string, folder: string): string {
  try {
    const app = launchedApp(parseCommand(command.split(' ')), folder);
    return app === undefined ? 'itself' : commandText(app.line);
  } catch (error) {
    assert.ok(error instanceof LabError && error.code === 'ERR_REDLINE_LAUNCHER');
    return error.message;
  }
}

describe('A command that hands its app to something else', () => {
  test('is recognised in scripts of package.json and of a shell, and behind other programs', (t) => {
    const scripts = {
      start: 'NODE_ENV=production pm2 start server.js',
      run2: 'npm run start',
      before: 'node .',
      prebefore: 'docker compose up -d',
      built: 'tsc && pm2-runtime dist/main.js',
      several: 'concurrently "npm:start" "tsc -w"',
      crossed: 'cross-env NODE_ENV=production forever start server.js',
      shell: './up.sh',
      plain: 'node pm2-dashboard.js && echo "pm2 start"',
      looks: 'pm2 logs',
      services: 'docker build . && node .',
    };
    const folder = folderWith(t, {
      'package.json': JSON.stringify({ scripts }),
      'api/package.json': '{"scripts":{"start":"pm2 start ."}}',
      'up.sh': '#!/bin/sh\n# pm2 logs\nset -e\nsystemctl --user restart web\n',
    });
    const launcherOf = (command: string): string | undefined =>
      launchOf(parseCommand(command.split(' ')), folder)?.launcher;
    const launching = {
      'npm start': 'pm2',
      'yarn start': 'pm2',
      'pnpm run run2': 'pm2',
      'npm run before': 'docker',
      'npm run built': 'pm2-runtime',
      'npm run several': 'pm2',
      'npm run crossed': 'forever',
      'npm run shell': 'systemctl',
      'sh up.sh': 'systemctl',
      './up.sh': 'systemctl',
      'npm start -w api': 'pm2',
      'npm --prefix api start': 'pm2',
      'npx pm2 start server.js': 'pm2',
      'npm exec -- pm2 start server.js': 'pm2',
      'yarn pm2 start server.js': 'pm2',
      'node node_modules/pm2/bin/pm2 start server.js': 'pm2',
      'node_modules/.bin/pm2-runtime server.js': 'pm2-runtime',
      'sudo systemctl restart web': 'systemctl',
      'docker compose up': 'docker',
      'docker run --rm web': 'docker',
      'kubectl apply -f web.yaml': 'kubectl',
      'supervisorctl restart web': 'supervisorctl',
      'heroku local web': 'heroku',
      'foreman start': 'foreman',
      'dotenv -e .env -- pm2 start server.js': 'pm2',
    };
    for (const [command, launcher] of Object.entries(launching)) {
      assert.equal(launcherOf(command), launcher, command);
    }
    const others = ['plain', 'looks', 'services', 'gone'].map((name) => `npm run ${name}`);
    for (const command of [...others, 'node server.js', 'npm test', 'tsx watch pm2.ts', 'pm2']) {
      assert.equal(launcherOf(command), undefined, command);
    }
  });

  test('is left for the program in its file, with its environment', (t) => {
    const ecosystem = {
      apps: [
        {
          name: 'web',
          script: './server.js',
          args: '--quiet 1',
          node_args: ['--max-old-space-size=200'],
          env: { A: 1 },
          env_production: { A: 2 },
        },
      ],
    };
    const two = { apps: [ecosystem.apps[0], { name: 'worker', script: 'npm', args: 'run work' }] };
    const folder = folderWith(t, {
      'server.js': '',
      'package.json': '{"type":"module","scripts":{"start":"pm2 start ecosystem.config.cjs"}}',
      'ecosystem.config.cjs': `module.exports = ${JSON.stringify(ecosystem)}`,
      'two.json': JSON.stringify(two),
      'pm2.config.js': `export default ${JSON.stringify(ecosystem)}`,
      Procfile: 'web: node server.js --port $PORT\nworker: node work.js\n',
      '.env': 'TOKEN="a b"\n',
    });
    const file = 'node --max-old-space-size=200 ./server.js --quiet 1';
    const cases = {
      'npm start': `A=1 ${file}`,
      'pm2 start ecosystem.config.cjs --env production': `A=2 ${file}`,
      'pm2-runtime start pm2.config.js': `A=1 ${file}`,
      'pm2 start two.json --only worker': 'npm run work',
      'pm2 start server.js -i max --name web -- --port 1': 'node server.js --port 1',
      'pm2 start npm --name web -- start': `A=1 ${file}`,
      'B=1 pm2-runtime server.js': 'B=1 node server.js',
      'forever start -m 3 server.js --port 1': 'node server.js --port 1',
      'foreman start worker': "TOKEN='a b' node work.js",
      'heroku local web': `TOKEN='a b' sh -c 'exec node server.js --port $PORT'`,
      'node server.js': 'itself',
    };
    for (const [command, line] of Object.entries(cases)) {
      assert.equal(started(command, folder), line, command);
    }
  });

  test('is refused with the line to type where no file says what it starts', (t) => {
    const scripts = { up: 'docker compose up -d && node server.js', web: 'pm2 restart web' };
    const two = {
      apps: [
        { name: 'a', script: 'a.js' },
        { name: 'b', script: 'b.js' },
      ],
    };
    const folder = folderWith(t, {
      'package.json': JSON.stringify({ scripts }),
      'ecosystem.json': JSON.stringify(two),
    });
    const cases: [command: string, message: RegExp][] = [
      [
        'npm run up',
        /runs docker compose up, .* nothing was started\. .* -- node server\.js\. .*--before/,
      ],
      ['npm run web', /"npm run web" runs pm2 restart web, .* -- node FILE/],
      ['pm2 start ecosystem.json', /runs pm2 start ecosystem\.json, .*nothing was started/],
      ['systemctl restart web', /runs systemctl restart web/],
    ];
    for (const [command, message] of cases) assert.match(started(command, folder), message);
  });
});
