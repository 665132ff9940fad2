'use strict';
// Loads the addon built for this platform; throws where there is none. CommonJS, for `require` here needs no `import.meta`:
// what compiles the package to CommonJS, as Jest does, has none.
const { platform, arch } = process;

exports.loadAddon = () => {
  try {
    return load('gnu');
  } catch (error) {
    // Where both lie, the other libc's does not load.
    try {
      return load('musl');
    } catch (musl) {
      throw musl.code === 'MODULE_NOT_FOUND' ? error : musl;
    }
  }
};

function load(libc) {
  return require(`./child-process.${platform}-${arch}-${libc}.node`);
}
