import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '@redline/services';
import { Workbench } from './run-cli.ts';

const run = promisify(execFile);
const app = `require('node:http').createServer(function listener(request, response) {
  response.end(process.pid > 0 ? 'ok' : '');
}).listen(process.env.PORT || 3000);`;

interface Listed {
  pid: number;
  name: string;
  pm2_env: { status: string; restart_time: number; env: object };
}

describe(
  'An app that PM2 runs',
  { skip: process.platform !== 'linux' && '/proc is of Linux' },
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-pm2-'));
    const pm2 = join(folder, 'node_modules/.bin/pm2');
    before(() => run('npm', ['install', '--no-audit', '--no-fund', 'pm2@7.0.4'], { cwd: folder }));
    after(() => rmSync(folder, { recursive: true, force: true }));

    for (const mode of ['fork', 'cluster']) {
      test(`in its ${mode} mode has the same process, environment and port before and after redline try`, async (t) => {
        const bench = new Workbench(t);
        const home = mkdtempSync(join(tmpdir(), 'redline-pm2-home-'));
        const port = await freePort();
        const env = { ...process.env, PM2_HOME: home, PORT: String(port) };
        t.after(async () => {
          await run(process.execPath, [pm2, 'kill'], { env });
          rmSync(home, { recursive: true, force: true });
        });
        bench.write('server.js', app);
        bench.write(
          'ecosystem.config.js',
          `module.exports = { apps: [{ name: 'web', script: './server.js', exec_mode: '${mode}' }] };`,
        );
        bench.write(
          'api.js',
          `const pm2 = require(${JSON.stringify(join(folder, 'node_modules/pm2'))});
        pm2.connect(() => pm2.start('ecosystem.config.js', () => process.exit()));`,
        );
        const scripts = {
          start: `node ${pm2} start ecosystem.config.js`,
          runtime: `${pm2}-runtime ecosystem.config.js`,
          restart: `node ${pm2} restart all`,
          api: 'node api.js',
        };
        bench.write('package.json', JSON.stringify({ scripts }));
        await run(process.execPath, [pm2, 'start', 'ecosystem.config.js'], {
          cwd: bench.folder,
          env,
        });
        const state = async (): Promise<unknown> => {
          const { stdout } = await run(process.execPath, [pm2, 'jlist'], { env, maxBuffer: 1e8 });
          const listed = JSON.parse(stdout.slice(stdout.indexOf('[{'))) as Listed[];
          const asked = await fetch(`http://127.0.0.1:${port}/`).then((each) => each.text());
          return [
            asked,
            ...listed.map(
              ({ pid, name, pm2_env: { status, restart_time: restarts, env: its } }) => [
                [pid, name, status, restarts],
                its,
                readFileSync(`/proc/${pid}/environ`, 'latin1'),
              ],
            ),
          ];
        };
        const first = await state();
        for (const script of Object.keys(scripts)) {
          const args = ['try', '--restarts', '1', '--connections', '4', '--', 'npm', 'run', script];
          const { code, stderr } = await bench.run(args, { PM2_HOME: home });
          assert.match(
            stderr,
            script === 'start' || script === 'runtime' ? /^/ : /ERR_REDLINE_LAUNCHER/,
          );
          assert.equal(code, script === 'start' || script === 'runtime' ? 0 : 1, stderr);
          assert.deepEqual(await state(), first, script);
        }
      });
    }
  },
);
