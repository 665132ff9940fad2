'use strict';
// Loaded into every thread of a server whose regular expressions are to be named. V8 names an expression in a profile only if one
// was running when it compiled the expression, and only in the profiles of the same inspector session. This profile keeps the
// names for the one that is started later, and is never read. Syntax of Node 8.
const { Session } = require('inspector');

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.setSamplingInterval', {
  interval: Number(process.env.REDLINE_SAMPLING_MICROS),
});
session.post('Runtime.evaluate', { expression: "console.profile('redline')" });

process[Symbol.for('redline.profile')] = {
  start() {
    session.post('Profiler.start');
  },
  stop() {
    let text = '';
    session.post('Profiler.stop', (error, result) => {
      text = JSON.stringify(error ? { error: error.message } : result.profile);
    });
    session.disconnect();
    return text;
  },
};
