// `npm run demo:scale-out`: three replicas behind HAProxy on a Redis Cluster of three masters. Products are read and renamed all
// the time, while a master is killed -9 and connections for invalidations are cut. DEMO_SECONDS: how long each act takes.
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startRedisCluster } from '@redline/services';
import { startBalancer } from './balancer.ts';
import { find, memoryOf, rename, startReplica, type Replica } from './replicas.ts';

const readers = 12;
const productCount = 30;
const actMs = Number(process.env.DEMO_SECONDS ?? 3) * 1_000;

const database = await startRedis();
const cluster = await startRedisCluster();
if (database === undefined || cluster === undefined) {
  process.stderr.write('This needs a redis-server of version 7 or a valkey-server on PATH.\n');
  await database?.stop();
  process.exit(1);
}
const replicas: Replica[] = [];
process.on('exit', () => {
  for (const replica of replicas) replica.process.kill('SIGKILL');
});
const env = {
  DATABASE_URL: database.url,
  REDIS_NODES: cluster.nodes.map(({ port }) => String(port)).join(),
};
for (let i = 0; i < 3; i++) replicas.push(await startReplica(env));
const balancer = await startBalancer(replicas.map(({ port }) => port));
const stopAll = async (): Promise<void> => {
  for (const replica of replicas) replica.process.kill('SIGTERM');
  await Promise.all([balancer.stop(), cluster.stop(), database.stop()]);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopAll().then(() => process.exit(130)));

/** The acknowledged revision of each product, with its time: every later response must have at least this revision. */
const acknowledged = new Map<string, { readonly revision: number; readonly at: number }>();
const over = new AbortController();
let [reads, failed, renames, repeated, outdated] = [0, 0, 0, 0, 0];
const problems: string[] = [];

say(`three replicas behind ${balancer.name}, on six Redis servers: three masters, three replicas`);
await showInvalidation();
await showMisses();
say(`${readers} clients read ${productCount} products, one renames them`);
const load = Promise.all([...Array.from({ length: readers }, read), write()]);
await sleep(actMs);
await killMaster();
await sleep(actMs);
over.abort();
await load;
await showLostConnection();
await settle();
const memories = await Promise.all(replicas.map(memoryOf));
const total = (of: 'handlerRuns' | 'hits'): number =>
  memories.reduce((sum, memory) => sum + memory[of], 0);
process.stdout.write(
  `\n  reads                                  ${count(reads)}\n` +
    `  of them out of a cache                 ${count(total('hits'))}\n` +
    `  renamed, and every cache told          ${count(renames)}\n` +
    `  renames that had to be repeated        ${count(repeated)}   (a master was gone: 503)\n` +
    `  failed reads                           ${count(failed)}\n` +
    `  reads older than 1 s ago acknowledged  ${count(outdated)}\n\n`,
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
await stopAll();
// None asked, none failed: that shows nothing.
process.exit(
  failed + outdated === 0 && problems.length === 0 && reads > 100 && renames > 5 ? 0 : 1,
);

/** A product that all replicas have in memory is renamed through one of them. */
async function showInvalidation(): Promise<void> {
  for (const { port } of replicas) {
    await until(`the replica on ${port} has the product in memory`, async () => {
      const { hits } = await memoryOf({ port });
      return (await find(port, 'first')).from === 'HIT' && (await memoryOf({ port })).hits > hits;
    });
  }
  const revision = await rename(replicas[0]!.port, 'first', 'Renamed');
  const startedAt = performance.now();
  for (const { port } of replicas)
    await until(`the replica on ${port} knows`, async () => {
      const { product } = await find(port, 'first');
      return product?.revision === revision;
    });
  say(`renamed through one: all three answer with the new name ${since(startedAt)} ms later`);
}

/** A lease has one process of all make what is missing. */
async function showMisses(): Promise<void> {
  const runs = async (): Promise<number> => {
    const all = await Promise.all(replicas.map(memoryOf));
    return all.reduce((sum, { handlerRuns }) => sum + handlerRuns, 0);
  };
  const before = await runs();
  const asked = Array.from({ length: 200 }, () => find(balancer.port, 'missing'));
  const all = await Promise.all(asked);
  if (all.some(({ status }) => status !== 200)) problems.push('A miss failed.');
  say(
    `200 requests at once for what no cache has; handler runs in all: ${(await runs()) - before}`,
  );
}

async function killMaster(): Promise<void> {
  // That of the tags, which every hit depends on.
  const slot = numberIn(await cluster!.ask(cluster!.nodes[0]!.port, 'CLUSTER KEYSLOT {shop:tags}'));
  const master = await masterOf(slot);
  const failedBefore = failed;
  const startedAt = performance.now();
  await cluster!.at(master).kill();
  say('a master is killed -9: the one that has the tags');
  await until(
    'another takes its place',
    async () => (await masterOf(slot).catch(() => master)) !== master,
  );
  await until('all replicas listen to it', async () => {
    const all = await Promise.all(replicas.map(memoryOf));
    return all.every(({ isCoherent }) => isCoherent);
  });
  say(
    `its successor is listened to ${since(startedAt)} ms later; failed reads: ${failed - failedBefore}`,
  );
  await cluster!.at(master).restart();
  say('it is started again, as a replica');
}

/** Runs without readers, so that memory that is emptied stays empty. */
async function showLostConnection(): Promise<void> {
  for (const { port } of replicas) await find(port, 'first').then(() => find(port, 'first'));
  await until('something is in the memory of each', async () =>
    (await Promise.all(replicas.map(memoryOf))).every(({ bytes }) => bytes > 0),
  );
  for (const { port } of cluster!.nodes) await cutConnections(port);
  await until('the memory of each is empty', async () =>
    (await Promise.all(replicas.map(memoryOf))).every(({ bytes }) => bytes === 0),
  );
  say('connections for invalidations are cut: the memory of all three is empty');
  for (const { port } of replicas) {
    if ((await find(port, 'first')).status !== 200) problems.push('A read failed after the cut.');
  }
}

/** In the end everybody has what was acknowledged last. */
async function settle(): Promise<void> {
  for (const [id, { revision }] of acknowledged)
    for (const { port } of replicas) {
      const { product } = await find(port, id);
      if (product === undefined || product.revision < revision)
        problems.push(`Product ${id} is ${product?.revision} on port ${port}, not ${revision}.`);
    }
}

async function read(): Promise<void> {
  while (!over.signal.aborted) {
    const id = anyProduct();
    const known = acknowledged.get(id);
    const askedAt = performance.now();
    const { status, product } = await find(balancer.port, id).catch(() => ({
      status: 0,
      product: undefined,
    }));
    reads += 1;
    if (status !== 200) failed += 1;
    else if (
      known !== undefined &&
      askedAt - known.at > 1_000 &&
      product!.revision < known.revision
    )
      outdated += 1;
    await sleep(5);
  }
}

async function write(): Promise<void> {
  while (!over.signal.aborted) {
    const id = anyProduct();
    const revision = await rename(balancer.port, id, `Product ${id}, renamed`).catch(
      () => undefined,
    );
    if (revision === undefined) repeated += 1;
    else {
      acknowledged.set(id, { revision, at: performance.now() });
      renames += 1;
    }
    await sleep(50);
  }
}

async function masterOf(slot: number): Promise<number> {
  for (const { port, pid } of cluster!.servers) {
    if (pid === undefined) continue;
    const lines = (await cluster!.ask(port, 'CLUSTER NODES')).split('\n');
    const line = lines.find((each) => / (?:myself,)?master - /.test(each) && hasSlot(each, slot));
    if (line !== undefined) return Number(/:(\d+)@/.exec(line)![1]);
  }
  throw new Error(`No master has the slot ${slot}.`);
}

function hasSlot(line: string, slot: number): boolean {
  return [...line.matchAll(/ (\d+)-(\d+)/g)].some(
    ([, from, to]) => slot >= Number(from) && slot <= Number(to),
  );
}

async function cutConnections(port: number): Promise<void> {
  const list = await cluster!.ask(port, 'CLIENT LIST');
  // Those that track the keys they have read.
  for (const [, id] of list.matchAll(/^id=(\d+) .* flags=\S*t\S* /gm))
    await cluster!.ask(port, `CLIENT KILL ID ${id}`);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Still waiting: ${what}.`);
    await sleep(2);
  }
}

function anyProduct(): string {
  return String(Math.floor(Math.random() * productCount));
}

function numberIn(reply: string): number {
  return Number(/\d+/.exec(reply)![0]);
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

function count(of: number): string {
  return of.toLocaleString('en').padStart(8);
}

function say(what: string): void {
  process.stdout.write(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${what}\n`);
}
