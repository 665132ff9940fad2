// Starts a step: PORT and HOST from the environment.
var http = require('http');

module.exports = function listen(handle) {
  http
    .createServer(handle)
    .listen(Number(process.env.PORT || 3000), process.env.HOST || '127.0.0.1');
};
