import { Server } from 'node:net';

type Listen = (this: Server, ...args: unknown[]) => Server;

/** The app itself runs on its port already; this copy of it is sent to another. */
export function redirectListen(from: number, to: number): void {
  const listen = Server.prototype.listen as Listen;
  (Server.prototype as unknown as { listen: Listen }).listen = function (first, ...rest) {
    if (Number(first) === from) return listen.call(this, to, ...rest);
    const isMeant =
      typeof first === 'object' &&
      first !== null &&
      Number((first as { port?: unknown }).port) === from;
    return listen.call(this, isMeant ? { ...first, port: to } : first, ...rest);
  };
}
