import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Workbench } from './run-cli.ts';

/** What every command that sends requests of its own takes. */
const sending = [
  'try',
  'ci',
  'bench',
  'ladder',
  'stairs',
  'flame',
  'deopts',
  'heap',
  'advise',
  'runtimes',
  'doctor',
];
const reporting = [...sending, 'top', 'replay', 'prove'];

async function optionsOf(bench: Workbench, command: string): Promise<Map<string, string>> {
  const { stdout } = await bench.run([command, '--help']);
  const lines = stdout.matchAll(
    /^ {2}(?:-\w, )?(--[\w-]+)( <[^>]+>)? {2,}([^\n]*(?:\n {10,}[^\n]*)*)/gm,
  );
  return new Map(
    [...lines].map(([, name, value = '', text]) => [
      name!,
      `${value} ${text!.replaceAll(/\s+/g, ' ')}`,
    ]),
  );
}

describe('the options of all commands', () => {
  test('are the same words for the same things', async (t) => {
    const bench = new Workbench(t);
    const all = new Map<string, Map<string, string>>();
    for (const command of reporting) all.set(command, await optionsOf(bench, command));
    const shared: [names: string[], commands: string[]][] = [
      [
        ['--request', '--header', '--method', '--body', '--connections', '--replay', '--route'],
        sending,
      ],
      [['--md', '--json', '--html', '--out'], reporting],
    ];
    for (const [names, commands] of shared) {
      for (const name of names) {
        const texts = commands.map((command) => all.get(command)!.get(name));
        assert.equal(new Set(texts).size, 1, `${name}: ${texts.join(' | ')}`);
        assert.ok(texts[0] !== undefined, name);
      }
    }
  });

  test('that had another name are refused with the new one', async (t) => {
    const bench = new Workbench(t);
    for (const [args, sentence] of [
      [['stairs', '--markdown', 'x.md'], /--markdown is no longer an option: write --md FILE/],
      [['top', 'x.log', '--route', '/a'], /--route is no longer an option: use --group/],
      [
        ['replay', 'x.log', '--url', 'http://127.0.0.1:1'],
        /--url .*: give the URL as the second argument, redline replay access\.log http:/,
      ],
      [
        ['advise', '--config', 'x.ts'],
        /--config .*: give the config as the first argument, redline advise/,
      ],
    ] as const) {
      const { code, stderr } = await bench.run([...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, sentence);
      assert.match(stderr, /\(ERR_REDLINE_OPTION\)\n$/);
    }
  });

  test('choose one request wherever requests are sent, also in a group', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        const { url, method, headers } = request;
        response.statusCode = url === '/b' && method === 'GET' && headers['x-one'] === '1' ? 200 : 404;
        response.end(url);
      }).listen(process.env.PORT, '127.0.0.1');`,
    );
    bench.writeConfig({
      requests: [{ method: 'POST', path: '/a', headers: { 'x-one': '1' } }],
      groups: { g: { requests: [{ path: '/c', headers: { 'x-one': '1' } }] } },
      variants: [{ name: 'app', group: 'g', command: [process.execPath, 'app.cjs'] }],
    });
    const args = ['bench', '--request', '/b', '--json', 'r.json'];
    const { code, stderr } = await bench.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bench.result('r.json').groups![0]!.load.requests, ['GET /b']);
    const wrong = await bench.run(['flame', '--request', 'b']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--request "b" does not begin with "\/"/);
    const both = await bench.run(['deopts', '--request', '/b', '--replay', 'x.log']);
    assert.equal(both.code, 2);
    assert.match(both.stderr, /--request is for one request, but --replay brings its own/);
  });
});
