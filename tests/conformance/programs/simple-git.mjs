import { writeFileSync } from 'node:fs';
import { simpleGit } from 'simple-git';

const git = simpleGit({
  maxConcurrentProcesses: 3,
  // It keeps all of git's own variables from git but these.
  allowEnvironment: ['GIT_AUTHOR_DATE', 'GIT_COMMITTER_DATE'],
});
git.outputHandler((command, out, _error, args) => {
  let bytes = 0;
  out.on('data', (chunk) => (bytes += chunk.length));
  out.on('end', () => args[0] === 'log' && console.log(command, args.slice(0, 1), bytes));
});

await git.init(['--initial-branch=main']);
await git.addConfig('user.name', 'A Writer');
await git.addConfig('user.email', 'writer@example.org');
for (const fruit of ['apple', 'pear', 'plum']) {
  writeFileSync(fruit, `${fruit}\n`.repeat(1000));
  await git.add(fruit);
  console.log(await git.commit(`add the ${fruit}`));
}
await git.checkoutLocalBranch('other');
writeFileSync('pear', 'changed\n');
console.log(await git.status());
console.log(await git.diffSummary());
await git.commit('change the pear', ['pear']);
await git.checkout('main');
console.log(await git.mergeFromTo('other', 'main'));
console.log((await git.log()).all, await git.branch());

const [files, head, ...commits] = await Promise.all([
  git.raw('ls-tree', '-r', 'HEAD'),
  git.revparse('HEAD'),
  ...Array.from({ length: 8 }, (_, n) => git.raw('rev-list', '--count', `HEAD~${n % 4}`)),
]);
console.log(files, head, commits);

for (const promise of [git.checkout('no-such-branch'), git.show('no-such-commit')]) {
  await promise.catch((error) => console.log(error.name, error.message));
}
const impatient = simpleGit({ abort: AbortSignal.abort() });
await impatient.status().catch((error) => console.log(error.name, error.message));
const elsewhere = simpleGit({ binary: 'no-such-git' });
await elsewhere.status().catch((error) => console.log(error.name, error.message.split('\n')[0]));
