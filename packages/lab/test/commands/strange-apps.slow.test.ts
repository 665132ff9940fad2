import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom, shuffled } from '../../src/stats/random.ts';
import { Workbench } from './run-cli.ts';

/** Another seed is another set of pairs and another order. */
const seed = Number(process.env['REDLINE_SEED'] ?? 33);
const pairs = 14;
const atATime = 4;

/** Programs that are no server, or not for long. */
const programs: Record<string, string> = {
  'ends at once': '',
  'ends with 3': 'process.exit(3)',
  throws: "throw new Error('no database')",
  rejects: "Promise.reject(new Error('no queue'))",
  'throws nothing': 'throw undefined',
  'is not JavaScript': 'const = ;',
  'is killed': "process.kill(process.pid, 'SIGKILL')",
  'writes much and ends': "process.stderr.write('x'.repeat(5e6)); process.exitCode = 1",
  'has a wrong port': "require('node:http').createServer().listen(70000)",
  'listens at UDP only':
    "require('node:dgram').createSocket('udp4').bind(0, () => setTimeout(() => process.exit(), 300))",
  'speaks HTTP/2': "require('node:http2').createServer().listen(process.env.PORT)",
  'terminates TLS': "require('node:https').createServer({}).listen(process.env.PORT)",
  'speaks no HTTP':
    "require('node:net').createServer((s) => s.end('220 mail\\r\\n')).listen(0); setTimeout(() => process.exit(), 300)",
  'closes once it listens':
    "const s = require('node:http').createServer((q, r) => r.end()).listen(process.env.PORT, () => setTimeout(() => s.close(), 50))",
  'ends once it listens':
    "require('node:http').createServer((q, r) => r.end()).listen(process.env.PORT, () => setTimeout(() => process.exit(1), 50))",
  'answers no HTTP at a socket of HTTP':
    "require('node:http').createServer(() => {}).on('connection', (s) => s.end('hello\\r\\n')).listen(process.env.PORT)",
  'removes its folder':
    "require('node:fs').rmSync(__filename); require('node:http').createServer((q, r) => r.end()).listen(process.env.PORT)",
};

/** How a server listens; HANDLER stands for what it does. */
const places: Record<string, string> = {
  'at PORT': "require('node:http').createServer(HANDLER).listen(process.env.PORT)",
  'at a fixed port': "require('node:http').createServer(HANDLER).listen(4401)",
  'at port 0': "require('node:http').createServer(HANDLER).listen(0)",
  'at ::1': "require('node:http').createServer(HANDLER).listen(4402, '::1')",
  'at localhost': "require('node:http').createServer(HANDLER).listen(4403, 'localhost')",
  'at a Unix socket': "require('node:http').createServer(HANDLER).listen('a.sock')",
  'beside metrics':
    "require('node:http').createServer((q, r) => r.end('# HELP a\\n')).listen(9464); setTimeout(() => require('node:http').createServer(HANDLER).listen(4404), 200)",
  'in a child':
    "if (process.argv[2]) require('node:http').createServer(HANDLER).listen(process.env.PORT); else require('node:child_process').spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' })",
  'and ignores SIGTERM':
    "process.on('SIGTERM', () => {}); require('node:http').createServer(HANDLER).listen(process.env.PORT)",
  'with a lock':
    "try { require('node:fs').closeSync(require('node:fs').openSync('lock', 'wx')) } catch { throw new Error('locked') } require('node:http').createServer(HANDLER).listen(process.env.PORT)",
};

const handlers: Record<string, string> = {
  'refuses everybody': '(q, r) => r.writeHead(401).end()',
  'always fails': '(q, r) => r.writeHead(500).end()',
  'limits everybody': "(q, r) => r.writeHead(429, { 'retry-after': '9' }).end()",
  'destroys every connection': '(q) => q.socket.destroy()',
  'ends in the middle':
    "(q, r) => { r.writeHead(200, { 'content-length': '9' }); r.write('a'); setTimeout(() => q.socket.destroy(), 5) }",
  'redirects to https': "(q, r) => r.writeHead(301, { location: 'https://localhost/' }).end()",
  'redirects to a login': "(q, r) => r.writeHead(302, { location: '/login' }).end()",
  'dies at a request': '() => process.exit(7)',
  throws: "() => { throw new Error('a handler') }",
  'sends much head': "(q, r) => r.writeHead(200, { a: 'x'.repeat(2e4) }).end()",
  'has no page': '(q, r) => r.writeHead(404).end()',
  'writes garbage': "(q) => q.socket.end('HTTP/9.9 hello\\r\\n\\r\\n')",
};

interface Strange {
  name: string;
  source: string;
}

/** All programs, and pairs in which every place and every handler is. */
function strangeApps(): Strange[] {
  const random = seededRandom(seed);
  const [where, what] = [places, handlers].map((each) => shuffled(Object.keys(each), random));
  const mixed = Array.from({ length: pairs }, (_, at) => {
    const [place, handler] = [where![at % where!.length]!, what![at % what!.length]!];
    return {
      name: `listens ${place} and ${handler}`,
      source: places[place]!.replace('HANDLER', handlers[handler]!),
    };
  });
  const alone = Object.entries(programs).map(([name, source]) => ({ name, source }));
  return shuffled([...alone, ...mixed], random);
}

const commands = [
  ['try', '--restarts', '1', '--connections', '2'],
  ['doctor', '--seconds', '1', '--warmup', '0', '--connections', '2'],
];

describe(`every command ends in a sentence with a code, seed ${seed}`, () => {
  test('with apps that are strange', async (t) => {
    const apps = strangeApps();
    assert.ok(apps.length >= 30, `${apps.length}`);
    const waiting = [...apps.entries()];
    const endOne = async ([at, { name, source }]: [number, Strange]): Promise<void> => {
      const bench = new Workbench(t);
      bench.write('app.cjs', source);
      const command = commands[at % commands.length]!;
      const { code, stdout, stderr } = await bench.run([...command, '--', 'node', 'app.cjs']);
      const said = `${name}, ${command[0]}:\n${stderr}`;
      // The last lines of the app itself are indented.
      assert.doesNotMatch(stderr, /ERR_REDLINE_UNEXPECTED|^(node:|\w*Error\b)/m, said);
      if (code === 0) assert.match(stdout, /^(TRY|DOCTOR) /m, said);
      else {
        assert.equal(code, 1, said);
        assert.match(stderr, /^redline: \S.*[.?!:)] \(ERR_REDLINE_[A-Z_]+\)$/m, said);
      }
      assert.deepEqual(bench.survivors(), [], said);
    };
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await endOne(next);
      }
    };
    await Promise.all(Array.from({ length: atATime }, worker));
  });
});
