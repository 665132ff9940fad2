// The apps of the proof stairs-async: their files, and the stage names of their five places.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '@redline/services';

export interface AsyncApp {
  file: string;
  /** Uses an ORM on a private PostgreSQL. */
  needsPostgres: boolean;
  places: Record<string, RegExp>;
}

const folder = join(import.meta.dirname, 'proofs');
const ormFolder = join(folder, 'orm');

const expressPlaces = {
  middleware: /^tagRequest$/,
  guard: /^requireUser after await/,
  handler: /^getOrders after await/,
  database: /^findOrders$/,
  serializer: /^serialize$/,
};
const nestPlaces = {
  middleware: /^tagRequest$/,
  guard: /^SignedIn\.canActivate after await/,
  handler: /^OrderController\.getOrders after await/,
  database: /^selectOrders$/,
  serializer: /^serialize$/,
};

export const asyncApps: Record<string, AsyncApp> = {
  express: {
    file: join(folder, 'async-express-app.mjs'),
    needsPostgres: false,
    places: expressPlaces,
  },
  nest: { file: join(folder, 'async-nest-app.mjs'), needsPostgres: false, places: nestPlaces },
  'express-sequelize': {
    file: join(ormFolder, 'express-sequelize-app.mjs'),
    needsPostgres: true,
    places: expressPlaces,
  },
  'nest-typeorm': {
    file: join(ormFolder, 'nest-typeorm-app.mjs'),
    needsPostgres: true,
    places: nestPlaces,
  },
};

/** Starts an empty server and installs the apps' packages, which nothing else needs. */
export async function prepareOrms(): Promise<
  { env: Record<string, string>; stop: () => Promise<void> } | { skip: string }
> {
  const started = await startPostgres();
  if (started.server === undefined) return { skip: started.missing };
  const { server } = started;
  if (!existsSync(join(ormFolder, 'node_modules', '.package-lock.json'))) {
    process.stdout.write('Installing the ORMs in benchmarks/proofs/orm\n');
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ormFolder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return { env: { POSTGRES_URL: server.url }, stop: () => server.stop() };
}
