import { x, xSync } from 'tinyexec';

const show = async (label, promise) => {
  const { exitCode, stdout, stderr, name, message, code, syscall } = await promise.then(
    (output) => output,
    (error) => error,
  );
  console.log(label, { exitCode, stdout, stderr, name, message, code, syscall });
};
const sh = (script, options) => x('sh', ['-c', script], options);

await show('plain', sh('echo out; echo err >&2; exit 4'));
await show('throws', sh('exit 5', { throwOnError: true }));
await show('missing', x('no-such-program', ['a']));
await show('missing folder', x('true', [], { nodeOptions: { cwd: 'no-such-folder' } }));
await show('input', x('cat', [], { stdin: 'some input' }));

for (const limit of [(ms) => ({ timeout: ms }), (ms) => ({ signal: AbortSignal.timeout(ms) })]) {
  const process = x('sleep', ['60'], limit(500));
  await show('stopped', process);
  console.log(process.aborted, process.killed, process.exitCode, process.process.signalCode);
}
await show('aborted before', x('sleep', ['60'], { signal: AbortSignal.abort() }));

const killed = x('sleep', ['60']);
console.log(killed.kill('SIGKILL'));
await show('killed', killed);
console.log(killed.killed, killed.exitCode, killed.process.signalCode);

await show('piped', x('printf', ['b\\na\\n']).pipe('sort').pipe('cat', ['-n']));
for await (const line of sh('echo one; echo two')) console.log(line);
const environment = { env: { FRUIT: 'plum' } };
await show('environment', sh('echo $FRUIT', { nodeOptions: environment }));
await show('inherited', sh('echo inherited', { nodeOptions: { stdio: 'inherit' } }));
await show('sync', Promise.resolve(xSync('sh', ['-c', 'echo out; echo err >&2; exit 6'])));
console.log([...xSync('printf', ['1\\n2\\n'])]);
