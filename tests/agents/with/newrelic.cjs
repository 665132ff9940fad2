const { serve } = require('./agent.cjs');

Object.assign(process.env, {
  NEW_RELIC_APP_NAME: 'app',
  NEW_RELIC_LICENSE_KEY: 'a'.repeat(40),
  NEW_RELIC_LOG_ENABLED: 'false',
  NEW_RELIC_NO_CONFIG_FILE: 'true',
  NEW_RELIC_HOST: '127.0.0.1',
  // Nobody listens there: what would be sent is kept here.
  NEW_RELIC_PORT: '9',
  NEW_RELIC_DISTRIBUTED_TRACING_ENABLED: 'true',
});
const { agent } = require('newrelic');

const spans = serve(async () => {});
agent.setState('started');
agent.on('transactionFinished', (transaction) => {
  const seen = (segment, trace) => ({
    name: segment.name,
    attributes: segment.getAttributes(),
    children: trace.getChildren(segment.id).map((one) => seen(one, trace)),
  });
  spans.push({
    name: transaction.getFullName(),
    url: transaction.url,
    status: transaction.statusCode,
    errors: transaction.exceptions.map(({ error }) => String(error?.message)),
    attributes: transaction.trace.attributes.get(0xff),
    root: seen(transaction.trace.root, transaction.trace),
  });
});
