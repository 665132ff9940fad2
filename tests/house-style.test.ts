import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { commentFindings, findings, phrases } from '../scripts/check-style.ts';

const script = join(import.meta.dirname, '../scripts/check-style.ts');

describe('phrases that are refused:', () => {
  const refused = [
    'A closure is no job.',
    'The sink is not there; its jobs wait.',
    'There is no option "x"; there are a and b.',
    'Jobs for the sink "mail", which there is not.',
    'The outage is told once.',
    'A server tells of its event loop.',
    'It would else wait.',
    'It waits for ever.',
    'With a journal it spills, else it rejects.',
    'Its server began anew.',
    'SNS has no server to be had.',
    'Header; may be repeated.',
    'What V8 threw away.',
    'The server did not come up.',
    'It runs when the reply has gone.',
    'What the others are held against.',
    'It ends for want of work.',
    'Misses run as ever.',
    'What cannot be had is skipped.',
    'Lines wait; the app goes on.',
  ];
  for (const sentence of refused) {
    test(sentence, () => {
      assert.equal(findings('a.md', sentence, phrases()).length, 1);
      assert.equal(findings('a.ts', `throw new Error('${sentence}');`, phrases()).length, 1);
    });
  }
});

describe('phrases that are not:', () => {
  const accepted = [
    'There is no upper limit.',
    'It is no longer available.',
    'An interval wholly outside is changed, anything else is unresolved.',
    'If it fails, else if it ends.',
    'The gap is no more than a tenth.',
    'A policy goes on the controller.',
  ];
  for (const sentence of accepted) {
    test(sentence, () => assert.deepEqual(findings('a.md', sentence, phrases()), []));
  }

  test('code, in Markdown', () => {
    const text = 'Run `npm test or else`.\n\n```sh\necho it is no job\n```\n';
    assert.deepEqual(findings('a.md', text, phrases()), []);
  });

  test('names and comments, in source', () => {
    const text = "// This is no string.\nif (a) b();\nelse c(/is no job/);\nconst isNo = 'fine';\n";
    assert.deepEqual(findings('a.ts', text, phrases()), []);
  });
});

describe('phrases that are refused in comments:', () => {
  const refused = phrases('comment-phrases.txt');
  for (const sentence of [
    'What connects, and what to do where that cannot be.',
    'Whether records are still undelivered.',
    'Who asks after 30 s.',
    'So that the loop can end.',
    'Kept until nobody reads it.',
    'The owner is told once.',
    'From here on it is Node’s.',
  ]) {
    test(sentence, () => {
      for (const text of [
        `// ${sentence}`,
        `a();\n  /** ${sentence} */`,
        `/**\n * ${sentence}\n */`,
      ])
        assert.equal(commentFindings('a.ts', text, refused).length, 1);
      assert.equal(commentFindings('a.rs', `fn a() {\n    /// ${sentence}\n}`, refused).length, 1);
      assert.deepEqual(commentFindings('a.ts', `const a = '// ${sentence}';`, refused), []);
    });
  }

  test('and those of code in a comment are not', () => {
    assert.deepEqual(commentFindings('a.ts', '// `nobody` is a user of the system.', refused), []);
    assert.deepEqual(commentFindings('a.rs', "let a = 'b'; // no line of its own", refused), []);
  });
});

test('a finding names its line', () => {
  assert.deepEqual(findings('a.md', 'One.\n\n```\nx\n```\nIt is no job.', phrases()), [
    'a.md:6: "is no": is not a …',
  ]);
});

test('nothing in this repository has one of them', () => {
  const { stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  assert.equal(stdout, '');
});

test('no page runs "npx redline", which is another project: it is npx @redline/lab', () => {
  const { stdout } = spawnSync('git', ['grep', '-lE', 'npx redline\\b', '--', '*.md'], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});

test('no committed result names a folder of the machine it was measured on', () => {
  const { stdout } = spawnSync(
    'git',
    ['grep', '-nE', '"invocation": "[^"]* --(json|html|md|out) /', '--', 'benchmarks/results'],
    { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' },
  );
  assert.equal(stdout, '');
});
