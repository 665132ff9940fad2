// npm run test:race: a minute of it, with 50 ms across processes, over a Cluster that fails over. -- SECONDS [tickets|leases]
import { race } from './race.ts';

const [seconds = '60', without] = process.argv.slice(2);
const result = await race({
  seconds: Number(seconds),
  boundMs: 50,
  hasFailovers: true,
  without: without as 'tickets' | 'leases' | undefined,
});
const { reads, writes, failovers, stale } = result;
process.stdout.write(
  `${reads} reads, ${writes} invalidations, ${failovers} failovers, ${stale.length} stale\n`,
);
for (const line of stale.slice(0, 10)) process.stdout.write(`${line}\n`);
process.exitCode = stale.length > 0 ? 1 : 0;
