// Each logger as its documentation sets it up; those without a request line of their own write the fields that
// LoggerModule writes. Each returns Nest modules, Fastify's options and what is to be done with the app.
import { pino } from 'pino';

export const loggers = {
  none: () => ({}),

  async redline(file) {
    const { LoggerModule } = await import('@redline/nest');
    return { imports: [LoggerModule.forRoot({ destination: file })] };
  },

  async 'redline-stdout'() {
    const { LoggerModule } = await import('@redline/nest');
    return { imports: [LoggerModule.forRoot()] };
  },

  async 'redline-nestjs-pino'(file) {
    const { LoggerModule } = await import('@redline/nest/nestjs-pino');
    const stream = pino.destination({ dest: file, sync: true });
    return { imports: [LoggerModule.forRoot({ pinoHttp: { stream } })] };
  },

  async 'nestjs-pino'(file) {
    const { LoggerModule } = await import('nestjs-pino');
    const stream = pino.destination({ dest: file, sync: true });
    return { imports: [LoggerModule.forRoot({ pinoHttp: { stream }, forRoutes: ['{*path}'] })] };
  },

  async 'pino-http'(file) {
    const { pinoHttp } = await import('pino-http');
    const middleware = pinoHttp({ stream: pino.destination({ dest: file, sync: true }) });
    return { apply: (app) => app.use(middleware) };
  },

  fastify(file) {
    const stream = pino.destination({ dest: file, sync: true });
    return {
      // Of its two lines a request, the one with everything.
      fastify: { logger: { stream }, disableRequestLogging: true },
      apply: (app) =>
        app
          .getHttpAdapter()
          .getInstance()
          .addHook('onResponse', (req, res, done) => {
            req.log.info({ req, res, responseTime: res.elapsedTime }, 'request completed');
            done();
          }),
    };
  },

  'pino-sync': (file) => byHand(pino(pino.destination({ dest: file, sync: true }))),

  'pino-async': (file) =>
    byHand(pino(pino.destination({ dest: file, sync: false, minLength: 4_096 }))),

  'pino-transport': (file) =>
    byHand(pino(pino.transport({ target: 'pino/file', options: { destination: file } }))),

  async winston(file) {
    const { createLogger, format, transports } = await import('winston');
    const logger = createLogger({
      format: format.combine(format.timestamp(), format.json()),
      transports: [new transports.File({ filename: file })],
    });
    return byHand({ info: (fields, message) => logger.info(message, fields) });
  },
};

/** The line a few lines of code write. */
function byHand(logger) {
  let count = 0;
  const write = (request, url, statusCode, responseTime) =>
    logger.info(
      { reqId: request.id, method: request.method, url, statusCode, responseTime },
      'request completed',
    );
  return {
    apply(app) {
      const adapter = app.getHttpAdapter();
      if (adapter.getType() === 'fastify') {
        adapter.getInstance().addHook('onResponse', (request, reply, done) => {
          write(request, request.url, reply.statusCode, reply.elapsedTime);
          done();
        });
        return;
      }
      app.use((request, response, next) => {
        const since = performance.now();
        request.id = `req-${++count}`;
        response.on('finish', () => {
          write(request, request.originalUrl, response.statusCode, performance.now() - since);
        });
        next();
      });
    },
  };
}
