// What the action does: `redline ci`, `redline stairs --budget` beside it, one comment for both. Plain JavaScript without
// dependencies: it runs on a machine that has nothing but Node.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { keepComment } from './comment.mjs';

const { env } = process;
const given = (name) => (env[`REDLINE_${name}`] ?? '').trim();
const folder = mkdtempSync(join(tmpdir(), 'redline-action-'));
const redline = findRedline();

fetchBase();
const target = given('TARGET') === '' ? [] : [given('TARGET')];
const command = given('COMMAND') === '' ? [] : ['--', given('COMMAND')];
const comparison = run([
  'ci',
  ...target,
  ...option('base'),
  ...option('build'),
  ...option('before'),
  ...option('fail-if-slower'),
  ...option('seconds'),
  ...split(given('OPTIONS')),
  ...reports('ci'),
  ...command,
]);
const budget =
  given('BUDGET') === ''
    ? undefined
    : run(['stairs', ...target, '--budget', given('BUDGET'), ...reports('stairs'), ...command]);

const sections = [comparison, budget].filter((each) => each !== undefined);
const failed = sections.filter(({ status }) => status !== 0);
const whole = sections.map(({ report }) => report).join('\n');
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, whole);
if (given('COMMENT') !== 'false') await comment(whole);
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed.length > 0 ? 1 : 0;

/** The project's own, or else one from npm. */
function findRedline() {
  for (let at = resolve('.'); ; at = dirname(at)) {
    const file = join(at, 'node_modules', '.bin', 'redline');
    if (existsSync(file)) return [file];
    if (dirname(at) === at)
      return ['npx', '--yes', `--package=@redline/lab@${given('VERSION')}`, 'redline'];
  }
}

/** A checkout on a runner has one commit: that of the base is fetched, where it is a branch. */
function fetchBase() {
  const branch = /^(?:origin\/)?(.*)$/.exec(given('BASE') || env.GITHUB_BASE_REF || 'main')[1];
  try {
    const ref = `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
    execFileSync('git', ['fetch', '--no-tags', '--depth=1', 'origin', ref], { stdio: 'inherit' });
  } catch {
    // A tag or a commit, or it is there already: redline says if it is not.
  }
}

function option(name) {
  const value = given(name.toUpperCase().replaceAll('-', '_'));
  return value === '' ? [] : [`--${name}`, value];
}

function reports(name) {
  return ['--md', join(folder, `${name}.md`), '--out', join(folder, 'out')];
}

/** What failed before there was a report is the report. */
function run(args) {
  const [program, ...first] = redline;
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], {
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1', GITHUB_TOKEN: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 2 ** 20,
  });
  process.stdout.write(stdout ?? '');
  process.stderr.write(stderr ?? '');
  const file = join(folder, `${args[0]}.md`);
  const said = (stderr ?? '').trim().split('\n').slice(-20).join('\n');
  const report = existsSync(file)
    ? readFileSync(file, 'utf8')
    : `### redline ${args[0]} did not finish\n\n\`\`\`\n${said.replaceAll('```', "'''")}\n\`\`\`\n`;
  return { status, report };
}

/** A fork may not write comments: that is not what a build fails for. */
async function comment(body) {
  try {
    const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH ?? '', 'utf8'));
    const number = event.pull_request?.number;
    if (number === undefined) return;
    await keepComment({
      api: env.GITHUB_API_URL ?? 'https://api.github.com',
      repository: env.GITHUB_REPOSITORY,
      token: env.GITHUB_TOKEN,
      number,
      marker: `<!-- redline: ${given('NAME')} -->`,
      body,
    });
  } catch (error) {
    process.stderr.write(`::warning::redline could not write its comment: ${error.message}\n`);
  }
}

/** Words of one input, with quotes as a shell has them. */
function split(text) {
  const words = text.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, a, b) => a ?? b));
}
