import { differOn } from '../packages/http/test/conformance/exceptions.ts';
import { suites } from '../packages/http/test/conformance/suites.ts';
import { table } from '../benchmarks/tables/format.ts';

const others = 'small programs over every package';
const more: Record<string, [string, string, string]> = {
  26: [
    ', each with and without a thread',
    'as described above; those of handlers also under eight frameworks; random handlers and bytes',
    "Node's, Express's, Koa's and Fastify's own tests",
  ],
  24: [', each with and without a thread', 'as described above', others],
  22: ['', 'as described above, or because of faults in Node', others],
};

/**
 * Node versions on which `@redline/http` is compared, and the number of compared behaviours, counted from the tests: for
 * packages/http/README.md.
 */
export function checkedNodesTable(): string {
  const names = new Set(Object.values(suites).flatMap((behaviours) => Object.keys(behaviours)));
  const rows = Object.entries(more).map(([line, [how, why, tests]]) => {
    const different = differOn(line).filter((name) => names.has(name)).length;
    const same = names.size - different;
    return [
      line,
      `${names.size} behaviours${how}: ${same} are the same, ${different} differ ${why}`,
      tests,
    ];
  });
  const ordered = ['26', '24', '22'].map((line) => rows.find(([first]) => first === line)!);
  return table(['Node', "compared with that Node's own server", 'and'], ordered);
}
