// `peer.js CONTENDER`: starts what a contender needs, then becomes the contender. What it has started stays its child, so
// the CPU and memory that are read for it are those of all its processes, its own Redis included.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { count, productOf } from './products.js';

const { HOST, PORT, ORIGIN, PEERS_FOLDER, PROGRAMS } = process.env;
const programs = JSON.parse(PROGRAMS);
const folder = join(PEERS_FOLDER, PORT);
const log = join(PEERS_FOLDER, `${PORT}.log`);
mkdirSync(folder);
const env = { ...process.env, LOG: log };
const name = process.argv[2];

const contenders = {
  nginx: () => [programs.nginx, '-p', folder, '-e', 'stderr', '-c', fill('nginx.conf')],
  haproxy: () => [
    '/bin/sh',
    '-c',
    'exec "$0" -db -f "$1" >>"$2"',
    programs.haproxy,
    fill('haproxy.cfg'),
    log,
  ],
  varnish,
  'axum-default': () => withRedis(programs.axum, 'default'),
  'axum-tuned': () => withRedis(programs['axum-tuned'], 'tuned'),
  'go-redis': () => withRedis(programs['go-cached'], 'go-redis'),
  rueidis: () => withRedis(programs['go-cached'], 'rueidis'),
  bun: () => withRedis(programs.bun, beside('bun.js')),
  'redline-threads': () => withRedis(process.execPath, beside('threads.js')),
};
const node = () => withRedis(process.execPath, beside('node.js'), name);

const [program, ...args] = await (contenders[name] ?? node)();
// On PATH or a whole path: the shell finds either.
process.execve('/bin/sh', ['sh', '-c', 'exec "$0" "$@"', program, ...args], env);

function beside(file) {
  return join(import.meta.dirname, file);
}

/** The file of this name, with what it leaves open filled in. */
function fill(file) {
  const [ORIGIN_HOST, ORIGIN_PORT] = ORIGIN.split(':');
  const known = { HOST, PORT, ORIGIN, ORIGIN_HOST, ORIGIN_PORT, FOLDER: folder, LOG: log };
  const filled = readFileSync(beside(file), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, key) => known[key],
  );
  const into = join(folder, file);
  writeFileSync(into, filled);
  return into;
}

/** Its lines are written by a program beside it, which waits until it is there. */
function varnish() {
  const instance = join(folder, 'varnish');
  const line =
    '{"time":%{%s}t,"reqId":"%{X-Request-Id}i","method":"%m","url":"%U","statusCode":%s,"responseTime":%D,"msg":"request completed"}';
  start(programs.varnishncsa, '-n', instance, '-t', '60', '-a', '-w', log, '-F', line);
  // As many threads as the load keeps busy: two hundred that sleep would make each reading of their clocks slow.
  const settings = ['thread_pools=1', 'thread_pool_min=10'].flatMap((each) => ['-p', each]);
  const where = ['-n', instance, '-a', `${HOST}:${PORT}`, '-f', fill('products.vcl')];
  return [
    programs.varnishd,
    '-F',
    '-j',
    'none',
    '-s',
    'malloc,256m',
    '-T',
    'none',
    ...where,
    ...settings,
  ];
}

async function withRedis(...command) {
  const port = await freePort();
  // With hz 1 it sleeps while nobody asks: a server whose CPU is read when it has nothing left to do is waited for otherwise.
  const quiet = { hz: 1, 'dynamic-hz': 'no' };
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no', ...quiet };
  start(
    programs['redis-server'],
    ...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
  );
  while (!(await accepts(port))) await sleep(20);
  env.REDIS_URL = `redis://127.0.0.1:${port}`;
  const client = new Redis(env.REDIS_URL);
  const all = Array.from({ length: count }, (_, index) => index + 1);
  await client.mset(all.flatMap((id) => [`product:${id}`, productOf(id)]));
  await client.quit();
  return command;
}

function start(file, ...options) {
  spawn(file, options, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isThere) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
