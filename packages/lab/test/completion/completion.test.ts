import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../bin/redline.mjs', import.meta.url));
const scriptOf = (shell: string): string =>
  execFileSync(process.execPath, [command, 'completion', shell], { encoding: 'utf8' });

/** Words before the tab; the last one is completed. */
const typed: readonly (readonly string[])[] = [
  ['st'],
  [''],
  ['doctor', '--pro'],
  ['top', '--pro'],
  ['top', '--'],
  ['top', 'acc'],
  ['doctor', '--json', 'acc'],
  ['doctor', '--out', ''],
  ['doctor', '--seconds', ''],
  ['completion', ''],
  ['try', '--', 'node', 'acc'],
  ['try', '--', 'node', '--pro'],
];

/** The command that prints what a shell offers for each line: one word a line, an empty line after each list. */
const shells: Record<string, (script: string) => [program: string, args: string[]]> = {
  bash: (script) => [
    'bash',
    [
      '--norc',
      '-c',
      `source ${script}
      ${typed.map((line) => `COMP_WORDS=(redline ${line.map(quoted).join(' ')}); COMP_CWORD=${line.length}; _redline; printf '%s\n' "\${COMPREPLY[@]}" ''`).join('\n')}`,
    ],
  ],
  // In a terminal of its own, because zsh completes in its line editor alone: the words are those that \`compadd\` is given.
  zsh: (script) => [
    'zsh',
    [
      '-f',
      '-c',
      `zmodload zsh/zpty
      zpty shell zsh -f -i
      step() {
        rm -f ${script}.done
        zpty -w -n shell "$1 : > ${script}.done"$'\\n'
        until [[ -e ${script}.done ]]; do zpty -r -t shell _; sleep 0.02; done
      }
      step "PS1= PS2= PROMPT= RPROMPT=; autoload -Uz compinit; compinit -u -D; source ${script}
        compadd() { [[ \\$* == *-[OAD]* ]] && { builtin compadd \\"\\$@\\"; return }; typeset -a __hits; builtin compadd -O __hits \\"\\$@\\"; (( \\$#__hits )) && print -l -- \\$__hits >> ${script}.hits; builtin compadd \\"\\$@\\" };"
      for line in ${typed.map((line) => quoted(`redline ${line.join(' ')}`)).join(' ')}; do
        : > ${script}.hits
        zpty -w -n shell "$line"$'\\t'
        step $'\\C-u'
        sort -u ${script}.hits
        echo
      done
      zpty -d shell`,
    ],
  ],
  fish: (script) => [
    'fish',
    [
      '--no-config',
      '-c',
      `source ${script}
      ${typed.map((line) => `complete -C ${quoted(`redline ${line.join(' ')}`)}; echo`).join('\n')}`,
    ],
  ],
};

function quoted(word: string): string {
  return `'${word}'`;
}

function offeredBy(shell: string, script: string): Map<string, string[]> {
  const [program, args] = shells[shell]!(script);
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd: join(script, '../project'),
    encoding: 'utf8',
    // A shell may wait for a terminal forever.
    timeout: 60_000,
  });
  assert.equal(status, 0, stderr);
  const answers = stdout.split(/^\n/m);
  const words = (text = ''): string[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((each) => each.split('\t')[0]!.replace(/\/$/, ''))
      .toSorted();
  return new Map(typed.map((line, index) => [line.join(' '), words(answers[index])]));
}

const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

for (const shell of Object.keys(shells)) {
  const skip = hasShell(shell) ? false : `${shell} is not installed`;
  describe(`completion in ${shell}`, { skip }, () => {
    let folder: string;
    let offered: Map<string, string[]>;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'redline-completion-'));
      const script = join(folder, 'redline.sh');
      writeFileSync(script, scriptOf(shell));
      mkdirSync(join(folder, 'project/reports'), { recursive: true });
      writeFileSync(join(folder, 'project/access.log'), '');
      offered = offeredBy(shell, script);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));
    const of = (line: string): string[] => offered.get(line)!;

    test('offers the commands', () => {
      assert.deepEqual(of('st'), ['stairs']);
      for (const name of ['try', 'doctor', 'top', 'completion']) {
        assert.ok(of('').includes(name), of('').join());
      }
      assert.ok(!of('').includes('access.log'));
    });

    test('offers the options of the command in the line, and no others', () => {
      assert.deepEqual(of('doctor --pro'), ['--prove']);
      assert.deepEqual(of('top --pro'), []);
      assert.ok(!of('top --').includes('--route'), 'an option of earlier versions');
      assert.ok(of('top --').includes('--json'), of('top --').join());
    });

    test('offers files where an option or the command takes one', () => {
      assert.deepEqual(of('top acc'), ['access.log']);
      assert.deepEqual(of('doctor --json acc'), ['access.log']);
      assert.deepEqual(of('doctor --out '), ['reports']);
      assert.deepEqual(of('doctor --seconds '), []);
    });

    test('offers the choices of an argument', () => {
      assert.deepEqual(of('completion '), ['bash', 'fish', 'zsh']);
    });

    test('offers files, and no options of redline, after the dashes', () => {
      assert.deepEqual(of('try -- node acc'), ['access.log']);
      assert.ok(!of('try -- node --pro').includes('--prove'));
    });
  });
}

test('an unknown shell is refused with the known ones', () => {
  const { status, stderr } = spawnSync(process.execPath, [command, 'completion', 'tcsh'], {
    encoding: 'utf8',
  });
  assert.equal(status, 2);
  assert.match(stderr, /bash, zsh, fish/);
});
