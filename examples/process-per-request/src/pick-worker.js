// The article's three ways to choose a worker. BALANCE=random (default), round-robin or least-busy.
import process from 'node:process';

let count = 0;

export const pickWorker = {
  random: (workers) => workers[Math.floor(Math.random() * workers.length)],
  'round-robin': (workers) => workers[(count += 1) % workers.length],
  'least-busy': (workers) =>
    workers.reduce((least, worker) => (worker.requests < least.requests ? worker : least)),
}[process.env.BALANCE ?? 'random'];
