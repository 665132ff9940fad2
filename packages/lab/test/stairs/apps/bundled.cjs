// What esbuild makes of modules: prices is reached by a getter for each export.
var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all) __defProp(target, name, { get: all[name], enumerable: true });
};

// src/main.mjs
var import_node_http = require('node:http');

// src/prices.mjs
var prices_exports = {};
__export(prices_exports, {
  discounted: () => discounted,
  priceOf: () => priceOf,
});
function priceOf(url) {
  return url.length * 2;
}
function discounted(url) {
  return priceOf(url) / 2;
}

// src/respond.mjs
function respond(response, price) {
  response.end(String(price));
}

// src/main.mjs
function pick(name) {
  return prices_exports[name];
}
(0, import_node_http.createServer)(function listener(request, response) {
  const price = pick('priceOf');
  respond(response, price(request.url));
}).listen(process.env.PORT, process.env.HOST);
