import { engine } from '../native/engine.ts';
import { EXTRA } from '../native/wire.ts';
import type { nodeChildProcess } from '../node/node-child-process.ts';
import type { ExtraOptions } from '../options.ts';
import { planExtras } from '../plan/extras.ts';

type NodeChildProcess = typeof nodeChildProcess;
type Called = (...args: unknown[]) => unknown;

const warned = new Set<string>();

/** Says once that an option needs the native engine, and what happens instead. */
export function warnWithoutEngine(option: keyof ExtraOptions, instead: string): void {
  if (warned.has(option)) return;
  warned.add(option);
  const found = engine();
  const why = found.name === 'node' ? `: ${found.reason}` : ' for this child, which is not its own';
  process.emitWarning(
    `${option} needs the native engine of @redline/child-process, which does not serve${why}. Instead, ${instead}.`,
    { type: 'RedlineWarning', code: 'REDLINE_CHILD_PROCESS_WITHOUT_ENGINE' },
  );
}

/** One of Node's own functions, which says so when it is given an option that it ignores. */
export function saying<Name extends keyof NodeChildProcess>(
  node: NodeChildProcess,
  name: Name,
): NodeChildProcess[Name] {
  const original = node[name] as unknown as Called;
  return new Proxy(original, {
    apply(target, self, args: unknown[]) {
      say(args.find(isOptions));
      return Reflect.apply(target, self, args);
    },
  }) as unknown as NodeChildProcess[Name];
}

function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function say(options: object | undefined): void {
  if (options === undefined) return;
  const { bits } = planExtras(options);
  if (bits & EXTRA.TREE) warnWithoutEngine('killTree', 'only the child itself is signalled');
  if (bits & EXTRA.DIES_WITH_PARENT)
    warnWithoutEngine('dieWithParent', 'the child outlives this process');
  if (bits & EXTRA.USAGE) warnWithoutEngine('resourceUsage', 'it is undefined');
}
