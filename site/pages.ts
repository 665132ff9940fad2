// Which files of the repository are pages of the site, where, and in which order a reader meets them.
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const root: string = join(import.meta.dirname, '..');

export interface Page {
  /** From the root of the repository. */
  source: string;
  /** Without a slash in front and without an ending, e.g. `guide/http`. */
  route: string;
  /** In the sidebar. */
  label: string;
}

export interface StagedPage extends Page {
  title: string;
  /** Its first sentences. */
  description: string;
}

export interface Section {
  title: string;
  pages: Page[];
}

/** In the order of a first afternoon. */
const afternoon: [title: string, guides: [name: string, label: string][]][] = [
  [
    'Start',
    [
      ['first-afternoon', 'A first afternoon'],
      ['try', 'Try it on your app'],
      ['install', 'Install'],
    ],
  ],
  [
    'Measure',
    [
      ['measuring', 'Compare two servers'],
      ['access-logs', 'Routes and replays of a log'],
      ['runtimes', 'On every runtime'],
      ['statistics', 'The statistics'],
    ],
  ],
  [
    'Find',
    [
      ['doctor', 'Doctor: what costs time'],
      ['stairs', 'Stairs: cost of each stage'],
      ['calls-out', 'Calls: what a request waits for'],
      ['flame', 'Flame: where time goes'],
      ['deopts', 'Deopts: code V8 discards'],
      ['heap', 'Heap: what stays in memory'],
      ['advise', 'Advice for hot code'],
      ['legacy-http', 'An old server, step by step'],
    ],
  ],
  [
    'Fix',
    [
      ['http', 'A faster server below'],
      ['logger', 'Logger'],
      ['from-nestjs-pino', 'From nestjs-pino'],
      ['json-cache', 'Cache JSON responses'],
      ['scale-out', 'Several replicas'],
      ['defer', 'Work after the response'],
      ['defer-migrate', 'From a queue call'],
      ['defer-operate', 'Deferred work in production'],
      ['child-process-options', 'Beyond node:child_process'],
      ['process-pool', 'A pool that starts processes'],
      ['deploy', 'Deploy'],
      ['jest', 'Jest'],
    ],
  ],
  [
    'Prove',
    [
      ['prove', 'Prove a piece of advice'],
      ['ci', 'In CI'],
      ['glossary', 'Glossary'],
    ],
  ],
];

const inOrder: Section[] = afternoon.map(([title, pages]) => ({
  title,
  pages: pages.map(([name, label]) => ({
    source: `docs/guide/${name}.md`,
    route: `guide/${name}`,
    label,
  })),
}));

const placed = new Set(inOrder.flatMap(({ pages }) => pages.map(({ source }) => source)));
const others = found('docs/guide/*.md', (file) => `guide/${basename(file, '.md')}`).filter(
  ({ source }) => !placed.has(source),
);

/** A guide that nobody has given a place is below the others. */
export const guides: Section[] =
  others.length === 0 ? inOrder : [...inOrder, { title: 'More', pages: others }];

export const packages: Section[] = [
  {
    title: 'Packages',
    pages: ['http', 'nest', 'response-cache', 'defer', 'child-process', 'lab', 'eslint-plugin'].map(
      (name) => ({
        source: `packages/${name}/README.md`,
        route: `packages/${name}`,
        label: `@redline/${name}`,
      }),
    ),
  },
  {
    title: 'Examples',
    pages: found('examples/*/README.md', (file) => `examples/${basename(dirname(file))}`),
  },
];

const rulePage = (file: string): string => {
  const folder = dirname(file);
  return `${basename(dirname(folder))}/${basename(folder)}`;
};

export const rules: Section[] = [
  { title: 'Rules', pages: found('packages/eslint-plugin/src/rules/*/page.md', rulePage) },
  { title: 'Myths', pages: found('packages/eslint-plugin/src/myths/*/page.md', rulePage) },
];

export const design: Section[] = [
  {
    title: 'Why it is built this way',
    pages: [
      { source: 'docs/design/README.md', route: 'design/index', label: 'Overview' },
      ...found('docs/design/!(README).md', (file) => `design/${basename(file, '.md')}`),
    ],
  },
  {
    title: 'The project',
    pages: [
      { source: 'TENETS.md', route: 'design/tenets', label: 'Tenets' },
      { source: 'ARCHITECTURE.md', route: 'design/architecture', label: 'Architecture' },
      { source: 'CONTRIBUTING.md', route: 'design/contributing', label: 'Contributing' },
    ],
  },
];

export const sections: Section[] = [...guides, ...packages, ...rules, ...design];

export const pages: Page[] = sections.flatMap((section) => section.pages);

const listed = new Set(pages.map(({ source }) => source));
const forgotten = globSync('docs/**/*.md', { cwd: root }).filter((file) => !listed.has(file));
if (forgotten.length > 0) {
  throw new Error(`${forgotten.join(', ')}: on no page of the site; add it to site/pages.ts.`);
}

function found(pattern: string, routeOf: (file: string) => string): Page[] {
  return globSync(pattern, { cwd: root })
    .toSorted()
    .map((source) => {
      const route = routeOf(source);
      return { source, route, label: basename(route) };
    });
}
