import { $, within } from 'zx';

const piped = await $`printf '%s\n' pear apple fig`.pipe($`sort`).pipe($`head -n 2`);
console.log(piped.lines());

const failing = await $`echo out; echo err >&2; exit 3`.nothrow();
console.log(
  failing.exitCode,
  failing.signal,
  failing.stdout,
  failing.stderr,
  String(failing.cause),
);

const rejected = await $`cat no-such-file`.catch((error) => error);
console.log(rejected.exitCode, rejected.stderr);

const missing = await $`no-such-program --flag`.nothrow().quiet();
console.log(missing.exitCode, missing.stderr);

const stopped = await $`sleep 60`.timeout('500ms', 'SIGTERM').nothrow();
console.log(stopped.exitCode, stopped.signal);

const controller = new AbortController();
const aborted = $({ signal: controller.signal })`echo started; sleep 60`.nothrow();
for await (const line of aborted) {
  console.log(line);
  controller.abort();
}
console.log((await aborted).signal);

const killed = $`sleep 60`.nothrow();
await killed.kill('SIGKILL');
console.log((await killed).signal);

const written = $`cat`;
written.stdin.write('one\n');
written.stdin.end('two\n');
console.log(await written.text());

console.log($.sync({ input: 'given to a sync call' })`tr a-z A-Z`.stdout);
console.log($.sync({ nothrow: true })`exit 7`.exitCode);

await within(async () => {
  $.verbose = true;
  $.cwd = '/';
  $.env = { ...process.env, FRUIT: 'plum' };
  await $`pwd; echo $FRUIT; echo complaint >&2`;
});

const many = await Promise.all(Array.from({ length: 20 }, (_, n) => $`echo ${`${n} $HOME 'x'`}`));
console.log(many.map(String).join(''));
console.log((await $`head -c 3000000 /dev/zero`.quiet()).stdout.length);
