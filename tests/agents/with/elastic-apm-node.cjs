const { collector, serve } = require('./agent.cjs');

const agent = require('elastic-apm-node').start({
  serverUrl: `http://${collector.host}:${collector.port}`,
  serviceName: 'app',
  apiRequestTime: '1s',
  centralConfig: false,
  cloudProvider: 'none',
  metricsInterval: '0s',
  captureBody: 'all',
  logLevel: 'off',
  exitSpanMinDuration: '0ms',
  spanCompressionEnabled: false,
});
serve(() => new Promise((resolve) => agent.flush(resolve)));
