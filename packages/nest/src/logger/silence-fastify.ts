import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

const noop = (): void => {};

const silent: FastifyBaseLogger = {
  level: 'silent',
  trace: noop,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
  fatal: noop,
  silent: noop,
  child: () => silent,
};

/**
 * If the app has turned on Fastify's own logger too, warns about it and removes its request lines:
 * each response would have three.
 */
export function silenceFastify(fastify: FastifyInstance, pino: Logger): void {
  // The default logger of Fastify consists of functions called noop.
  if (fastify.log.info.name === noop.name) return;
  pino.warn(
    "FastifyAdapter was created with its own logger; LoggerModule writes the request lines, and Fastify's are omitted. Remove `logger` from the adapter's options.",
  );
  fastify.setChildLoggerFactory(() => silent);
}
