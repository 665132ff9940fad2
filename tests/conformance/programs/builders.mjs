// esbuild's service and sass's compiler: long-lived children that speak a binary protocol over their pipes.
import { writeFileSync } from 'node:fs';
import * as esbuild from 'esbuild';
import * as sass from 'sass-embedded';

const transform = (n) =>
  esbuild.transform(`const value: number = ${n}; export { value }`, { loader: 'ts' });
const many = await Promise.all(Array.from({ length: 30 }, (_, n) => transform(n)));
console.log(many.map(({ code }) => code).join(''));
await esbuild.transform('const = ', {}).catch(({ errors }) => console.log(errors));
console.log(esbuild.transformSync('let a: string', { loader: 'ts' }).code);

writeFileSync(
  'main.ts',
  "import { fruit } from 'virtual:fruit'; import './other'; console.log(fruit);",
);
writeFileSync('other.ts', 'export const other = 1 as const;');
const plugin = {
  name: 'fruit',
  setup(build) {
    build.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'virtual' }));
    build.onLoad({ filter: /.*/, namespace: 'virtual' }, async () => ({
      contents: "export const fruit = 'plum'",
    }));
    build.onEnd(({ errors }) => console.log('built', errors.length));
  },
};
const context = await esbuild.context({
  entryPoints: ['main.ts'],
  bundle: true,
  write: false,
  format: 'esm',
  plugins: [plugin],
});
for (let n = 0; n < 3; n++) console.log((await context.rebuild()).outputFiles[0].text);
await context.dispose();
console.log(esbuild.buildSync({ entryPoints: ['other.ts'], write: false }).outputFiles[0].text);
await esbuild.stop();

const source = (n) =>
  `$size: ${n}px; .a { width: double($size); &:hover { color: rgb(1 2 3 / 50%) } }`;
const functions = { 'double($n)': ([n]) => new sass.SassNumber(n.assertNumber().value * 2, 'px') };
const slow = { 'double($n)': async ([n]) => functions['double($n)']([n]) };
console.log(sass.compileString(source(1), { functions }).css);
const styles = await Promise.all(
  Array.from({ length: 20 }, (_, n) => sass.compileStringAsync(source(n), { functions: slow })),
);
console.log(styles.map(({ css }) => css).join('\n'));
const importers = [
  {
    canonicalize: (url) => new URL(`virtual:${url}`),
    load: async (url) => ({ contents: `.from { content: '${url.pathname}' }`, syntax: 'scss' }),
  },
];
console.log((await sass.compileStringAsync("@use 'fruit'", { importers })).css);
await sass.compileStringAsync('.a { width: }').catch((error) => console.log(error.message));
