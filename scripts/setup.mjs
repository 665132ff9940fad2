// Prepares a fresh clone: npm packages, the build, and the two programs a benchmark needs. Runs before anything is
// installed, on any Node from 20 on, so it is plain JavaScript without dependencies.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const forTests = process.argv.includes('--for-tests');

/** Programs used by `npm start` and `npm test` besides Node. Each has a substitute, so none is required. */
const tools = [
  {
    programs: ['redis-server', 'valkey-server'],
    isNamed: Boolean(process.env.REDIS_URL),
    debian: 'redis-server',
    brew: 'redis',
    without: forTests
      ? 'the tests that need a Redis are skipped'
      : 'the ladder runs on the in-process store',
  },
  {
    programs: ['wrk'],
    debian: 'wrk',
    brew: 'wrk',
    without: 'the load comes from a client of redline and saturates earlier',
  },
  ...(forTests || process.argv.includes('--haproxy')
    ? [
        {
          programs: ['haproxy'],
          debian: 'haproxy',
          brew: 'haproxy',
          without: 'a built-in round robin balances the replicas',
        },
      ]
    : []),
  ...(process.argv.includes('--bench')
    ? [
        {
          programs: ['gm'],
          debian: 'graphicsmagick',
          brew: 'graphicsmagick',
          without: 'the thumbnails of the benchmark "spawn" are skipped',
        },
      ]
    : []),
  ...(forTests
    ? [
        {
          programs: ['chromium', 'chromium-browser', 'google-chrome'],
          isNamed: Boolean(process.env.CHROMIUM),
          debian: 'chromium',
          brew: '--cask chromium',
          without: 'the tests that open the report are skipped',
        },
        ...sinkServers(),
      ]
    : []),
];

if (Number(process.versions.node.split('.')[0]) < 20) {
  fail(`Redline's development needs Node 20 or newer; this is ${process.version}.`);
}
installPackages('.');
build();
// A release builds its addons itself, and needs no servers.
if (process.argv.includes('--build-only')) process.exit();
if (process.argv.includes('--docs')) {
  // Has its own lock file, so that runs that only test do not install it.
  installPackages('site');
} else {
  // The ladder needs only one of the engines, so a first run does not build the others.
  buildNative(forTests || process.argv.includes('--native') ? [] : ['http_node']);
  installTools();
}
if (forTests) await obtainJars();

function installPackages(folder) {
  const installed = modifiedAt(`${folder}/node_modules/.package-lock.json`);
  if (installed > 0 && installed >= modifiedAt(`${folder}/package-lock.json`)) return;
  step(`Installing npm packages${folder === '.' ? '' : ` of ${folder}`}`);
  const where = folder === '.' ? [] : ['--prefix', folder];
  npm(['ci', ...where, '--no-audit', '--no-fund', '--loglevel=error']);
}

function build() {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  if (!existsSync(join(root, 'packages', 'lab', 'dist', 'cli.js'))) step('Building');
  try {
    execFileSync(compiler, ['-b'], { cwd: root, stdio: 'inherit' });
  } catch {
    fail('The build failed; its messages are above.');
  }
}

/** @param crates empty: all crates */
function buildNative(crates) {
  try {
    execFileSync(process.execPath, [join(root, 'scripts', 'build-native.mjs'), ...crates], {
      stdio: 'inherit',
    });
  } catch {
    const sentence = 'The native engines could not be built: the packages run on Node alone.';
    if (process.env.CI) fail(sentence);
    step(sentence);
  }
}

function installTools() {
  const missing = tools.filter(
    ({ programs, isNamed }) => !isNamed && !programs.some((program) => isOnPath(program)),
  );
  if (missing.length === 0) return;
  if (canUseApt()) {
    const names = missing.map(({ debian }) => debian);
    step(`Installing ${names.join(' and ')} with apt-get`);
    if (apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', ...names)) {
      return;
    }
  }
  for (const { programs, brew, debian, without } of missing) {
    if (programs.some((program) => isOnPath(program))) continue;
    const command =
      process.platform === 'darwin'
        ? `brew install ${brew}`
        : `sudo apt-get install ${debian}, or your system's own package`;
    step(`${programs[0]} is not installed: ${without}. To install it: ${command}`);
  }
}

/** Servers for the tests of the sinks of deferred work, besides Redis. */
function sinkServers() {
  const needs = (what) => `the tests of its ${what} are skipped`;
  return [
    {
      programs: ['rabbitmq-server'],
      debian: 'rabbitmq-server',
      brew: 'rabbitmq',
      without: needs('sink'),
    },
    {
      programs: ['nats-server'],
      debian: 'nats-server',
      brew: 'nats-server',
      without: needs('sink'),
    },
    {
      programs: ['initdb'],
      // Debian installs these programs outside PATH.
      isNamed:
        existsSync('/usr/lib/postgresql') &&
        readdirSync('/usr/lib/postgresql').some((version) =>
          existsSync(join('/usr/lib/postgresql', version, 'bin', 'initdb')),
        ),
      debian: 'postgresql',
      brew: 'postgresql',
      without: needs('sink and of the outbox'),
    },
    {
      programs: ['mariadbd'],
      debian: 'mariadb-server',
      brew: 'mariadb',
      without: 'the tests of the outbox and the inbox in MariaDB are skipped',
    },
    {
      programs: ['java'],
      debian: 'default-jre-headless',
      brew: 'openjdk',
      without: 'the tests of the sinks for Kafka and SQS are skipped',
    },
    {
      programs: ['mvn'],
      debian: 'maven',
      brew: 'maven',
      without: 'the tests of the sinks for Kafka and SQS are skipped',
    },
  ];
}

/** Downloads Kafka and ElasticMQ from Maven into the user's cache folder, once, so that no test waits for it. */
async function obtainJars() {
  const services = join(root, 'scripts', 'services', 'dist', 'index.js');
  const { obtainJavaProgram } = await import(pathToFileURL(services).href);
  for (const name of ['kafka', 'elasticmq']) {
    const { missing } = await obtainJavaProgram(name, () => step(`Fetching the jars of ${name}`));
    if (missing !== undefined) step(`${missing} The tests that need ${name} are skipped.`);
  }
}

function canUseApt() {
  return process.platform === 'linux' && process.getuid?.() === 0 && isOnPath('apt-get');
}

function apt(...args) {
  try {
    execFileSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      // RUNLEVEL=1 keeps the package's own service from starting: the benchmark starts and stops its own server.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    });
    return true;
  } catch (error) {
    process.stderr.write(
      `apt-get ${args[0]} failed: ${String(error.stderr ?? error.message).trim()}\n`,
    );
    return false;
  }
}

function npm(args) {
  // npm passes its path to the scripts that it runs; a direct `node scripts/setup.mjs` finds it on PATH.
  const cli = process.env.npm_execpath;
  const [program, ...prefix] = cli ? [process.execPath, cli] : ['npm'];
  try {
    execFileSync(program, [...prefix, ...args], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch {
    fail(`npm ${args[0]} failed; its messages are above.`);
  }
}

function isOnPath(program) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'].some(
    (folder) => folder !== '' && existsSync(join(folder, program)),
  );
}

function modifiedAt(file) {
  return statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function step(text) {
  process.stderr.write(`${text}\n`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
