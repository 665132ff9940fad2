import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { checkContract, distinctRequests } from '../servers/contract.ts';
import { pinSelf } from '../system/pinning.ts';
import { choosePorts } from '../servers/ports.ts';
import { Server } from '../servers/server.ts';

/**
 * Starts each variant once and sends it a request. An old runtime may not even parse a new app: that yields a row with a reason and
 * does not end the run.
 * @returns why a variant cannot be measured, by its name
 */
export async function tryVariants(
  plan: Plan,
  variants: readonly PlannedVariant[],
  signal: AbortSignal,
  phase: (text: string) => void,
): Promise<Record<string, string>> {
  const skip: Record<string, string> = {};
  const folder = await mkdtemp(join(tmpdir(), 'redline-try-'));
  const setup = (await plan.setup?.()) ?? {};
  try {
    for (const variant of variants) {
      signal.throwIfAborted();
      phase(`trying ${variant.name}`);
      const [port] = await choosePorts([variant]);
      const server = new Server(variant, variant.name, {
        port: port!,
        env: setup.env ?? {},
        pinning: pinSelf(false),
        folder,
      });
      try {
        await server.ready(Math.min(plan.readyTimeoutMs, 15_000), signal);
        await checkContract([server], distinctRequests(plan.requests).slice(0, 5));
      } catch (error) {
        if (!(error instanceof LabError)) throw error;
        skip[variant.name] = reasonOf(error, await server.stderr());
      } finally {
        await server.stop();
      }
    }
  } finally {
    await setup.stop?.();
    await rm(folder, { recursive: true, force: true });
  }
  return skip;
}

/** Prefers the line that names the error: the last lines are only a stack. */
function reasonOf(error: LabError, stderr: string): string {
  const lines = stripVTControlCharacters(stderr).split('\n');
  const named = lines.find((line) =>
    /^(?:error: )?(?:Uncaught )?(?:\(in promise\) )?\w*Error\b/i.test(line.trim()),
  );
  if (named !== undefined) return `it does not start: ${named.trim()}`;
  return error.message
    .split('\n', 1)[0]!
    .replace(/^"[^"]*" /, 'it ')
    .replace(/\.? Its last lines:$/, '');
}
