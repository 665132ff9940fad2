// One start of an engine whose N-th system call fails. Prints what became of it, and what it left behind, as JSON.
// Arguments: http or spawn, N.
const { accessSync, readdirSync, readFileSync, readlinkSync } = require('node:fs');

function command(path) {
  try {
    accessSync(`/fail-nth/${path}`);
    return true;
  } catch {
    return false;
  }
}

/** Descriptors and threads that only engines have; libuv's own are there before. */
function left() {
  const kinds = {};
  for (const fd of readdirSync('/proc/self/fd')) {
    let target = 'gone';
    try {
      target = readlinkSync(`/proc/self/fd/${fd}`);
    } catch {}
    const kind = /^anon_inode:\[?(\w+)\]?$|^(socket):/.exec(target);
    if (kind) kinds[kind[1] ?? kind[2]] = (kinds[kind[1] ?? kind[2]] ?? 0) + 1;
  }
  for (const thread of readdirSync('/proc/self/task')) {
    let name = '';
    try {
      name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
    } catch {}
    if (/^(spawn|http-)/.test(name)) kinds.threads = (kinds.threads ?? 0) + 1;
  }
  return kinds;
}

const turn = () => new Promise((done) => setTimeout(done, 2));

/** What is left once nothing of a single connection or child is, or as long as such things go on to be there. */
async function untilNoneLeft(before) {
  for (let turns = 0; ; turns++) {
    await turn();
    const after = left();
    const isDone = ['pidfd', 'socket'].every((kind) => (after[kind] ?? 0) <= (before[kind] ?? 0));
    if (isDone || turns > 1000) return after;
  }
}

async function http(n) {
  const { createServer } = require('node:http');
  const warm = createServer();
  await new Promise((done) => warm.listen(0, '127.0.0.1', done));
  await new Promise((done) => warm.close(done));
  const redline = await import('@redline/http');
  const before = left();
  command(n);
  let server;
  const outcome = await new Promise((done) => {
    server = redline.createServer({ threaded: true });
    server.on('error', ({ code, syscall }) => done(`${code} ${syscall}`));
    server.listen(0, '127.0.0.1', () => done('listening'));
  });
  const fired = command('fired');
  command(0);
  const { name, reason } = redline.engine();
  await new Promise((done) => server.close(done));
  return { outcome, fired, engine: name, reason, before, after: await untilNoneLeft(before) };
}

async function spawn(n) {
  const nodes = require('node:child_process');
  await new Promise((done) => nodes.spawn('true').on('close', done));
  await turn();
  const before = left();
  command(n);
  const redline = await import('@redline/child-process');
  const outcome = await new Promise((done) => {
    const child = redline.spawn('true');
    child.on('error', ({ code, syscall }) => done(`${code} ${syscall}`));
    child.on('close', (code) => done(`exit ${code}`));
  });
  const fired = command('fired');
  command(0);
  const { name, reason } = redline.engine();
  const after = await untilNoneLeft(before);
  // What has failed once works the next time.
  const again = await new Promise((done) => {
    const child = redline.spawn('true');
    child.on('error', ({ code }) => done(code));
    child.on('close', (code) => done(`exit ${code}`));
  });
  return { outcome, again, fired, engine: name, reason, before, after };
}

module.exports = async function attempt(which, n) {
  console.log(JSON.stringify(await (which === 'http' ? http(n) : spawn(n))));
};
