import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Workbench } from './commands/run-cli.ts';

/** Where each command is explained. */
const guides: Record<string, string[]> = {
  try: ['try'],
  doctor: ['doctor'],
  ci: ['ci'],
  bench: ['measuring', 'ci'],
  ladder: ['measuring'],
  stairs: ['stairs'],
  flame: ['flame'],
  deopts: ['deopts'],
  heap: ['heap'],
  runtimes: ['runtimes'],
  top: ['access-logs'],
  replay: ['access-logs'],
  prove: ['prove'],
  advise: ['advise'],
};

function textOf(guide: string): string {
  const folder = join(import.meta.dirname, '../../../docs/guide');
  return readFileSync(join(folder, `${guide}.md`), 'utf8');
}

describe('the guides', () => {
  for (const [command, pages] of Object.entries(guides)) {
    test(`name every option of redline ${command}, and none it does not have`, async (t) => {
      const { code, stdout } = await new Workbench(t).run([command, '--help']);
      assert.equal(code, 0);
      const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(
        ([, option]) => option!,
      );
      const text = pages.map(textOf).join('\n');
      const missing = options.filter((option) => option !== '--help' && !text.includes(option));
      assert.deepEqual(missing, []);
      const lines = text.matchAll(new RegExp(`redline(?:/lab)? ${command} ([^\\n#]*)`, 'g'));
      const used = [...lines].flatMap(([, line]) => [
        ...line!.split(/ -- |`/)[0]!.matchAll(/(?<=\s|^)--[\w-]+/g),
      ]);
      const unknown = used.map(([option]) => option).filter((option) => !options.includes(option));
      assert.deepEqual(unknown, []);
    });
  }

  test('are each told of by the command they explain', async (t) => {
    const { stdout } = await new Workbench(t).run(['--help']);
    for (const command of Object.keys(guides))
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
  });
});
