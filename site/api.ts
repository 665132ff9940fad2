// The reference: the public entry of each package by TypeDoc, as Markdown that VitePress reads like any other page.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { Application } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';

const root = join(import.meta.dirname, '..');
const folder = join(import.meta.dirname, 'pages/api');

/** Name by which it is imported → source. */
const entries = new Map<string, string>();
for (const manifest of globSync('packages/*/package.json', { cwd: root }).toSorted()) {
  const { name, exports } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
    name: string;
    exports: Record<string, { types?: string } | string>;
  };
  const packageFolder = join(root, manifest, '..');
  for (const [path, target] of Object.entries(exports)) {
    const types = typeof target === 'string' ? undefined : target.types;
    if (types === undefined) continue;
    const source = types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
    for (const file of globSync(source, { cwd: packageFolder })) {
      const star = basename(file, '.ts');
      entries.set(join(name, path.replace('*', star)), join(packageFolder, file));
    }
  }
}

rmSync(folder, { recursive: true, force: true });
const options: Partial<PluginOptions> & Record<string, unknown> = {
  name: 'API',
  entryPoints: [...entries.values()],
  tsconfig: join(import.meta.dirname, 'tsconfig.api.json'),
  plugin: ['typedoc-plugin-markdown'],
  basePath: root,
  disableGit: true,
  // A path begins where all entries do.
  sourceLinkTemplate: 'https://github.com/redline/redline/blob/main/packages/{path}#L{line}',
  readme: 'none',
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  skipErrorChecking: true,
  logLevel: 'Error',
  out: folder,
  outputFileStrategy: 'modules',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: false,
  useCodeBlocks: true,
  expandObjects: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  tableColumnSettings: {
    hideSources: true,
    hideInherited: true,
    hideOverrides: true,
    hideModifiers: true,
  },
};
const app = await Application.bootstrapWithPlugins(options);
const project = await app.convert();
if (project === undefined)
  throw new Error('TypeDoc could not read the packages; its messages are above.');
const nameOf = new Map([...entries].map(([name, file]) => [file, name]));
for (const module of project.children ?? []) {
  const file = module.sources?.[0]?.fullFileName;
  const name = file && nameOf.get(file);
  if (name === undefined) throw new Error(`${module.name} is the module of no entry.`);
  module.name = name;
}
await app.generateOutputs(project);

// It numbers the anchor of a name that a property has as well, which is a row of a table and has none.
for (const file of globSync('**/*.md', { cwd: folder })) {
  const text = readFileSync(join(folder, file), 'utf8');
  const heads = [...text.matchAll(/^#+ (.+)$/gm)].map(([, head]) =>
    head!.toLowerCase().replaceAll(/[^a-z\d]/g, ''),
  );
  const isTwice = (name: string): boolean => heads.indexOf(name) !== heads.lastIndexOf(name);
  const corrected = text.replaceAll(/\(#([a-z\d]+)-\d+\)/g, (link, name: string) =>
    isTwice(name) ? link : `(#${name})`,
  );
  writeFileSync(join(folder, file), `---\npageClass: api\n---\n\n${corrected}`);
}

const items = globSync('**/*.md', { cwd: folder })
  .filter((file) => file !== 'index.md')
  .toSorted()
  .map((file) => ({
    text: /^# (.+)$/m.exec(readFileSync(join(folder, file), 'utf8'))![1]!.replaceAll('\\', ''),
    link: `/api/${relative('.', file).replace(/\.md$/, '')}`,
  }));
writeFileSync(
  join(folder, 'sidebar.json'),
  JSON.stringify([{ text: 'API', link: '/api/', items }]),
);
