// Labels shared by the tables and the charts of deferred work.
export const platforms: Readonly<Record<string, string>> = {
  express: 'Express',
  fastify: 'Fastify',
};
export const sinks: Readonly<Record<string, string>> = {
  delay5: 'a sink that takes 5 ms',
  delay25: 'a sink that takes 25 ms',
  'redis-local': 'BullMQ, local Redis',
  'redis-2ms': 'BullMQ, Redis 2 ms away',
  'redis-10ms': 'BullMQ, Redis 10 ms away',
  'redis-25ms': 'BullMQ, Redis 25 ms away',
};
export const counts: readonly number[] = [10, 50, 100];

/** In the order of the tables; `plain` has no job. */
export const ways: readonly string[] = ['blocking', 'interceptor', 'memory', 'process', 'disk'];
