// node delay-proxy.ts TARGET_PORT ROUND_TRIP_MS: a TCP proxy on loopback with the given round-trip time. Prints its port. It
// delays without limiting: data that arrives together leaves together. Each direction takes half of the round trip.
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

const [targetPort, roundTripMs] = process.argv.slice(2).map(Number);
const oneWayMs = roundTripMs! / 2;
/** A timer is up to a millisecond late: data due within this time is sent along. */
const earlyMs = 0.3;

const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
  const far = connect({
    port: targetPort!,
    host: '127.0.0.1',
    noDelay: true,
    allowHalfOpen: true,
  });
  pass(near, far);
  pass(far, near);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

function pass(from: Socket, to: Socket): void {
  const onTheWay: { dueMs: number; chunk: Buffer | undefined }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const arrive = (): void => {
    timer = undefined;
    const now = performance.now() + earlyMs;
    to.cork();
    while (onTheWay.length > 0 && onTheWay[0]!.dueMs <= now) {
      const { chunk } = onTheWay.shift()!;
      if (chunk === undefined) to.end();
      else to.write(chunk);
    }
    to.uncork();
    schedule();
  };
  const schedule = (): void => {
    if (timer !== undefined || onTheWay.length === 0) return;
    timer = setTimeout(arrive, Math.max(0, onTheWay[0]!.dueMs - performance.now() - earlyMs));
  };
  const depart = (chunk: Buffer | undefined): void => {
    onTheWay.push({ dueMs: performance.now() + oneWayMs, chunk });
    schedule();
  };
  from.on('data', depart);
  from.on('end', () => depart(undefined));
  from.on('error', () => to.destroy());
  from.on('close', (hadError) => {
    if (hadError) to.destroy();
  });
}
