import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** Whole programs: what they print, how they end, and that they end. `cp` is the engine, `folder` an empty one. */
export const programs: Record<string, string> = {
  'a program with a child waits for it': `cp.spawn('sh', ['-c', 'sleep 0.1; echo waited'], { stdio: 'inherit' })`,
  'unref with ignored stdio lets the program end': `
    const child = cp.spawn('sleep', ['5'], { stdio: 'ignore', detached: true });
    child.unref();
    process.on('exit', () => { console.log('ends'); child.kill() });`,
  // The pipes outlive the process: which of the two libuv hears of first is otherwise a matter of luck.
  'unref with pipes does not': `
    const child = cp.spawn('sh', ['-c', 'sleep 1 &']);
    child.unref();
    child.on('exit', () => console.log('seen'));`,
  'unref of the child and of its pipes does': `
    const child = cp.spawn('sleep', ['5']);
    child.unref(); child.stdin.unref(); child.stdout.unref(); child.stderr.unref();
    process.on('exit', () => { console.log('ends'); child.kill('SIGKILL') });`,
  'unref and ref again': `
    const child = cp.spawn('sh', ['-c', 'sleep 0.2'], { stdio: 'ignore' });
    child.unref(); child.ref();
    child.on('exit', () => console.log('seen'));`,
  'unref of a fork': `
    const child = cp.fork(worker, { stdio: 'ignore' });
    child.unref(); child.channel.unref();
    process.on('exit', () => { console.log('ends'); child.kill('SIGKILL') });`,
  'a channel keeps the program': `
    const child = cp.fork(worker);
    child.on('message', (message) => { console.log(message); child.disconnect() });
    child.on('exit', (code) => console.log('exit', code));`,
  'process.exit right after a detached spawn': `
    cp.spawn('sh', ['-c', 'sleep 0.1; echo started > ' + folder + '/file'], { detached: true, stdio: 'ignore' }).unref();
    process.on('exit', () => {});
    process.exit(3);`,
  'an error nobody listens for': `
    process.on('uncaughtException', (error) => console.log(error.code, error.syscall));
    cp.spawn('redline-no-such-program');`,
  'an error nobody catches': `cp.spawn('redline-no-such-program')`,
  'a listener that throws': `
    process.on('uncaughtException', (error) => console.log(error.message));
    const child = cp.spawn('true');
    child.on('exit', () => { throw new Error('from exit') });
    child.on('close', () => console.log('close', child.exitCode));
    cp.spawn('true').on('close', () => console.log('another closes'));`,
  'a listener that throws and a program that dies of it': `
    cp.spawn('true').on('exit', () => { throw new Error('from exit') });
    setTimeout(() => console.log('never'), 1000);`,
  'a stdin that nobody ends goes with the parent': `
    const child = cp.spawn('sh', ['-c', 'cat; echo eof > ' + folder + '/file'], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.unref();
    setTimeout(() => process.exit(), 100);`,
  'children of a program that is killed live on': `
    cp.spawn('sh', ['-c', 'sleep 0.3; echo lives > ' + folder + '/file'], { stdio: 'ignore' });
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);`,
  'in a worker thread': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + ');' +
      "const { parentPort } = require('node:worker_threads');" +
      "process.env.ONLY_HERE = 'yes';" +
      "const child = cp.spawn('sh', ['-c', 'echo $ONLY_HERE; exit 4']);" +
      "let out = ''; child.stdout.on('data', (c) => out += c);" +
      "child.on('close', (code) => parentPort.postMessage([out, code]));";
    const workers = [1, 2, 3].map(() => new Worker(code, { eval: true }));
    for (const worker of workers) worker.on('message', (m) => console.log(m)).on('exit', (code) => console.log('exit', code));`,
  'a worker that is terminated': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + ');' +
      "for (let i = 0; i < 20; i++) cp.spawn('sleep', ['0.2']).stdout.on('data', () => {});" +
      "cp.exec('echo x', () => {}); require('node:worker_threads').parentPort.postMessage(1)";
    const worker = new Worker(code, { eval: true });
    worker.on('message', () => worker.terminate().then((code) => {
      console.log('terminated', code);
      cp.exec('echo still', (error, stdout) => console.log(stdout));
    }));`,
  'the Sync functions in worker threads': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + ');' +
      "process.env.ONLY_HERE = 'yes';" +
      "console.log(cp.execSync('echo $ONLY_HERE; sleep 0.2').toString(), cp.spawnSync('sh', ['-c', 'exit 4']).status);";
    const workers = [1, 2, 3].map(() => new Worker(code, { eval: true }));
    console.log(cp.spawnSync('sh', ['-c', 'sleep 0.3; exit 5']).status);`,
  'signals during spawnSync': `
    let children = 0;
    process.on('SIGCHLD', () => children++);
    process.on('SIGUSR2', () => console.log('handled'));
    console.log(cp.spawnSync('sh', ['-c', 'kill -USR2 $PPID; sleep 0.2; kill -USR2 $PPID; exit 3']).status);
    setTimeout(() => console.log(children > 0), 50);`,
  'a signal that ends the program during spawnSync': `
    process.on('exit', () => console.log('never'));
    cp.spawnSync('sh', ['-c', 'kill -TERM $PPID; sleep 1']);
    console.log('never');`,
  'a worker that is terminated during spawnSync': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + ');' +
      "require('node:worker_threads').parentPort.postMessage(1); cp.spawnSync('sleep', ['0.5'])";
    const worker = new Worker(code, { eval: true });
    worker.on('message', () => worker.terminate().then((code) => {
      console.log('terminated', code);
      console.log(cp.execSync('echo still').toString());
    }));`,
  'a worker that ends the program while another waits': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + ');' +
      "require('node:worker_threads').parentPort.postMessage(1); cp.spawnSync('sleep', ['1'])";
    new Worker(code, { eval: true }).on('message', () => process.exit(7));`,
  'spawnSync without descriptors left': `
    const fs = require('node:fs'); const open = [];
    cp.spawnSync('true');
    process.stdout.write('');
    try { for (;;) open.push(fs.openSync('/dev/null')) } catch {}
    const { status, error } = cp.spawnSync('true');
    for (const fd of open) fs.closeSync(fd);
    console.log(status, error.code, cp.spawnSync('true').status);`,
  'process.exit while other threads start children without end': `
    const { Worker } = require('node:worker_threads');
    const code = 'const cp = require(' + JSON.stringify(engine) + '); let ended = 0;' +
      "const one = () => cp.spawn('true', { stdio: 'ignore' }).on('close', () => {" +
      "  if (++ended === 30) require('node:worker_threads').parentPort.postMessage(1); one() });" +
      'for (let count = 0; count < 20; count++) one();';
    let busy = 0;
    for (let count = 0; count < 2; count++) {
      new Worker(code, { eval: true }).on('message', () => { if (++busy === 2) process.exit(3) });
    }`,
  'process.env that was replaced': `
    process.env = { PATH: process.env.PATH, MINE: 'x' };
    cp.exec('env | grep -c MINE', (error, stdout) => console.log(stdout));`,
  'a nice value that was changed': `
    require('node:os').setPriority(5);
    cp.exec('nice', (error, stdout) => console.log(stdout));`,
  'a nice value that is changed right after the calls': `
    for (const number of [1, 2, 3, 4]) {
      cp.spawn('nice').stdout.on('data', (text) => console.log(number, String(text)));
    }
    require('node:os').setPriority(5);`,
  'stdin of the program inherited': `cp.spawn('cat', { stdio: 'inherit' })`,
  'a global of the name of a module': `
    require('node:domain');
    globalThis.domain = 'example.org';
    cp.execFile('echo', ['x'], (error, stdout) => console.log('got', stdout.trim()));`,
  'in the REPL': `
    const { spawn } = require('node:child_process');
    const repl = spawn(process.execPath, ['-i'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    repl.stdout.on('data', (chunk) => { text += chunk; if (text.includes('got it')) repl.stdin.end() });
    repl.on('close', (code) => console.log(code, text.includes('got it')));
    repl.stdin.write('require(' + JSON.stringify(engine) + ').execFile("echo", ["it"], (error, stdout) => console.log("got", stdout))\n');`,
  'async hooks around the handler of a signal that a child sends': `
    const counts = {};
    const bump = (name) => counts[name] = (counts[name] ?? 0) + 1;
    const ours = new Set();
    require('node:async_hooks').createHook({
      init(id, type) { if (type === 'SIGNALWRAP') { ours.add(id); bump('init') } },
      before(id) { if (ours.has(id)) bump('before') },
      after(id) { if (ours.has(id)) bump('after') },
    }).enable();
    let heard = 0;
    const timer = setInterval(() => {}, 1000);
    process.on('SIGUSR2', () => {
      console.log(heard, JSON.stringify(counts), require('node:async_hooks').executionAsyncId() !== 0);
      if (++heard < 3) cp.exec('kill -USR2 ' + process.pid);
      else clearInterval(timer);
    });
    cp.exec('kill -USR2 ' + process.pid);`,
  'piped input for a missing program nobody listens to': `
    process.on('uncaughtException', (error) => console.log('uncaught', error.code));
    require('node:stream').Readable.from(['a', 'b']).pipe(cp.spawn('redline-no-such-program').on('error', () => {}).stdin);
    cp.execFile('redline-no-such-program', (error) => console.log(error.code)).stdin.end('data');`,
  'a timeout and a grandchild that holds the output': `
    cp.execFile('sh', ['-c', 'sleep 30 & echo hi; echo $! > ' + folder + '/pid'], { timeout: 300 }, (error, stdout) => {
      console.log(error.killed, stdout);
      process.on('exit', () => process.kill(Number(require('node:fs').readFileSync(folder + '/pid', 'utf8'))));
    });`,
  'an abort and a grandchild that holds the output': `
    const controller = new AbortController();
    const command = 'sleep 30 & echo hi; echo $! > ' + folder + '/pid; wait';
    const child = cp.execFile('sh', ['-c', command], { signal: controller.signal }, (error, stdout) => {
      console.log(error.name, stdout);
      process.on('exit', () => process.kill(Number(require('node:fs').readFileSync(folder + '/pid', 'utf8'))));
    });
    const wait = setInterval(() => {
      if (!require('node:fs').existsSync(folder + '/pid')) return;
      clearInterval(wait);
      setTimeout(() => controller.abort(), 50);
    }, 5);`,
  'more than maxBuffer of a grandchild after the exit': `
    cp.exec('(sleep 0.2; yes | head -c 300000; exec sleep 30) & echo $! > ' + folder + '/pid', { maxBuffer: 1000 }, (error) => {
      console.log(error.code);
      process.on('exit', () => process.kill(Number(require('node:fs').readFileSync(folder + '/pid', 'utf8'))));
    });`,
  'an extra pipe that is ended and not read': `
    const child = cp.spawn('sh', ['-c', 'cat <&3; exit 3'], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    child.stdio[3].end();
    child.on('close', (code) => console.log('close', code));`,
  // An exit that comes with the end of the output may find the loop gone, with Node too: the child waits for that end.
  'an output that is unreferenced later': `
    const child = cp.spawn('sh', ['-c', 'echo a; read go; echo b; exec >&-; read on; exit 3']);
    child.stdout.on('data', (chunk) => console.log(String(chunk).trim()));
    child.stdout.once('data', () => { child.stdout.unref(); child.stdin.write('go\\n') });
    child.stdout.on('close', () => child.stdin.write('on\\n'));
    child.on('close', (code) => console.log('close', code));`,
  'output looked at after the exit that a grandchild holds': `
    const child = cp.spawn('sh', ['-c', '(sleep 0.5; echo later) & exit 0']);
    child.on('exit', () => setTimeout(() => child.stdout.on('data', (chunk) => console.log(String(chunk))), 100));
    child.on('close', () => console.log('close'));`,
  // Each has three pipes, and a program may have 400 descriptors.
  'ninety children at once': `
    const ends = {};
    for (let count = 0; count < 90; count++) {
      const child = cp.spawn('true');
      child.on('error', (error) => console.log(error.code));
      child.on('close', (code) => { ends[code] = (ends[code] ?? 0) + 1 });
    }
    process.on('exit', () => console.log(JSON.stringify(ends)));`,
  'arguments for a shell, which Node and the engine are given': `
    process.on('warning', ({ code }) => console.log(code));
    cp.spawn('echo', ['a'], { shell: true }).on('close', () => {
      cp.execFile('echo', ['b'], { shell: true }, () => {
        cp.spawnSync('echo', ['c'], { shell: true });
        require('node:child_process').spawn('echo', ['d'], { shell: true });
      });
    });`,
  'a Ctrl-C is heard before the close of the child that it ended': `
    const { spawn } = require('node:child_process');
    const program = () => {
      let heard = 0;
      process.on('SIGINT', () => heard++);
      const cp = require(process.argv[2]);
      const script = 'trap "exit 9" INT; echo READY; sleep 3 > /dev/null 2>&1 & wait';
      const child = cp.spawn('sh', ['-c', script], { stdio: ['ignore', 'inherit', 'ignore'] });
      // Mostly both come between two looks at the descriptors.
      const busy = setInterval(() => { for (const end = Date.now() + 50; Date.now() < end; ); }, 1);
      child.on('close', (code) => { console.log(code, heard); clearInterval(busy) });
    };
    require('node:fs').writeFileSync(folder + '/program.cjs', '(' + program + ')()');
    // Not each of them: the kernel signals one process of the group after the other, and a crowded machine may pause it there.
    let heardFirst = 0;
    const round = (left) => {
      const child = spawn(process.execPath, ['--no-warnings', folder + '/program.cjs', engine], { detached: true });
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text === 'READY\\n') process.kill(-child.pid, 'SIGINT');
      });
      child.on('close', () => {
        if (text === 'READY\\n9 1\\n') heardFirst++;
        else if (text !== 'READY\\n9 0\\n') console.log(JSON.stringify(text));
        if (left > 1) round(left - 1);
        else console.log('heard first', heardFirst >= 5);
      });
    };
    round(7);`,
  'tools that were there before the engine': `
    const { Worker } = require('node:worker_threads');
    const tool = () => {
      const add = (options) => { console.log('seen', options.file); options.envPairs.push('ADDED=by a tool') };
      for (const holder of [process.binding('spawn_sync'), require('node:child_process').ChildProcess.prototype]) {
        const { spawn } = holder;
        holder.spawn = function (options) { add(options); return spawn.call(this, options) };
      }
    };
    new Worker('(' + tool + ')(); const cp = require(' + JSON.stringify(engine) + ');' +
      'console.log(cp.execSync("echo sync $ADDED").toString());' +
      'cp.exec("echo async $ADDED", (error, stdout) => console.log(stdout));', { eval: true });`,
  'warnings of what is to be deprecated': `
    const { execFile } = require('node:child_process');
    for (const code of ['', 'process.binding("spawn_sync")']) {
      execFile(process.execPath, ['--pending-deprecation', '-e', 'require(' + JSON.stringify(engine) + ');' + code],
        (error, stdout, stderr) => console.log(code, stderr.match(/DEP0111/g)));
    }`,
  'no descriptors left': `
    const fs = require('node:fs'); const open = [];
    const warm = cp.spawn('true'); warm.on('close', () => {
      process.on('exit', () => {});
      try { for (;;) open.push(fs.openSync('/dev/null')) } catch (error) { console.log(error.code) }
      const child = cp.spawn('true');
      console.log(child.pid, child.stdout, child.stdio);
      child.on('error', (error) => {
        console.log(error.code, error.syscall, child.exitCode);
        for (const fd of open) fs.closeSync(fd);
        cp.spawn('true').on('exit', (code) => console.log('again', code));
      });
    });`,
};

/** What a program does with an engine. */
export async function runProgram(code: string, engine: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-program-'));
  const worker = `${folder}/worker.cjs`;
  const source = `
    const engine = ${JSON.stringify(engine)};
    const folder = ${JSON.stringify(folder)};
    const worker = ${JSON.stringify(worker)};
    require('node:fs').writeFileSync(worker, "process.send('hello'); process.on('message', () => {})");
    const cp = require(engine);
    ${code}`;
  const child = spawn(
    'sh',
    ['-c', 'ulimit -n 400; exec "$0" --no-warnings -e "$1"', process.execPath, source],
    {
      timeout: 240_000,
      killSignal: 'SIGKILL',
    },
  );
  child.stdin.end('given');
  const out = ['', ''];
  child.stdout.on('data', (chunk) => (out[0] += chunk));
  child.stderr.on('data', (chunk) => (out[1] += chunk));
  const [exitCode, signal] = await once(child, 'close');
  const lines = out[0]!.split('\n').sort();
  const errors = out[1]!.split('\n').filter((line) => /^[A-Za-z]*Error/.test(line));
  const left = code.includes('/file') ? await readLeft(`${folder}/file`) : '';
  rmSync(folder, { recursive: true, force: true });
  return { lines, errors, exitCode, signal, left };
}

/** What a child that outlives the program leaves behind, as soon as it has. */
async function readLeft(file: string): Promise<string> {
  for (const end = Date.now() + 60_000; Date.now() < end; await setTimeout(20)) {
    if (existsSync(file) && statSync(file).size > 0) return readFileSync(file, 'utf8');
  }
  return '';
}
