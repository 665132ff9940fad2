import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { ContainerBench } from './container-bench.ts';

const skip = process.platform === 'linux' ? false : 'the stand-in for a container needs /proc';

/** An app whose packages are binaries of the machine's own system until they are installed in a container. */
const app = `
const system = require('native');
require('node:http').createServer((request, response) => {
  response.end(system + ' ' + process.env.GREETING + ' ' + process.env.OUTSIDE);
}).listen(process.env.PORT);`;

function writeApp(bench: ContainerBench, folder: string, lock = 'package-lock.json'): void {
  bench.file(join(folder, 'package.json'), '{"scripts":{"start":"node app.cjs"}}');
  bench.file(join(folder, lock), '{}');
  bench.file(join(folder, 'app.cjs'), app);
  bench.file(join(folder, 'node_modules/native/index.js'), "throw Error('a binary of macOS')");
}

/** Every file below a folder, with what is in it. */
function contentOf(folder: string): Map<string, string> {
  const files = globSync('**', { cwd: folder }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return new Map(
    files.sort().map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

describe('redline try --docker', { skip }, () => {
  test('tries an app in a container, with packages installed there, and writes the reports here', async (t) => {
    const bench = new ContainerBench(t);
    const root = 'my app, v1:2';
    bench.file(join(root, 'package.json'), '{"workspaces":["apps/*"]}');
    bench.file(join(root, 'package-lock.json'), '{}');
    bench.file(join(root, '.npmrc'), 'registry=http://127.0.0.1:9/');
    const native = 'node_modules/native/index.js';
    bench.file(join(root, native), "throw Error('a binary of macOS')");
    bench.file(join(root, "apps/it's web/app.cjs"), app);
    bench.file(join(root, "apps/it's web/package.json"), '{"scripts":{"start":"node app.cjs"}}');
    bench.file('set.env', 'GREETING=hello\nREGISTRY=mirror\n');
    const before = contentOf(join(bench.folder, root));
    const { code, stdout, stderr } = await bench.try(
      [
        '--image',
        'my-app:1',
        '--cwd',
        join(root, "apps/it's web"),
        '--out',
        'the results',
        '--env-file',
        'set.env',
        '--env',
        'TOKEN=s3cret',
        '--env',
        'PASSED',
        '--restarts',
        '1',
        '--connections',
        '4',
        '-H',
        'x-a: 1',
        '--md',
        '-',
        '--',
        'node',
        'app.cjs',
      ],
      { ...bench.env(), OUTSIDE: 'not passed on', PASSED: 'on' },
    );
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^Copies \S*\/my app, v1:2 into a container of my-app:1 \(docker\), installs its packages there with npm ci /m,
    );
    assert.match(stdout, /^### node app\.cjs, GET \//);
    assert.match(stdout, /Measured in a container of my-app:1 by docker/);
    assert.match(stderr, /^TRY {3}node app\.cjs, GET \//m);
    const [json, html] = ['json', 'html'].map((ending) =>
      globSync(`the results/*.${ending}`, { cwd: bench.folder }),
    );
    assert.deepEqual([json?.length, html?.length], [1, 1]);
    const result = JSON.parse(bench.read(json![0]!)) as TryResult;
    assert.match(result.invocation, /^redline try --docker --image my-app:1 .*--env TOKEN=\*\*\*/);
    assert.equal(result.bench.invocation, result.invocation);
    assert.equal(result.compared, 'body');

    assert.deepEqual(contentOf(join(bench.folder, root)), before);
    const [tools, packages] = bench.installs();
    assert.deepEqual(tools?.words.slice(0, 4), ['npm', 'install', '--prefix', 'tools']);
    assert.match(tools!.words.at(-1)!, /^@redline\/lab@\d+\.\d+\.\d+/);
    assert.deepEqual(packages?.words.slice(0, 2), ['npm', 'ci']);
    assert.deepEqual(
      [packages?.cwd, packages?.NODE_ENV, packages?.CI, packages?.REGISTRY],
      ['app', 'development', '1', 'mirror'],
    );
    // No mount, so that no folder of the machine is made or changed, and no secret for every user to read.
    const words = bench.calls().flat();
    assert.doesNotMatch(words.join('\n'), /^-v|--volume(?!s)|--mount|s3cret/m);
    const run = bench.calls().find(([, verb]) => verb === 'run')!;
    assert.deepEqual(run.slice(-3, -1), ['my-app:1', '-c']);
    assert.deepEqual(await bench.left(), []);
  });

  test('passes the variables on that were named, and none besides', async (t) => {
    const bench = new ContainerBench(t);
    writeApp(bench, '.');
    bench.file(
      'app.cjs',
      `const { GREETING, OUTSIDE } = process.env;
      throw Error('greeting ' + GREETING + ', outside ' + OUTSIDE)`,
    );
    const { code, stderr } = await bench.try(
      ['--env', "GREETING=it's $HOME", '--', 'node', join(bench.folder, 'app.cjs')],
      { ...bench.env(), OUTSIDE: 'x' },
    );
    assert.equal(code, 1);
    assert.match(stderr, /Error: greeting it's \$HOME, outside undefined/);
    assert.deepEqual(bench.containers(), []);
  });

  test('copies the files that options name, and says with --dry-run what it would do', async (t) => {
    const bench = new ContainerBench(t);
    writeApp(bench, 'apps/web');
    const request = { req: { method: 'GET', url: '/busy' }, res: { statusCode: 200 } };
    bench.file('logs of today/access.log', JSON.stringify(request));
    const log = ['--log', 'logs of today/access.log'];
    const { code, stdout, stderr } = await bench.try([
      '--cwd',
      'apps/web',
      ...log,
      '--dry-run',
      '--before',
      'node -e 1',
      '--',
      'node',
      'app.cjs',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Requests, many times each: GET \/busy$/m);
    assert.match(stderr, /Nothing was requested: --dry-run\.\n$/);
    assert.equal(stdout, '');
    assert.deepEqual(bench.containers(), []);
  });

  test('names another machine that the engine is on', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', "throw Error('begun')");
    const env = { ...bench.env(), DOCKER_HOST: 'ssh://me:secret@build.example.com' };
    const byVariable = await bench.try(['--', 'node', 'app.cjs'], env);
    assert.match(
      byVariable.stderr,
      /^! docker runs it on build\.example\.com \(DOCKER_HOST\), not on this machine: /m,
    );
    assert.doesNotMatch(byVariable.stderr, /secret/);
    assert.ok(bench.calls().some((words) => words.join(' ').includes('rm --force --volumes')));
    bench.program('host/other', 'docker.mjs', 'docker');
    bench.script(
      'host/docker',
      'if [ "$1" = context ]; then echo far tcp://10.0.0.7:2376; else exec other "$@"; fi',
    );
    const byContext = await bench.try(['--', 'node', 'app.cjs']);
    assert.match(byContext.stderr, /^! docker runs it on 10\.0\.0\.7 \(the context far\), /m);
  });

  test('fetches an image that is not there', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', "throw Error('begun')");
    const env = bench.env({ image: ['Error: No such image: node:24', 1] });
    const { stderr } = await bench.try(['--', 'node', 'app.cjs'], env);
    assert.match(stderr, /^try: fetching node:24$/m);
    assert.match(stderr, /Error: begun/);
    assert.ok(bench.calls().some(([, ...words]) => words.join(' ') === 'pull node:24'));
    // Without a package.json nothing is installed but redline.
    assert.equal(bench.installs().length, 1);
  });
});

describe('redline try --docker chooses an engine:', { skip }, () => {
  const down = 'Cannot connect to the Docker daemon. Is the docker daemon running?';
  const command = ['--', 'node', 'app.cjs'];

  test('says in a sentence that none is installed', async (t) => {
    const bench = new ContainerBench(t, []);
    const { code, stderr } = await bench.try(command);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /none of docker, podman, nerdctl and lima is on PATH: install one of them, then try again\. \(ERR_REDLINE_DOCKER\)\n$/,
    );
  });

  test('says that one is installed but does not run, in other words', async (t) => {
    const bench = new ContainerBench(t);
    const { code, stderr } = await bench.try(command, bench.env({ ps: [down, 1] }));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /docker is installed, but cannot be used: Cannot connect .* running\. If it does not run, start Docker .*\(ERR_REDLINE_DOCKER\)\n$/,
    );
    assert.doesNotMatch(stderr, /on PATH/);
  });

  for (const [installed, used] of [
    [['podman'], 'podman run'],
    [['nerdctl'], 'nerdctl run'],
    [['lima'], 'lima nerdctl run'],
  ] as const) {
    test(`uses ${installed.join()} with the same words, where docker does not run`, async (t) => {
      const bench = new ContainerBench(t, installed);
      if (installed[0] === 'lima') bench.program('host/lima', 'docker.mjs', '"$@"; exit; ');
      bench.script('host/docker', `echo '${down}' >&2; exit 1`);
      bench.file('app.cjs', "throw Error('begun')");
      const { stderr } = await bench.try(command);
      assert.match(stderr, /Error: begun/);
      const own = installed[0] === 'lima' ? ['lima', ...bench.calls()[0]!] : bench.calls()[0]!;
      assert.equal(own[0], installed[0]);
      const run = bench.calls().find(([, verb]) => verb === 'run')!;
      assert.ok(used.endsWith(run.slice(0, 2).join(' ')), run.join(' '));
    });
  }
});

describe('redline try --docker refuses before it starts anything', { skip }, () => {
  test('what was typed wrong, with exit status 2', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('shop.har', '{}');
    const cases: [args: string[], message: RegExp][] = [
      [['--cwd', 'gone', '--', 'node', 'a.js'], /--cwd "gone" does not exist/],
      [['--log', 'gone.log', '--', 'node', 'a.js'], /--log "gone\.log" does not exist/],
      [['--env', 'A-B=1', '--', 'node', 'a.js'], /--env takes NAME=value or NAME; got "A-B"/],
      [['--env', 'NOT_SET', '--', 'node', 'a.js'], /--env NOT_SET has no value/],
      [['--record', '--', 'node', 'a.js'], /--record is for an app on this machine/],
      [['app.js'], /"?app\.js/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await bench.try(args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    for (const option of ['--image=node:24', '--env=A=1', '--env-file=pids']) {
      const { code, stderr } = await bench.run(['try', option, '--', 'node', 'a.js']);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`${option.split('=')[0]} is for --docker`));
    }
    // Node reads an option of this name before redline does, and has a message of its own.
    const { code, stderr } = await bench.try(['--env-file', 'gone.env', '--', 'node', 'a.js']);
    assert.ok(code === 2 || code === 9, stderr);
    assert.match(stderr, /gone\.env"?(:| cannot be read)/);
    assert.deepEqual(bench.calls(), []);
    assert.deepEqual(globSync('*', { cwd: bench.folder }).sort(), ['pids', 'shop.har']);
  });
});

describe(
  'redline try --docker says which step failed, leaves no container, and exits with 1:',
  { skip },
  () => {
    const command = ['--', 'node', 'app.cjs'];
    type Case = [name: string, fails: Parameters<ContainerBench['env']>[0], message: RegExp];
    const cases: Case[] = [
      [
        'an image that cannot be fetched',
        { image: ['No such image', 1], pull: ['pull access denied for my-app', 1] },
        /The image node:24 is not on this machine and cannot be fetched: pull access denied for my-app\./,
      ],
      [
        'an image without a shell',
        {
          run: [
            'exec: "sh": executable file not found in $PATH\n\nRun \'docker run --help\' for more information',
            127,
          ],
        },
        /No container could be started from node:24: exec: "sh": executable file not found in \$PATH\. The image needs a shell/,
      ],
      [
        'an image without Node',
        { 'exec:node --version': ['node: not found', 127] },
        /The image node:24 has no Node with npm; redline needs Node 22 or newer/,
      ],
      [
        'an image without tar',
        { 'exec:tar': ['sh: tar: not found', 127] },
        /could not be copied into the container: sh: tar: not found\./,
      ],
      [
        'no redline to install',
        { 'exec:tools': ['npm error 404', 1] },
        /failed at installing redline, with exit code 1\. Its last lines: .*npm error 404/,
      ],
      [
        'packages that cannot be installed',
        { 'exec:npm ci': ['npm error need auth', 1] },
        /failed at installing the packages of the app \(npm ci .*\), with exit code 1\..*npm error need auth/,
      ],
      [
        'a container without memory left',
        { 'exec:exec sh': ['', 137] },
        /it was killed, as it is where the memory/,
      ],
      [
        'a container that somebody else removes',
        { 'exec:exec sh': ['Error response from daemon: No such container', 1] },
        /No such container.*redline did not finish in the container: it ended with exit code 1/s,
      ],
    ];
    for (const [name, fails, message] of cases) {
      test(name, async (t) => {
        const bench = new ContainerBench(t);
        writeApp(bench, '.');
        const { code, stderr } = await bench.try(command, bench.env(fails));
        assert.equal(code, 1, stderr);
        assert.match(stderr, message);
        assert.match(stderr, /\(ERR_REDLINE_DOCKER\)/);
        assert.deepEqual(await bench.left(), []);
      });
    }

    test('an image with an old Node', async (t) => {
      const bench = new ContainerBench(t);
      bench.script('image/node', 'echo v20.1.0');
      bench.file('app.cjs', '');
      const { code, stderr } = await bench.try(['--image', 'old', ...command]);
      assert.equal(code, 1);
      assert.match(stderr, /The image old has Node 20; redline needs Node 22 or newer/);
    });

    test('a folder that could not be read to its end', async (t) => {
      const bench = new ContainerBench(t);
      bench.file('app.cjs', '');
      // A part that is whole in itself: only the exit code tells.
      bench.script(
        'host/tar',
        `/bin/tar -cf - -C "${bench.folder}" app.cjs; echo 'tar: data: cannot open' >&2; exit 2`,
      );
      const { code, stderr } = await bench.try(command);
      assert.equal(code, 1);
      assert.match(stderr, /could not be copied into the container: tar: data: cannot open\./);
      assert.deepEqual(bench.installs(), []);
    });

    test('a folder that is not copied', async (t) => {
      const bench = new ContainerBench(t);
      bench.file('package.json', '{"workspaces":["apps/*"]}');
      bench.file('package-lock.json', '{}');
      bench.file('node_modules/web/package.json', '{}');
      const { code, stderr } = await bench.try(['--cwd', 'node_modules/web', ...command]);
      assert.equal(code, 1);
      assert.match(stderr, /--cwd: node_modules\/web of \S+ is not in the container/);
      assert.match(stderr, /\(ERR_REDLINE_DOCKER\)/);
    });
  },
);

describe('redline try --docker ends as the redline in the container does:', { skip }, () => {
  test('with its message and exit status, and where the services of this machine are', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', "require('node:net').connect(1, '127.0.0.1')");
    const command = ['--', 'node', 'app.cjs'];
    const refused = await bench.try(command);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /did not start: it exited.*ECONNREFUSED.*ERR_REDLINE_SERVER|ERR_REDLINE_SERVER.*ECONNREFUSED/s,
    );
    assert.match(
      refused.stderr,
      /! In the container, localhost is the container itself\. A service of this machine is at host\.docker\.internal there: give its address with --env\.\n$/,
    );
    const url = 'DATABASE_URL=postgres://localhost/db';
    const named = await bench.try(['--env', url, ...command]);
    assert.match(
      named.stderr,
      /host\.docker\.internal there: give DATABASE_URL with that name in place of localhost, with --env\.\n$/,
    );
    assert.ok(
      bench.calls().some((words) => words.includes('--add-host=host.docker.internal:host-gateway')),
    );
    const unfit = "require('node:https').createServer({}).listen(process.env.PORT)";
    bench.file('app.cjs', unfit);
    const tls = await bench.try(command);
    assert.equal(tls.code, 1);
    assert.match(tls.stderr, /Not for you: the app terminates TLS itself.*\(ERR_REDLINE_TRY\)\n$/s);
  });

  for (const status of [2, 130, 143]) {
    test(`with ${status}`, async (t) => {
      const bench = new ContainerBench(t);
      bench.file('app.cjs', '');
      const env = bench.env({ 'exec:exec sh': ['said there', status] });
      const { code, stdout, stderr } = await bench.try(['--', 'node', 'app.cjs'], env);
      assert.equal(code, status, stderr);
      assert.match(stderr, /^said there\n$/m);
      assert.doesNotMatch(stderr, /ERR_REDLINE/);
      assert.equal(stdout, '');
      assert.deepEqual(bench.containers(), []);
    });
  }
});

test('redline try on another system names --docker before it starts anything', async (t) => {
  const bench = new ContainerBench(t);
  bench.file('mac.cjs', "Object.defineProperty(process, 'platform', { value: 'darwin' })");
  bench.file('app.cjs', "require('node:fs').writeFileSync('started', '')");
  const env = { NODE_OPTIONS: `--require=${join(bench.folder, 'mac.cjs')}` };
  const { code, stderr } = await bench.run(['try', '--', 'node', 'app.cjs'], env);
  assert.equal(code, 1);
  assert.match(stderr, /is for Linux, and this is macOS: add --docker .*\(ERR_REDLINE_TRY\)\n$/);
  assert.deepEqual(globSync('started', { cwd: bench.folder }), []);
});
