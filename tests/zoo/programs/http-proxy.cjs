const { createServer } = require('node:http');
const { createProxyServer } = require('http-proxy');

const proxy = createProxyServer({ target: process.env.TARGET, ws: true });
proxy.on('error', (error, request, response) => {
  response.writeHead?.(502, { 'content-type': 'text/plain' });
  response.end('bad gateway');
});
createServer((request, response) => {
  if (request.url === '/dead')
    return proxy.web(request, response, { target: 'http://127.0.0.1:1' });
  return proxy.web(request, response);
}).listen(process.env.PORT);
