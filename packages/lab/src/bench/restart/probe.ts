import { LabError } from '../../errors.ts';
import type { Probe } from '../../figures.ts';
import { median } from '../../stats/order-statistics.ts';
import type { Server } from '../../servers/server.ts';

/** @throws {LabError} ERR_REDLINE_CONTRACT when the server does not respond with figures */
export async function askProbe(server: Server): Promise<Probe> {
  const { status, body } = await askOnce(server);
  const figures = status === 200 ? parse(body) : undefined;
  if (isProbe(figures)) return figures;
  throw new LabError(
    'ERR_REDLINE_CONTRACT',
    `"${server.name}" answers its probe ${server.probePath} with status ${status} and ${JSON.stringify(body.slice(0, 100))}, not with figures as JSON.`,
  );
}

/** Takes the median figure by figure; a probe that lacks one does not count for it. */
export function medianProbe(probes: readonly Probe[]): Probe {
  const medians: Probe = {};
  for (const key of new Set(probes.flatMap((probe) => Object.keys(probe)))) {
    const values = probes.map((probe) => probe[key]).filter((value) => value !== undefined);
    medians[key] = values.every((value) => typeof value === 'number')
      ? median(values)
      : (medianProbe(values.filter((value) => typeof value === 'object')) as Record<
          string,
          number
        >);
  }
  return medians;
}

async function askOnce(server: Server): Promise<{ status: number; body: string }> {
  try {
    const answer = await fetch(server.url + server.probePath!);
    return { status: answer.status, body: await answer.text() };
  } catch (error) {
    throw await server.failure(`did not answer its probe (${(error as Error).message})`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProbe(value: unknown): value is Probe {
  return isFigures(value, (each) => isFigures(each, () => false));
}

function isFigures(value: unknown, orElse: (each: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((each) => Number.isFinite(each) || orElse(each));
}
