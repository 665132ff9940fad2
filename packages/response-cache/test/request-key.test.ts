import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cachedRoute, type CachedRoute, type CacheRequest } from '../src/route/cached-route.ts';
import { JsonCache } from '../src/cache/json-cache.ts';
import { headKeyOf, keysOf, requestKey } from '../src/route/key/request-key.ts';

const cache = new JsonCache({ logger: false });

function ruleWith(changes: Partial<CachedRoute> = {}, policy: object = {}): CachedRoute {
  const warn = (): void => {};
  return { ...cachedRoute('GET /', policy, { cache, defaults: {}, warn }), ...changes };
}

function get(url: string, headers: Record<string, string> = {}): CacheRequest {
  return { method: 'GET', originalUrl: url, headers: { host: 'shop.example', ...headers } };
}

/* A sequence that is the same in each run: a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/* Texts that look like what stands between the parts of a key. */
const texts = ['a', 'a,b', 'b', '1:a', '-', '--', '3:url', 'a-', '0:', 'https', 'a:1', '2:a1', 'x'];

describe('The key of a request', () => {
  it('differs wherever one of its parts does', () => {
    const random = randomOf(7);
    const pick = <T>(of: readonly T[]): T => of[random(of.length)]!;
    const maybe = (): string | undefined => (random(2) === 0 ? undefined : pick(texts));
    const partsOf = new Map<string, string>();
    for (let round = 0; round < 60_000; round++) {
      const scheme = pick(['http', 'https']);
      const isOverTls = random(2) === 0;
      const host = pick(['a', 'a,b', 'b', 'shop.example', 'a:80', 'a:8080', '[::1]', 'A']);
      const forwarded = { 'x-forwarded-host': maybe(), 'x-forwarded-prefix': maybe() };
      const [port, by] = [pick([undefined, '8443', '1']), pick([undefined, 'host=a', 'host=b'])];
      const url = `/${pick(texts)}${pick(['', '/', '?', '?q=1', `/${pick(texts)}`])}`;
      const [version, caller, language] = [pick(['', '1', '1:', 'a']), maybe(), maybe()];
      const rule = ruleWith(
        { version, vary: random(2) === 0 ? [] : ['accept-language'] },
        { identify: caller === undefined ? 'public' : { header: 'x-who' } },
      );
      const headers = Object.fromEntries(
        Object.entries({
          ...forwarded,
          host,
          'x-forwarded-proto': scheme,
          'x-forwarded-port': port,
          forwarded: by,
          'x-who': caller,
          'accept-language': language,
        }).filter(([, value]) => value !== undefined),
      ) as Record<string, string>;
      const raw = { socket: { encrypted: isOverTls } };
      const key = requestKey({ ...get(url, headers), raw } as CacheRequest, rule);
      assert.ok(key !== undefined, JSON.stringify(headers));
      const varied = rule.vary.length === 0 ? 'none' : [language];
      // Those that repeat what the request says anyway count as none.
      const { 'x-forwarded-host': other, 'x-forwarded-prefix': prefix } = forwarded;
      const same = JSON.stringify([
        [scheme, isOverTls, host, other === host ? undefined : other, prefix, port],
        by === `host=${host}` ? undefined : by,
        [url, version, caller, varied],
      ]);
      assert.equal(partsOf.get(key) ?? same, same, key);
      partsOf.set(key, same);
      partsOf.set(headKeyOf(key), `HEAD ${same}`);
    }
    assert.ok(partsOf.size > 20_000);
  });

  it('is none for a Host that is not one', () => {
    for (const host of [
      'shop.example/admin',
      'https://shop.example',
      'shop.example?a',
      'user@shop.example',
      'shop example',
      'shop.example\\admin',
      'shop.example#x',
      'shop.example:x',
      '[::1',
      '',
    ])
      for (const rule of [ruleWith(), ruleWith({ hosts: 'any' }), ruleWith({ key: 'own' })])
        assert.equal(requestKey(get('/', { host }), rule), undefined, host);
  });

  it('has no host for a request of HTTP/1.0 without one, even as the first of a process', async () => {
    const file = new URL('../src/route/host.ts?first', import.meta.url).href;
    const { hostOf } = (await import(file)) as typeof import('../src/route/host.ts');
    const request = { method: 'GET', originalUrl: '/', headers: {} };
    assert.equal(hostOf(request), '');
    assert.equal(hostOf(get('/')), 'shop.example');
    assert.equal(hostOf(request), '');
  });

  it('is none for a target other than a path', () => {
    for (const target of ['http://shop.example/', 'https://other.example/admin', '*', ''])
      for (const rule of [ruleWith(), ruleWith({ hosts: 'any' })])
        assert.equal(requestKey(get(target), rule), undefined, target);
  });

  it('has the protocol of the connection, in HTTP/2 as well', () => {
    const rule = ruleWith();
    const over = (raw: object, headers: Record<string, string> = {}): string | undefined =>
      requestKey({ ...get('/', headers), raw } as CacheRequest, rule);
    class Http2Request {
      readonly stream: object;
      constructor(encrypted: boolean) {
        this.stream = { session: { encrypted }, endAfterHeaders: true };
      }
      get socket(): never {
        throw new Error('It must not be read: some servers create it at the first read.');
      }
    }
    const plain = over({ socket: {} });
    const forwarded = over({ socket: {} }, { 'x-forwarded-proto': 'https' });
    const secure = over({ socket: { encrypted: true } });
    assert.equal(new Set([plain, forwarded, secure]).size, 3);
    assert.equal(plain, requestKey(get('/'), rule));
    assert.equal(over(new Http2Request(true)), secure);
    assert.equal(over(new Http2Request(false)), plain);
  });

  it('is none for a protocol other than http and https', () => {
    for (const named of ['HTTPS', 'https,http', 'ws', ''])
      assert.equal(requestKey(get('/', { 'x-forwarded-proto': named }), ruleWith()), undefined);
  });

  it('is none for a request with a body', () => {
    const rule = ruleWith();
    assert.equal(requestKey(get('/', { 'content-length': '2' }), rule), undefined);
    assert.equal(requestKey(get('/', { 'transfer-encoding': 'chunked' }), rule), undefined);
    assert.equal(requestKey(get('/', { 'content-length': '0' }), rule), requestKey(get('/'), rule));
    const http2 = {
      ...get('/', { ':method': 'GET' }),
      raw: { stream: { endAfterHeaders: false } },
    };
    assert.equal(requestKey(http2, rule), undefined);
  });

  it('has the authority of HTTP/2', () => {
    const authorities = ['a.example', 'b.example'].map((name) =>
      requestKey({ method: 'GET', originalUrl: '/', headers: { ':authority': name } }, ruleWith()),
    );
    assert.notEqual(authorities[0], authorities[1]);
  });

  it('is the same for proxies that repeat what the request says', () => {
    const plain = requestKey(get('/', { 'x-forwarded-proto': 'https' }), ruleWith());
    const repeated = requestKey(
      get('/', {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'shop.example',
        'x-forwarded-port': '443',
        forwarded: 'for=192.0.2.1;host="shop.example";proto=https, for=198.51.100.7',
      }),
      ruleWith(),
    );
    assert.equal(repeated, plain);
  });

  it('is among those that are deleted with a URL', () => {
    const of = { hosts: ['shop.example'], caller: undefined, prefix: undefined };
    const rule = ruleWith();
    assert.ok(keysOf('/a', of).includes(requestKey(get('/a'), rule)!));
    const https = get('/a', { 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/api' });
    assert.ok(keysOf('/a', { ...of, prefix: '/api' }).includes(requestKey(https, rule)!));
    for (const headers of [{}, { 'x-forwarded-proto': 'http' }] as Record<string, string>[]) {
      const secure = { ...get('/a', headers), raw: { socket: { encrypted: true } } };
      assert.ok(keysOf('/a', of).includes(requestKey(secure as CacheRequest, rule)!));
    }
    assert.ok(keysOf('own', of).includes(requestKey(get('/'), ruleWith({ key: 'own' }))!));
  });
});
