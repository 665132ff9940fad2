'use strict';
// Loads the addon built for this platform; throws where there is none.
const { platform, arch } = process;

function load(libc) {
  return require(`./http.${platform}-${arch}-${libc}.node`);
}

try {
  module.exports = load('gnu');
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
  module.exports = load('musl');
}
