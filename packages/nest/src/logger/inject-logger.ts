import { type FactoryProvider, Inject } from '@nestjs/common';

import { PinoLogger } from './pino-logger.ts';

const names = new Set<string>();

/** Returns the injection token of `@InjectLogger(name)`, to override in a test. */
export function getLoggerToken(name: string): string {
  return `redline:logger:${name}`;
}

/**
 * Injects a `PinoLogger` whose lines carry `context: name`.
 * @example constructor(@InjectLogger(Orders.name) logger: PinoLogger) {}
 */
export function InjectLogger(name: string): ParameterDecorator & PropertyDecorator {
  names.add(name);
  return Inject(getLoggerToken(name));
}

/** Returns a provider for every name that has been requested so far. */
export function namedLoggers(): FactoryProvider<PinoLogger>[] {
  return [...names].map((name) => ({
    provide: getLoggerToken(name),
    inject: [PinoLogger],
    useFactory: (logger: PinoLogger) => {
      logger.setContext(name);
      return logger;
    },
  }));
}
