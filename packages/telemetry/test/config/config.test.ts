import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { TelemetryError } from '../../src/errors.ts';

type Environment = Record<string, string>;

describe('variables that are unset or empty have the defaults of the specification', () => {
  for (const environment of [{}, { OTEL_TRACES_SAMPLER: '', OTEL_BSP_SCHEDULE_DELAY: ' ' }]) {
    test(JSON.stringify(environment), () => {
      assert.deepEqual(readConfig(environment), {
        isDisabled: false,
        logLevel: undefined,
        traces: ['otlp'],
        metrics: ['otlp'],
        sampler: { root: 'always_on', ratio: 1, isParentBased: true },
        propagators: ['tracecontext', 'baggage'],
        batch: { delay: 1_000, exportTimeout: 30_000, maxSpans: 8_192, maxBytes: 33_554_432 },
        limits: {
          attributeCountLimit: 128,
          attributeValueLengthLimit: Infinity,
          eventCountLimit: 128,
          linkCountLimit: 128,
          attributePerEventCountLimit: 128,
          attributePerLinkCountLimit: 128,
        },
        metricInterval: 60_000,
        metricTimeout: 30_000,
        temporality: 'cumulative',
        prometheus: { host: '127.0.0.1', port: 9464 },
        detectors: ['env', 'host', 'os', 'process', 'service', 'serviceinstance'],
      });
    });
  }
});

describe('variables have their meaning', () => {
  const cases: [environment: Environment, expected: Partial<ReturnType<typeof readConfig>>][] = [
    [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_SAMPLER: 'nonsense' }, { isDisabled: true }],
    [{ OTEL_LOG_LEVEL: 'DEBUG' }, { logLevel: 'debug' }],
    [{ OTEL_TRACES_EXPORTER: 'otlp, console,otlp' }, { traces: ['otlp', 'console'] }],
    [{ OTEL_TRACES_EXPORTER: 'none' }, { traces: [] }],
    [{ OTEL_METRICS_EXPORTER: 'prometheus' }, { metrics: ['prometheus'] }],
    [{ OTEL_METRICS_EXPORTER: 'none,otlp' }, { metrics: [] }],
    [
      { OTEL_TRACES_SAMPLER: 'always_off' },
      { sampler: { root: 'always_off', ratio: 1, isParentBased: false } },
    ],
    [
      { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { sampler: { root: 'ratio', ratio: 0.25, isParentBased: true } },
    ],
    [{ OTEL_PROPAGATORS: 'baggage' }, { propagators: ['baggage'] }],
    [{ OTEL_PROPAGATORS: 'none' }, { propagators: [] }],
    [
      { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_BSP_EXPORT_TIMEOUT: '2000' },
      { batch: { delay: 50, exportTimeout: 2_000, maxSpans: 8_192, maxBytes: 33_554_432 } },
    ],
    [
      // Node's timers take no more, and fire at once.
      { OTEL_METRIC_EXPORT_INTERVAL: '99999999999', OTEL_METRIC_EXPORT_TIMEOUT: '99999999999' },
      { metricInterval: 2_147_483_647, metricTimeout: 2_147_483_647 },
    ],
    [
      { OTEL_BSP_SCHEDULE_DELAY: '99999999999', OTEL_BSP_EXPORT_TIMEOUT: '99999999999' },
      {
        batch: {
          delay: 2_147_483_647,
          exportTimeout: 2_147_483_647,
          maxSpans: 8_192,
          maxBytes: 33_554_432,
        },
      },
    ],
    [
      { OTEL_BSP_MAX_QUEUE_SIZE: '4096', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '256' },
      { batch: { delay: 1_000, exportTimeout: 30_000, maxSpans: 256, maxBytes: 4_194_304 } },
    ],
    [
      { OTEL_METRIC_EXPORT_INTERVAL: '500', OTEL_METRIC_EXPORT_TIMEOUT: '900' },
      { metricInterval: 500, metricTimeout: 500 },
    ],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' }, { temporality: 'delta' }],
    [
      { OTEL_EXPORTER_PROMETHEUS_HOST: '::1', OTEL_EXPORTER_PROMETHEUS_PORT: '0' },
      { prometheus: { host: '::1', port: 0 } },
    ],
    [{ OTEL_NODE_RESOURCE_DETECTORS: 'host,os' }, { detectors: ['host', 'os'] }],
    [{ OTEL_NODE_RESOURCE_DETECTORS: 'none' }, { detectors: [] }],
    [{ OTEL_LOGS_EXPORTER: 'none' }, {}],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,x=1' }, {}],
  ];
  for (const [environment, expected] of cases) {
    test(JSON.stringify(environment), () => {
      const config: object = readConfig(environment);
      assert.deepEqual({ ...config, ...expected }, config);
    });
  }

  test('limits of spans precede those of all attributes', () => {
    const { limits } = readConfig({
      OTEL_ATTRIBUTE_COUNT_LIMIT: '5',
      OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '7',
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100',
      OTEL_SPAN_EVENT_COUNT_LIMIT: '2',
      OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT: '3',
    });
    assert.deepEqual(limits, {
      attributeCountLimit: 7,
      attributeValueLengthLimit: 100,
      eventCountLimit: 2,
      linkCountLimit: 128,
      attributePerEventCountLimit: 3,
      attributePerLinkCountLimit: 128,
    });
  });
});

describe('an error names a variable, its value and what is possible', () => {
  const cases: [environment: Environment, message: string][] = [
    [{ OTEL_SDK_DISABLED: '1' }, 'OTEL_SDK_DISABLED=1 is invalid: use true, false'],
    [
      { OTEL_TRACES_EXPORTER: 'otpl' },
      'OTEL_TRACES_EXPORTER=otpl is invalid: use otlp, console, none',
    ],
    [
      { OTEL_TRACES_EXPORTER: 'zipkin' },
      'OTEL_TRACES_EXPORTER=zipkin is not supported by @redline/telemetry yet: use otlp, console, none',
    ],
    [
      { OTEL_LOGS_EXPORTER: 'otlp' },
      'OTEL_LOGS_EXPORTER=otlp is not supported by @redline/telemetry yet: use none',
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported by @redline/telemetry yet: use http/protobuf',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json is not supported by @redline/telemetry yet: use http/protobuf',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318 is invalid: use a URL, such as http://127.0.0.1:4318',
    ],
    [
      { OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'br' },
      'OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=br is invalid: use gzip, none',
    ],
    [
      { OTEL_EXPORTER_OTLP_TIMEOUT: '0' },
      'OTEL_EXPORTER_OTLP_TIMEOUT=0 is invalid: use milliseconds above 0',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
      'OTEL_EXPORTER_OTLP_HEADERS=… is invalid: use key=value pairs, percent-encoded, with commas between them',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'xray' },
      'OTEL_TRACES_SAMPLER=xray is not supported by @redline/telemetry yet: use always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.5' },
      'OTEL_TRACES_SAMPLER_ARG=1.5 is invalid: use a number from 0 to 1',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio' },
      'OTEL_TRACES_SAMPLER_ARG= is invalid: use a number from 0 to 1, which the sampler needs',
    ],
    [
      { OTEL_PROPAGATORS: 'tracecontext,b3' },
      'OTEL_PROPAGATORS=b3 is not supported by @redline/telemetry yet: use tracecontext, baggage, none',
    ],
    [
      { OTEL_BSP_SCHEDULE_DELAY: '1.5' },
      'OTEL_BSP_SCHEDULE_DELAY=1.5 is invalid: use a whole number from 1 on',
    ],
    [
      { OTEL_SPAN_LINK_COUNT_LIMIT: '-1' },
      'OTEL_SPAN_LINK_COUNT_LIMIT=-1 is invalid: use a whole number from 0 on',
    ],
    [
      { OTEL_EXPORTER_PROMETHEUS_PORT: '70000' },
      'OTEL_EXPORTER_PROMETHEUS_PORT=70000 is invalid: use a port from 0 to 65535',
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'service.version' },
      'OTEL_RESOURCE_ATTRIBUTES=service.version is invalid: use key=value pairs, percent-encoded, with commas between them',
    ],
    [
      { OTEL_NODE_RESOURCE_DETECTORS: 'gcp' },
      'OTEL_NODE_RESOURCE_DETECTORS=gcp is invalid: use env, host, os, process, service, serviceinstance, all, none',
    ],
    [{ REDLINE_TELEMETRY: 'SDK' }, 'REDLINE_TELEMETRY=SDK is invalid: use sdk'],
    [
      { OTEL_CONFIG_FILE: 'otel.yaml' },
      'OTEL_CONFIG_FILE=otel.yaml is not supported by @redline/telemetry yet: use the other OTEL_* variables',
    ],
  ];
  for (const [environment, message] of cases) {
    test(JSON.stringify(environment), () => {
      assert.throws(
        () => readConfig(environment),
        (error: TelemetryError) => {
          assert.ok(error instanceof TelemetryError);
          assert.deepEqual(
            [error.code, error.message],
            ['ERR_REDLINE_TELEMETRY_VARIABLE', message],
          );
          return true;
        },
      );
    });
  }

  test('a certificate that cannot be read', () => {
    assert.throws(() => readConfig({ OTEL_EXPORTER_OTLP_CERTIFICATE: '/none/ca.pem' }), {
      message:
        /^OTEL_EXPORTER_OTLP_CERTIFICATE=\/none\/ca\.pem is invalid \(ENOENT.*\): use the path of a file/,
    });
  });
});
