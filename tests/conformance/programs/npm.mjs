import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

const scripts = {
  prehello: 'echo before',
  hello: `node -e "console.log('hello', process.argv.slice(1), process.env.npm_lifecycle_event)"`,
  posthello: 'echo after >&2',
  nested: 'npm run --silent hello -- from nested',
  failing: 'echo failing; exit 9',
  killed: 'kill -TERM $$',
  reading: 'tr a-z A-Z',
  prepack: 'echo packing >&2',
};
const workspaces = ['one', 'two'];
writeFileSync(
  'package.json',
  JSON.stringify({ name: 'fruit', version: '1.2.3', scripts, workspaces, files: ['index.js'] }),
);
writeFileSync('index.js', 'export {};\n');
for (const name of workspaces) {
  mkdirSync(name);
  const own = { name, version: '1.0.0', scripts: { hello: `echo hello from ${name}` } };
  writeFileSync(`${name}/package.json`, JSON.stringify(own));
}

const calls = [
  ['run', 'hello', '--', 'a b', "it's"],
  ['run', '--silent', 'nested'],
  ['run', 'failing'],
  ['run', 'killed'],
  ['run', 'no-such-script'],
  ['run', 'hello', '--workspaces'],
  ['exec', '-c', 'echo $npm_package_name in $(basename "$PWD")'],
  ['pack', '--dry-run', '--json', '--workspaces=false'],
  ['pack', '--dry-run'],
  ['pkg', 'get', 'version'],
];
for (const args of calls) {
  const {
    code = 0,
    stdout,
    stderr,
  } = await promisify(execFile)('npm', args).catch((error) => error);
  console.log(args, { code }, `\n${stdout}\n${stderr}`);
}
const reading = spawn('npm', ['run', '--silent', 'reading'], {
  stdio: ['pipe', 'inherit', 'inherit'],
});
reading.stdin.end('from the pipe\n');
console.log(await once(reading, 'close'));
console.log(spawnSync('npm', ['run', '-s', 'hello'], { encoding: 'utf8' }).output);
