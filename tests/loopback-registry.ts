// A registry on loopback that has the packages of this repository as npm would publish them, and everything else from the
// registry npm is set to: what an install brings is seen before anything is published.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { localAddons } from '../scripts/release/local-addons.ts';
import { type Manifest, manifestOf, pack } from '../scripts/release/pack.ts';

const root = join(import.meta.dirname, '..');

export interface LoopbackRegistry {
  /** For `npm_config_registry`. */
  readonly url: string;
  stop(): void;
}

/** Of a user who has this registry, and nothing of the npm that runs this test. */
export function npmEnvironment({ url }: LoopbackRegistry): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return {
    ...Object.fromEntries(own),
    npm_config_registry: url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_loglevel: 'error',
  };
}

interface Packed {
  file: string;
  manifest: Manifest;
}

export async function startRegistry(): Promise<LoopbackRegistry> {
  // Of this process alone: packing empties its folder first.
  const folder = mkdtempSync(join(tmpdir(), 'redline-registry-'));
  const packed = packAll(folder);
  const upstream = execFileSync('npm', ['config', 'get', 'registry', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const own = new Map(packed.map((each) => [each.manifest.name, each]));
  const files = new Map(packed.map(({ file }) => [`-/${basename(file)}`, file]));
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(502);
      response.end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(request.url!.slice(1));
    const file = files.get(path);
    if (file !== undefined) {
      response.end(readFileSync(file));
      return;
    }
    const mine = own.get(path);
    if (mine !== undefined) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describe(mine)));
      return;
    }
    const { accept } = request.headers;
    const fetched = await fetch(new URL(request.url!.slice(1), upstream), {
      headers: accept === undefined ? {} : { accept },
    });
    response.writeHead(fetched.status, {
      'content-type': fetched.headers.get('content-type') ?? 'application/octet-stream',
    });
    if (fetched.body === null) response.end();
    else await pipeline(fetched.body as ReadableStream as unknown as Readable, response);
  }

  /** What npm asks a registry about a package. */
  function describe({ file, manifest }: Packed): object {
    const { name, version } = manifest;
    const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
    const dist = { tarball: `${url}-/${basename(file)}`, integrity: `sha512-${hash}` };
    return {
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, devDependencies: {}, dist } },
    };
  }

  return {
    url,
    stop() {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every package, and the addons of this machine. */
function packAll(into: string): Packed[] {
  return pack({ root, built: localAddons(root), into }).map((file) => ({
    file,
    manifest: manifestOf(file),
  }));
}
