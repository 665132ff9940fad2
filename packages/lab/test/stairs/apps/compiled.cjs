'use strict';
// A loader of TypeScript as packages have them: it reads a file itself, and its enums become code. LOADER says how it is put in.
const { readFileSync } = require('node:fs');
const module_ = require('node:module');
const { fileURLToPath } = require('node:url');
const { transformSync } = require('amaro');

function compile(file) {
  const { code, map } = transformSync(readFileSync(file, 'utf8'), {
    mode: 'transform',
    sourceMap: true,
    filename: file,
  });
  const encoded = Buffer.from(map).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
}

if (process.env.LOADER === 'require') {
  module_._extensions['.ty'] = (loaded, file) => loaded._compile(compile(file), file);
  require('./priced.ty');
} else {
  module_.registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith('.ty')) return nextLoad(url, context);
      return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true };
    },
  });
  import('./listed.ty');
}
