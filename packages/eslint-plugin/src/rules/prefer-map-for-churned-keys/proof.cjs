'use strict';

// before
const sessions = {};
exports.before = function turnover(urls) {
  sessions[urls.opens.slice(9)] = urls;
  const session = sessions[urls.asks.slice(9)];
  delete sessions[urls.closes.slice(9)];
  return session;
};

// after
const openSessions = new Map();
exports.after = function turnover(urls) {
  openSessions.set(urls.opens.slice(9), urls);
  const session = openSessions.get(urls.asks.slice(9));
  openSessions.delete(urls.closes.slice(9));
  return session;
};

// inputs
exports.inputs = function () {
  // 100 sessions are open at a time, and every key is cut from a URL: the same text, but a new string each time.
  const url = (n) => Buffer.from('/session/' + (((n + 2000) * 7919) % 2000) + '-user').toString();
  return Array.from({ length: 2000 }, (_, n) => ({
    opens: url(n),
    asks: url(n - 50),
    closes: url(n - 100),
  }));
};
