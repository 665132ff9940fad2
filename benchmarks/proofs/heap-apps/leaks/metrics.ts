// Fastify and TypeScript: every duration is kept for a quantile that is computed once a day.
import fastify, { type FastifyReply } from 'fastify';

interface Metric {
  name: string;
  durations: { route: string; ms: number }[];
}

class Metrics {
  readonly #metrics = new Map<string, Metric>();

  record(name: string, route: string, ms: number): void {
    let metric: Metric | undefined = this.#metrics.get(name);
    if (metric === undefined) this.#metrics.set(name, (metric = { name, durations: [] }));
    metric.durations.push({ route, ms: ms + 0.5 }); // leaks here
  }
}

const metrics = new Metrics();
const app = fastify();
app.addHook('onResponse', async (request, reply: FastifyReply) => {
  metrics.record('request', request.url, reply.elapsedTime);
});
app.get('/', async () => ({ ok: true }));
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
