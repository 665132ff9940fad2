import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Controller, Get, Req } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JsonCache } from '@redline/nest';
import { onBothFrameworks, startApp, type Framework, type TestApp } from './harness.ts';

interface LinkRequest {
  readonly protocol: string;
  readonly hostname: string;
}

let runs = 0;

@Controller()
class LinksController {
  @Get('links')
  @JsonCache()
  links(@Req() { protocol, hostname }: LinkRequest): object {
    runs += 1;
    return { self: `${protocol}://${hostname}/links` };
  }
}

/** An app behind a proxy that it trusts. */
function startBehindProxy(framework: Framework, options: object = {}): Promise<TestApp> {
  const adapter =
    framework === 'fastify' ? new FastifyAdapter({ trustProxy: true }) : new ExpressAdapter();
  if (adapter instanceof ExpressAdapter) adapter.set('trust proxy', true);
  return startApp(
    framework,
    [LinksController],
    { hosts: undefined, ...options },
    () => {},
    adapter,
  );
}

onBothFrameworks('A cached route that makes absolute links behind a proxy', (framework) => {
  const ask = (app: TestApp, headers: Record<string, string>): Promise<string> =>
    app.text('/links', { headers });
  const shop = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' };

  it('keeps a response for each host and protocol that the proxy names', async () => {
    const app = await startBehindProxy(framework);
    runs = 0;
    for (const headers of [
      shop,
      { ...shop, 'x-forwarded-proto': 'http' },
      { ...shop, 'x-forwarded-host': 'admin.example' },
    ]) {
      const self = `${headers['x-forwarded-proto']}://${headers['x-forwarded-host']}/links`;
      for (let i = 0; i < 2; i++) assert.equal(await ask(app, headers), JSON.stringify({ self }));
    }
    assert.equal(runs, 3);
    assert.equal(await ask(app, {}), '{"self":"http://127.0.0.1/links"}');
    await app.stop();
  });

  it('does not use the cache where two proxies name different protocols', async () => {
    const app = await startBehindProxy(framework);
    runs = 0;
    const mixed = { 'x-forwarded-proto': 'https, http' };
    for (let i = 0; i < 2; i++) await ask(app, mixed);
    assert.equal(runs, 2);
    for (let i = 0; i < 2; i++) await ask(app, { 'x-forwarded-proto': 'https, https' });
    assert.equal(runs, 3);
    assert.equal(
      await ask(app, { 'x-forwarded-proto': 'https' }),
      '{"self":"https://127.0.0.1/links"}',
    );
    assert.equal(runs, 3);
    await app.stop();
  });

  it('has the response of either protocol deleted with its URL', async () => {
    const app = await startBehindProxy(framework);
    const host = new URL(app.url).host;
    const https = { 'x-forwarded-proto': 'https' };
    for (const headers of [https, {}]) await ask(app, headers);
    runs = 0;
    await app.cache.delete('/links', { host });
    for (const headers of [https, {}]) await ask(app, headers);
    assert.equal(runs, 2);
    await app.stop();
  });

  it('shares its responses where hosts says that none depends on the host', async () => {
    const app = await startBehindProxy(framework, { hosts: 'any' });
    assert.equal(await ask(app, shop), await ask(app, {}));
    await app.stop();
  });
});
