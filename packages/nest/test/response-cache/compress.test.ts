import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Header, Injectable, type NestInterceptor } from '@nestjs/common';
import { JsonCache } from '@redline/nest';
import { map } from 'rxjs';
import { onBothFrameworks, startApp, type TestApp } from './harness.ts';

const value = { items: Array.from({ length: 100 }, (_, id) => ({ id, name: `naïve desk ${id}` })) };
const json = JSON.stringify(value);
/* fetch() itself decodes them. */
const codings = ['br', 'gzip'];

interface Sent {
  readonly coding: string | undefined;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

async function ask(app: TestApp, path: string, accept: string, method = 'GET'): Promise<Sent> {
  const response = await app.fetch(path, { method, headers: { 'accept-encoding': accept } });
  const headers = Object.fromEntries(response.headers);
  return { coding: headers['content-encoding'], text: await response.text(), headers };
}

/** Asks until the response has the coding. */
async function askFor(coding: string, app: TestApp, path: string): Promise<Sent> {
  for (;;) {
    const sent = await ask(app, path, coding);
    if (sent.coding === coding) return sent;
    await sleep(5);
  }
}

@Controller()
class Items {
  runs = 0;

  @Get('handler')
  @JsonCache({ ttl: 60_000, compress: true })
  inHandler(): unknown {
    return value;
  }

  @Get('hook')
  @JsonCache({ ttl: 60_000, compress: true, at: 'hook' })
  inHook(): unknown {
    return value;
  }

  @Get('default')
  @JsonCache({ ttl: 60_000 })
  byDefault(): unknown {
    return value;
  }

  @Get('type')
  @JsonCache({ ttl: 60_000, compress: true })
  @Header('Content-Type', 'application/vnd.items+json')
  ofType(): unknown {
    return value;
  }

  @Get('off')
  @JsonCache({ ttl: 60_000, compress: false })
  off(): unknown {
    return value;
  }
}

const seen: unknown[] = [];

@Injectable()
class Looking implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_context, next) =>
    next.handle().pipe(map((result) => (seen.push(result), result)));
}

onBothFrameworks('compress of @JsonCache', (framework) => {
  it('sends each coding to who accepts it, in the handler, in the hook and by the module', async (t) => {
    const app = await startApp(framework, [Items], { compress: { encodings: ['gzip'] } });
    t.after(() => app.stop());
    for (const path of ['/handler', '/hook', '/type']) {
      const miss = await ask(app, path, 'br');
      assert.deepEqual(
        [miss.coding, miss.text, miss.headers.vary],
        [undefined, json, 'accept-encoding'],
      );
      const plain = await ask(app, path, 'identity');
      for (const coding of codings) {
        const sent = await askFor(coding, app, path);
        assert.equal(sent.text, json);
        for (const name of ['content-type', 'vary'])
          assert.equal(sent.headers[name], plain.headers[name], `${path}: ${name}`);
        const head = await ask(app, path, coding, 'HEAD');
        assert.deepEqual(
          ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'].map(
            (name) => head.headers[name],
          ),
          ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'].map(
            (name) => sent.headers[name],
          ),
        );
      }
    }
    assert.equal((await askFor('gzip', app, '/default')).text, json);
    assert.equal((await ask(app, '/default', 'br')).coding, undefined);
    const off = await ask(app, '/off', 'gzip');
    assert.deepEqual([off.coding, off.headers.vary], [undefined, undefined]);
  });

  it('shows interceptors that run on hits the text', async (t) => {
    const app = await startApp(framework, [Items], { runOnHits: [Looking] }, (nest) =>
      nest.useGlobalInterceptors(new Looking()),
    );
    t.after(() => app.stop());
    await askFor('br', app, '/handler');
    seen.length = 0;
    assert.equal((await ask(app, '/handler', 'br')).coding, 'br');
    assert.deepEqual(seen, [json]);
  });
});
