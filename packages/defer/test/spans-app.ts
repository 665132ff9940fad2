// An app with tracing whose sink is away: it answers, and is killed before its job is done.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { expressDefer } from '../src/adapters/express.ts';
import { openTelemetryContext } from '../src/adapters/opentelemetry.ts';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import { defineJob } from '../src/job/job.ts';
import { recordSpans } from './spans-recorder.ts';

recordSpans();
const deferrer = createDefer({
  sinks: { work: { kind: 'away', send: () => Promise.reject(new Error('away')) } },
  journal: { directory: process.argv[2]! },
  level: 'process',
  context: openTelemetryContext(),
  logger: false,
});
const mail = defineJob<string>('send-mail');
const middleware = expressDefer(deferrer);
const tracer = trace.getTracer('test');
const server = createServer((request, response) => {
  tracer.startActiveSpan('GET /', (span) => {
    middleware(request, response, () => {
      defer(mail, 'ada');
      response.end(JSON.stringify(span.spanContext()));
      span.end();
    });
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
});
process.on('disconnect', () => process.exit());
