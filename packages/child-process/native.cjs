'use strict';
// Loads the addon built for this platform; throws where there is none.
const { platform, arch } = process;

function load(libc) {
  return require(`./child-process.${platform}-${arch}-${libc}.node`);
}

try {
  module.exports = load('gnu');
} catch (error) {
  // Where both lie, the other libc's does not load.
  try {
    module.exports = load('musl');
  } catch (musl) {
    throw musl.code === 'MODULE_NOT_FOUND' ? error : musl;
  }
}
