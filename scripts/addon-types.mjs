// Generates the native.d.cts of a package from the output of napi-derive while cargo compiles the package's addon: a line of
// JSON for each function, class and object of the Rust side. Plain JavaScript, because build-native.mjs runs it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Does nothing if cargo has not compiled the crate: the crate is then unchanged. */
export function writeAddonTypes(crate, from, to) {
  if (!existsSync(from)) return;
  const text = addonTypes(
    crate,
    readFileSync(from, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  if (!existsSync(to) || readFileSync(to, 'utf8') !== text) writeFileSync(to, text);
}

function addonTypes(crate, definitions) {
  const sorted = definitions.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const of = (wanted) => sorted.filter(({ kind }) => kind === wanted);
  const names = [...of('fn'), ...of('struct')].map(({ name }) => name);
  const membersOf = (type) =>
    of('impl')
      .filter(({ name }) => name === type)
      .map(({ def }) => def);
  const parts = [
    `// Generated from crates/${crate} by scripts/build-native.mjs: change it there.`,
    '/** @throws Where no addon loads; the message is one clause that says why. */\nexport declare function loadAddon(): Addon;',
    `export interface Addon ${body(names.map((name) => `readonly ${name}: typeof ${name}`))}`,
    ...of('fn').map(({ js_doc, def }) => `${js_doc}declare ${def};`),
    ...of('struct').map(
      ({ js_doc, name }) => `${js_doc}declare class ${name} ${body(membersOf(name))}`,
    ),
    ...of('interface').map(
      ({ js_doc, name, def }) => `${js_doc}export interface ${name} ${body([def])}`,
    ),
    `export type { ${names.join(', ')} };\n`,
  ];
  // napi-derive uses a type's JavaScript name only after its definition.
  const renamed = definitions.filter(({ name, original_name: own }) => own && own !== name);
  return renamed.reduce(
    (text, { name, original_name: own }) => text.replaceAll(new RegExp(`\\b${own}\\b`, 'g'), name),
    parts.join('\n\n'),
  );
}

/** Members end in a semicolon; comments do not. */
function body(members) {
  const lines = members
    .flatMap((member) => member.split('\n'))
    .filter((line) => line.trim() !== '')
    .map((line) =>
      /^\s*(?:\/\*\*|\*)/.test(line) ? line : `${line.trim().replace(/[;,]$/, '')};`,
    );
  return `{\n${lines.map((line) => `  ${line.trimEnd()}\n`).join('')}}`;
}
