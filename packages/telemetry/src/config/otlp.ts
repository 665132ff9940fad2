import type { Variables } from './variables.ts';

const PROTOCOL = 'http/protobuf';

/**
 * Checks the variables that `@opentelemetry/otlp-exporter-base` reads: it reports a value that it does not know only as a
 * warning, if logging is on at all, and sends to the default.
 */
export function checkOtlp(read: Variables): void {
  for (const signal of ['', 'TRACES_', 'METRICS_']) {
    const name = (setting: string) => `OTEL_EXPORTER_OTLP_${signal}${setting}`;
    read.choice(name('PROTOCOL'), [PROTOCOL], ['http/json', 'grpc']);
    read.choice(name('COMPRESSION'), ['gzip', 'none']);
    read.number(name('TIMEOUT'), (value) => value > 0 && value < Infinity, 'milliseconds above 0');
    read.pairs(name('HEADERS'));
    for (const file of ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY']) read.file(name(file));
    read.url(name('ENDPOINT'));
  }
}
