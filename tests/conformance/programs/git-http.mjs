// A git server: each request is piped into a child, whose output is the response.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import backend from 'git-http-backend';

const run = promisify(execFile);
const git = async (cwd, ...args) => {
  const all = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.version=2', ...args];
  return (await run('git', all, { cwd })).stdout;
};
mkdirSync('served.git');
await git('.', 'init', '--quiet', '--bare', '--initial-branch=main', 'served.git');
await git('served.git', 'config', 'http.receivepack', 'true');

const codes = [];
const server = createServer((request, response) => {
  const service = backend(request.url, (error, found) => {
    if (error) return response.writeHead(500).end(String(error));
    response.setHeader('content-type', found.type);
    const child = spawn(found.cmd, [...found.args, 'served.git']);
    child.on('close', (code) => codes.push([found.cmd, found.action, code]));
    child.stdout.pipe(found.createStream()).pipe(child.stdin);
  });
  request.pipe(service).pipe(response);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const url = `http://127.0.0.1:${server.address().port}/served.git`;

await git('.', 'init', '--quiet', '--initial-branch=main', 'one');
writeFileSync('one/fruit', 'apple\n'.repeat(1000));
writeFileSync('one/bytes', randomBytes(2_000_000));
await git('one', 'add', '.');
await git('one', 'commit', '--quiet', '-m', 'add the apples');
await git('one', 'push', '--quiet', url, 'main');
await git('.', 'clone', '--quiet', url, 'two');
writeFileSync('two/fruit', 'pear\n');
await git('two', 'commit', '--quiet', '-a', '-m', 'change the fruit');
await git('two', 'push', '--quiet', url, 'main');
await git('one', 'pull', '--quiet', url, 'main');
const clones = Array.from({ length: 4 }, (_, n) => git('.', 'clone', '--quiet', url, `clone-${n}`));
await Promise.all(clones);
console.log(await git('one', 'log', '--format=%s'), await git('clone-3', 'log', '--format=%s'));
console.log(await git('served.git', 'fsck', '--full'));
await git('.', 'push', '--quiet', url, 'no-such-branch').catch(({ code }) => console.log(code));
server.close();
server.closeAllConnections();
await once(server, 'close');
console.log(codes.map(String).toSorted());
