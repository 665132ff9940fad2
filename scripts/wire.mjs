// Generates the TypeScript constants shared by the engines and JavaScript from their Rust files. It does not need cargo:
// those files contain modules of plain numbers, and any other line is an error. Plain JavaScript, because build-native.mjs
// runs it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const files = [
  ['crates/http_engine/src/wire.rs', 'packages/http/src/native/wire.ts'],
  ['crates/spawn_engine/src/wire.rs', 'packages/child-process/src/native/wire.ts'],
  ['crates/telemetry_ring/src/wire.rs', 'packages/telemetry/src/native/wire.ts'],
];

/** Writes the files that differ from their Rust source. */
export function writeWire() {
  for (const [from, to] of files) {
    const text = typescriptOf(readFileSync(join(root, from), 'utf8'), from);
    const target = join(root, to);
    if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text);
  }
}

/** @throws for a line that is not a module, a plain number or a comment */
export function typescriptOf(rust, name) {
  const lines = rust.split('\n').flatMap((line, index) => {
    if (line.startsWith('//!')) return [];
    const typescript = typescriptOfLine(line);
    if (typescript !== undefined) return typescript;
    throw new Error(
      `${name}:${index + 1} must be a module, a plain number or a comment; got ${line}`,
    );
  });
  const heading = `// Generated from ${name} by scripts/wire.mjs: change it there, and run npm run wire.`;
  return [heading, ...lines].join('\n');
}

function typescriptOfLine(line) {
  if (line === '') return '';
  if (line === '}') return '} as const;';
  const [, indent, comment] = /^( {4})?\/\/\/ (.+)$/.exec(line) ?? [];
  if (comment !== undefined) return `${indent === undefined ? '' : '  '}/** ${comment} */`;
  const [, module] = /^pub mod (\w+) \{$/.exec(line) ?? [];
  if (module !== undefined) return `export const ${module.toUpperCase()} = {`;
  const [, number, rust] = /^ {4}pub const (\w+): (?:u32|usize|i32) = (.+);$/.exec(line) ?? [];
  const value = number === undefined ? undefined : valueOf(rust);
  return value === undefined ? undefined : `  ${number}: ${value},`;
}

/** Evaluates `1`, `-1`, `0x8000_0000` or `1 << 4`. */
function valueOf(rust) {
  const [, base, shift] = /^(\d+) << (\d+)$/.exec(rust) ?? [];
  if (base !== undefined) return Number(base) * 2 ** Number(shift);
  return /^(?:-?\d+|0x[\da-f_]+)$/.test(rust) ? Number(rust.replaceAll('_', '')) : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeWire();
