// Node's own tests of one module, run with that module replaced by ours.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFile, type Outcome, type Place, type TestFile } from './node-file.ts';

export interface NodeSuite {
  /** What the report calls it. */
  readonly name: string;
  /** The folder with Node's `test`, among the other projects' tests. */
  readonly root: string;
  /** Node's options that replace the module: `['--require', …]`. */
  readonly preload: readonly string[];
  /** The processes that a test starts are preloaded too. */
  readonly preloadsChildren: boolean;
  /** Whether a test file is about the module. */
  includes(id: string, text: string): boolean;
  /** Test files that fail, each with the reason. One that passes has to be struck off. */
  readonly differences: Readonly<Record<string, string>>;
}

const FOLDERS = ['parallel', 'sequential', 'async-hooks', 'pummel'];
const AT_ONCE = 2;
const SHOWN = 3000;

/**
 * Runs every file on ours; those that fail and are not listed again, alone, and then on plain Node. Resolves to whether all
 * was as expected.
 */
export async function runNodeSuite(
  suite: NodeSuite,
  folder: string,
  filter = '',
): Promise<boolean> {
  const began = performance.now();
  const root = join(folder, suite.root);
  const files = filesOf(root, suite).filter((file) => file.id.includes(filter));
  const scratch = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const { again, skipped } = await runAll(suite, files, { root, scratch, slot: 0 });
    const listed = Object.keys(suite.differences).filter((id) => id.includes(filter));
    const differing = again.filter(({ id }) => listed.includes(id));
    const unexpected = await ownFailures(
      suite,
      again.filter(({ id }) => !listed.includes(id)),
      { root, scratch, slot: 0 },
    );
    const stale = listed.filter((id) => !differing.some((file) => file.id === id));

    for (const [id, { report }] of unexpected.ours) {
      console.log(`${suite.name}: ${id} passes on Node and fails here: ${report.slice(0, SHOWN)}`);
    }
    for (const id of stale) console.log(`${suite.name}: ${id} is listed as failing and does not`);
    const counts = [
      `${files.length - differing.length - unexpected.ours.size - unexpected.plain} pass`,
      `${skipped} of them skip themselves`,
      `${differing.length} differ as listed`,
      `${unexpected.ours.size} unexpectedly`,
      `${unexpected.plain} fail on Node too`,
    ];
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`${suite.name}: ${files.length} files in ${seconds} s: ${counts.join(', ')}`);
    return unexpected.ours.size === 0 && stale.length === 0 && files.length > 0;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function filesOf(root: string, suite: NodeSuite): TestFile[] {
  return FOLDERS.filter((folder) => existsSync(join(root, 'test', folder))).flatMap((folder) =>
    readdirSync(join(root, 'test', folder))
      .filter((name) => /^test-.*\.m?js$/.test(name))
      .flatMap((name) => {
        const id = `${folder}/${name}`;
        const text = readFileSync(join(root, 'test', id), 'utf8');
        if (!suite.includes(id, text)) return [];
        const [, flags = ''] = /^\/\/ Flags:(.*)$/m.exec(text) ?? [];
        const isAlone = folder === 'sequential' || folder === 'pummel';
        const { preloadsChildren } = suite;
        return [{ id, flags: flags.split(/\s+/).filter(Boolean), isAlone, preloadsChildren }];
      }),
  );
}

/** Runs every file once, and tells which are to be looked at again. */
async function runAll(
  { preload }: NodeSuite,
  files: readonly TestFile[],
  place: Place,
): Promise<{ again: TestFile[]; skipped: number }> {
  let skipped = 0;
  const again: TestFile[] = [];
  const run = async (file: TestFile, slot: number) => {
    const outcome = await runFile(file, preload, { ...place, slot });
    if (outcome.isSkipped) skipped += 1;
    if (!outcome.passed) again.push(file);
  };
  const together = files.filter((file) => !file.isAlone).values();
  const slots = Array.from({ length: AT_ONCE }, async (_, slot) => {
    for (const file of together) await run(file, slot);
  });
  await Promise.all(slots);
  for (const file of files) if (file.isAlone) await run(file, 0);
  return { again, skipped };
}

/** What fails alone too and passes on plain Node, and how many plain Node fails. */
async function ownFailures(
  { preload }: NodeSuite,
  files: readonly TestFile[],
  place: Place,
): Promise<{ ours: Map<string, Outcome>; plain: number }> {
  const ours = new Map<string, Outcome>();
  let plain = 0;
  for (const file of files) {
    const outcome = await runFile(file, preload, place);
    if (outcome.passed) continue;
    const onNode = await runFile(file, [], place);
    if (onNode.passed) ours.set(file.id, outcome);
    else plain += 1;
  }
  return { ours, plain };
}
