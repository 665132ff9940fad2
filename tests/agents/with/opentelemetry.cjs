const { serve } = require('./agent.cjs');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');
const { getNodeAutoInstrumentations } = require('@opentelemetry/auto-instrumentations-node');

const spans = serve(() => processor.forceFlush());
const exporter = {
  export(some, done) {
    for (const span of some) {
      spans.push({
        id: span.spanContext().spanId,
        parent: span.parentSpanContext?.spanId,
        name: span.name,
        kind: span.kind,
        status: span.status,
        scope: span.instrumentationScope.name,
        attributes: span.attributes,
        events: span.events.map(({ name, attributes }) => ({ name, attributes })),
      });
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const processor = new SimpleSpanProcessor({ exporter });
new NodeSDK({
  resourceDetectors: [],
  serviceName: 'app',
  metricReaders: [],
  logRecordProcessors: [],
  spanProcessors: [processor],
  instrumentations: [getNodeAutoInstrumentations()],
}).start();
