const { collector, serve } = require('./agent.cjs');

process.env.DD_INSTRUMENTATION_TELEMETRY_ENABLED = 'false';
process.env.DD_REMOTE_CONFIGURATION_ENABLED = 'false';
require('dd-trace').init({
  hostname: collector.host,
  port: collector.port,
  service: 'app',
  flushInterval: 50,
  startupLogs: false,
  plugins: true,
});
serve(async () => {});
