import type { CrateInside } from './crates-inside.ts';

/** Licences accepted inside an addon; each crate needs one of them. */
const accepted = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Zlib', 'Unicode-3.0']);

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to
whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/**
 * Writes the file that accompanies the addons, as required by the licences of the crates inside.
 *
 * @throws For a crate under a licence that is not accepted, or without a text.
 */
export function licenseTexts(crates: readonly CrateInside[]): string {
  const head = [
    'The addons in this package contain Rust’s standard library (MIT OR Apache-2.0, Copyright (c) The Rust Project',
    'Contributors, https://github.com/rust-lang/rust) and the following crates from crates.io.',
  ].join('\n');
  const parts = crates.map((crate) => `${title(crate)}\n\n${textOf(crate)}`);
  return `${[head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

function title({ name, version, license, authors }: CrateInside): string {
  const by = authors.length > 0 ? ` by ${authors.join(', ')}` : '';
  return `${name} ${version}${by}: ${license}`;
}

function textOf({ name, version, license, authors, texts }: CrateInside): string {
  // `A OR B/C`: one accepted licence is enough. `A AND B` is not split, and so needs a decision by a person.
  const choices = license.split(/ OR |\//);
  if (!choices.some((choice) => accepted.has(choice))) {
    throw new Error(
      `${name} ${version} is under ${license}; accepted are ${[...accepted].join(', ')}. Replace the crate, or accept its licence in scripts/release/license-texts.ts.`,
    );
  }
  if (texts.length > 0) return texts.map((text) => text.trim()).join('\n\n');
  if (!choices.includes('MIT')) {
    throw new Error(
      `${name} ${version} is under ${license}, and its folder holds no licence text.`,
    );
  }
  return `Copyright (c) ${authors.join(', ') || `the authors of ${name}`}\n\n${mit}`;
}
