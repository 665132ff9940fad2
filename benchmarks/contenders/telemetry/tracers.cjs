// Loaded by --require: starts the tracer that TRACER names, as its documentation says. All send to the receiver of the scenario.
const { env } = process;
const { RECEIVER_PORT: port, TRACER: tracer } = env;

const starts = {
  none() {},
  // The app uses it.
  prometheus() {},
  'otel-http': () => openTelemetry([]),
  // `--import @redline/telemetry/register` follows.
  redline: () => sendByOtlp(),
  otel() {
    const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
    const { FastifyOtelInstrumentation } = require('@fastify/otel');
    openTelemetry([
      new ExpressInstrumentation(),
      new FastifyOtelInstrumentation({ registerOnInitialization: true }),
    ]);
  },
  datadog() {
    env.DD_INSTRUMENTATION_TELEMETRY_ENABLED = 'false';
    env.DD_REMOTE_CONFIGURATION_ENABLED = 'false';
    require('dd-trace').init({ hostname: '127.0.0.1', port, service: 'shop', startupLogs: false });
  },
  sentry() {
    require('@sentry/node').init({ dsn: `http://key@127.0.0.1:${port}/1`, tracesSampleRate: 0.1 });
  },
};

/** Spans in batches and metrics by OTLP (http/protobuf). */
function sendByOtlp() {
  env.OTEL_SERVICE_NAME = 'shop';
  env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
  env.OTEL_TRACES_EXPORTER ??= 'otlp';
  env.OTEL_METRICS_EXPORTER = 'otlp';
  env.OTEL_LOGS_EXPORTER = 'none';
}

/** All with the defaults of the SDK. */
function openTelemetry(ofFramework) {
  sendByOtlp();
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
  new NodeSDK({ instrumentations: [new HttpInstrumentation(), ...ofFramework] }).start();
}

starts[tracer]();
