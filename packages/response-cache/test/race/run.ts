// npm run test:race: a minute of it, with 50 ms across processes, over a Cluster that fails over. -- SECONDS [tickets|leases]
import { race } from './race.ts';

/* A fail-over that is asked for takes about a second; no read may take a second more than the fault. */
const faultMs = 2_000;
const livenessMs = 1_000;

const [seconds = '60', without] = process.argv.slice(2);
const result = await race({
  seconds: Number(seconds),
  boundMs: 50,
  timeoutMs: 250,
  hasFailovers: true,
  without: without as 'tickets' | 'leases' | undefined,
});
const { reads, writes, failovers, stale, slowestMs } = result;
process.stdout.write(
  `${reads} reads, ${writes} invalidations, ${failovers} failovers, ${stale.length} stale, the slowest read took ${slowestMs} ms\n`,
);
for (const line of stale.slice(0, 10)) process.stdout.write(`${line}\n`);
process.exitCode = stale.length > 0 || slowestMs > faultMs + livenessMs ? 1 : 0;
