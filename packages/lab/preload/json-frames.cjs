'use strict';
// Loaded into a profiled server. V8's CPU profile has no frames for JSON.parse and JSON.stringify: their time counts as their
// caller's. A JavaScript function around each has a frame, which src/profile/json-frames.ts renames. Syntax of Node 8.
const { parse, stringify } = JSON;

const framed = {
  parse(text, reviver) {
    return parse(text, reviver);
  },
  stringify(value, replacer, space) {
    return stringify(value, replacer, space);
  },
};

for (const name of Object.keys(framed)) {
  const own = Object.getOwnPropertyDescriptor(JSON, name);
  Object.defineProperty(JSON, name, Object.assign({}, own, { value: framed[name] }));
}
