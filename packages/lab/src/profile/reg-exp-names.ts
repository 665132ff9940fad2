import { fileURLToPath } from 'node:url';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { checkCpuProfile, type CpuProfile } from './cpu-profile.ts';
import type { InspectorSession } from './inspector.ts';
import { withNodeFlags, withPreloads } from './instrument.ts';
import { jsonFramesFile, withJsonFrames } from './json-frames.ts';
import { type RecordOptions, runMeasuredLoad, serve, warmUp } from './serve.ts';
import {
  findServingThread,
  inspectedPreload,
  inspectorsFile,
  inspectorsName,
} from './serving-thread.ts';

const preload = fileURLToPath(new URL('../../preload/reg-exp-names.cjs', import.meta.url));

/** The start of the name of a regular expression's frame; its source follows. */
const prefix = 'RegExp: ';

/** Returns the source of a regular expression from the name of its frame; undefined for any other frame. */
export function sourceOfRegExp(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Returns the name of a frame for the source of a regular expression. */
export function regExpName(source: string): string {
  return prefix + source;
}

/**
 * Starts a variant and takes a CPU profile under load that has a frame for each regular expression, but no tiers: V8's log is
 * silent while a profile runs, and here one runs from the start.
 * @throws {LabError} ERR_REDLINE_PROFILE, ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT, ERR_REDLINE_LOAD
 */
export async function recordRegExps(
  plan: Plan,
  variant: PlannedVariant,
  options: RecordOptions,
): Promise<CpuProfile> {
  const { durationMs, samplingMicros, signal, phase } = options;
  const inFolder = (folder: string): PlannedVariant =>
    withNodeFlags(
      withPreloads(variant, [inspectedPreload, jsonFramesFile, preload], {
        [inspectorsName]: inspectorsFile(folder),
        REDLINE_SAMPLING_MICROS: String(samplingMicros),
      }),
      ['--inspect=127.0.0.1:0'],
    );
  return serve({ plan, variant, inFolder }, options, async (served) => {
    using thread = await findServingThread(served, {
      load: () => warmUp(served, options),
      signal,
    });
    const { session, alike: threads } = thread;
    phase('profiling regular expressions');
    await call(session, 'start');
    await runMeasuredLoad(served, { durationMs, signal, threads });
    const text = await call(session, 'stop');
    const from = `The profile of "${served.server.name}"`;
    return withJsonFrames(checkCpuProfile(JSON.parse(text), from));
  });
}

/** Calls the preload, which has the session whose profiles know the expressions. */
async function call(session: InspectorSession, method: 'start' | 'stop'): Promise<string> {
  const expression = `process[Symbol.for('redline.profile')].${method}()`;
  const { result } = await session.ask<{ result: { value?: unknown } }>('Runtime.evaluate', {
    expression,
    returnByValue: true,
  });
  return String(result.value ?? '{}');
}
