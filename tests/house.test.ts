import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { rustFunctions } from '../scripts/rust-functions.ts';

const script = join(import.meta.dirname, '../scripts/house.ts');

describe('npm run house counts', () => {
  test('the lines and the parameters of a Rust function, without self', () => {
    const source = `
impl<'a> Room<'a> {
    pub fn measure<F: Fn(u8) -> u8>(
        &'a mut self,
        at: (u8, u8),
        with: F, // a, comment
    ) -> Result<(), Error> {
        say('{', "fn no(a, b) {");
    }
}

trait Measured {
    fn lines(&self) -> usize;
}
`;
    assert.deepEqual(rustFunctions(source), [
      { name: 'measure', line: 3, lines: 7, parameters: 2 },
      { name: 'lines', line: 13, lines: 0, parameters: 0 },
    ]);
  });

  test('every package and crate, and no import leads back to its file', () => {
    const table = execFileSync(process.execPath, [script], { encoding: 'utf8' });
    for (const folder of ['packages/http', 'packages/lab', 'crates/http_engine'])
      assert.match(table, new RegExp(`^\\| ${folder} \\| \\d+ \\| [\\d,]+ \\| \\d+ `, 'm'));
    assert.match(table, /Import cycles, types included: 0\./);
    assert.match(table, /^Results of benchmarks: [\d,]+ lines of JSON in \d+ files\.$/m);
  });
});
