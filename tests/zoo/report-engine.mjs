// Imported after the engine: says what serves each HTTP server of the process.
import { appendFileSync } from 'node:fs';
import { Server } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    setImmediate(async () => {
      const address = this.address();
      if (address === null) return;
      const { engine } = await import(process.env.ZOO_ENGINE);
      const isHttp = this.listenerCount('request') > 0;
      const { name, reason } = engine(this);
      const line = `${address.port ?? address} ${isHttp ? 'http' : 'other'} ${name} ${reason ?? ''}`;
      appendFileSync(process.env.ZOO_REPORT, `${line.trim()}\n`);
    });
  });
  return listen.apply(this, args);
};
