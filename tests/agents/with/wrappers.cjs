// What AppDynamics, Dynatrace and firewalls do: replace methods of node:http's prototypes, and follow a request by them.
const http = require('node:http');
const { serve } = require('./agent.cjs');

const spans = serve(async () => {});
const current = new WeakMap();

/** @param how 'assign' as AppDynamics, 'define' as Dynatrace: not enumerable, and not writable */
exports.wrapHttp = (how) => {
  const wrap = (target, name, make) => {
    const wrapper = make(target[name]);
    if (how === 'assign') target[name] = wrapper;
    else Object.defineProperty(target, name, { value: wrapper, configurable: true });
  };
  const sized = (value) =>
    value?.length === undefined ? typeof value : `${typeof value} ${value.length}`;
  const noted = (name, show) => (method) =>
    function (...given) {
      current.get(this)?.calls.push(`${name} ${show(given)}`);
      return method.apply(this, given);
    };
  const response = http.ServerResponse.prototype;
  wrap(
    response,
    'writeHead',
    noted('writeHead', ([status, headers]) => `${status} ${JSON.stringify(headers)}`),
  );
  wrap(
    response,
    'setHeader',
    noted('setHeader', ([name]) => name.toLowerCase()),
  );
  wrap(
    response,
    'write',
    noted('write', ([chunk]) => sized(chunk)),
  );
  wrap(
    response,
    'end',
    noted('end', ([chunk]) => sized(chunk)),
  );
  wrap(
    response,
    'emit',
    (emit) =>
      function (event, ...given) {
        const span = current.get(this);
        span?.calls.push(`emit ${event}`);
        if (span && event === 'close')
          Object.assign(span, { status: this.statusCode, sent: this.writableFinished });
        return emit.call(this, event, ...given);
      },
  );
  wrap(
    http.Server.prototype,
    'emit',
    (emit) =>
      function (event, ...given) {
        if (event === 'request') {
          const [request, answer] = given;
          const span = {
            method: request.method,
            url: request.url,
            port: this.address().port,
            calls: [],
          };
          spans.push(span);
          current.set(answer, span);
        }
        return emit.call(this, event, ...given);
      },
  );
  wrap(
    http.Server.prototype,
    'listen',
    (listen) =>
      function (...given) {
        spans.push({ listens: typeof given[0], isServer: this instanceof http.Server });
        return listen.apply(this, given);
      },
  );
  wrap(
    http,
    'createServer',
    (createServer) =>
      function (...given) {
        const server = createServer.apply(this, given);
        spans.push({ creates: given.map((one) => typeof one) });
        // The listeners of a server that an agent has seen made.
        server.prependListener('request', (_, answer) =>
          current.get(answer)?.calls.push('first listener'),
        );
        return server;
      },
  );
};
