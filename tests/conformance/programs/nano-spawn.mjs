import spawn from 'nano-spawn';

const shape = ({ stdout, stderr, output, exitCode, signalName, name, message, command }) => {
  return { stdout, stderr, output, exitCode, signalName, name, message, command };
};
const show = async (label, promise) =>
  console.log(label, shape(await promise.catch((error) => error)));
const sh = (script, options) => spawn('sh', ['-c', script], options);

await show('plain', sh('echo out; echo err >&2'));
await show('fails', sh('echo out; exit 4'));
await show('killed', sh('kill -TERM $$'));
await show('missing', spawn('no-such-program', ['a']));
await show('missing folder', spawn('true', [], { cwd: 'no-such-folder' }));
await show('input', spawn('cat', [], { stdin: { string: 'some input' } }));
await show('timeout', spawn('sleep', ['60'], { timeout: 300 }));
await show('aborted', spawn('sleep', ['60'], { signal: AbortSignal.timeout(300) }));
await show('inherited', sh('echo shown', { stdout: 'inherit' }));
await show('a pipeline', sh('printf "b\\na\\n"').pipe('sort').pipe('cat', ['-n']));
await show('a failing pipeline', sh('exit 3').pipe('cat'));
await show('environment', sh('echo $FRUIT', { env: { FRUIT: 'plum' }, preferLocal: true }));
await show('node', spawn('node', ['-e', 'console.log(process.argv0, process.execArgv.length)']));
for await (const line of sh('echo one; echo two')) console.log(line);
const child = await sh('cat').nodeChildProcess;
child.stdin.end('back and forth');
for await (const chunk of child.stdout) console.log(String(chunk));
