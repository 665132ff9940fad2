// What an agent under test is to the app: how it is flushed, and the spans that it kept in the process (others send theirs).
const { env } = process;
const collector = { host: '127.0.0.1', port: Number(env.COLLECTOR_PORT) };

exports.collector = collector;
exports.serve = (flush) => {
  const spans = [];
  globalThis.agentUnderTest = { flush, spans };
  return spans;
};
