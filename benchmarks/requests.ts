// Requests and responses of the scenarios http and frameworks.
import type { RequestConfig } from '@redline/lab';

/** 593 bytes, a typical response of an API. */
export const product = JSON.stringify({
  id: 4711,
  name: 'Walnut desk with two drawers',
  description:
    'Solid walnut, oiled by hand, with a cable channel and soft-closing drawers. '.repeat(4),
  price: { amount: 64_900, currency: 'EUR' },
  stock: [
    { warehouse: 'north', count: 12 },
    { warehouse: 'south', count: 3 },
  ],
  tags: ['furniture', 'office', 'walnut', 'desk'],
  updatedAt: '2026-11-02T08:15:30.000Z',
}).padEnd(593);

/** The headers of a browser behind a proxy. */
export const browserHeaders: Record<string, string> = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9,uk;q=0.8',
  'Cache-Control': 'no-cache',
  Cookie: 'session=3b2f1c9a7d5e4f60; theme=dark; consent=necessary',
  Referer: 'https://shop.example/furniture/desks?page=2',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'X-Forwarded-For': '203.0.113.7, 198.51.100.2',
  'X-Forwarded-Proto': 'https',
  'X-Request-Id': '0192f6b2-6c1e-7a44-b0f1-9d6f3c2a1e55',
};

/** A typical order to a shop. */
export function orderOf(lines: number, bytes: number): RequestConfig {
  const order = {
    customer: '5f0c2a4e-93c1-4b59-9f6c-0d2f2f2b6a11',
    lines: Array.from({ length: lines }, (_, i) => ({
      sku: `SKU-${1_000 + i}`,
      count: 1 + (i % 3),
      cents: 1_999 + i,
    })),
    note: 'Please ring twice. ',
  };
  return {
    method: 'POST',
    path: '/order',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(order).padEnd(bytes),
  };
}

/** Returns the response to it, like `sum` of contenders/http-work.js. */
export function sumOf({ body }: RequestConfig): string {
  const { lines }: { lines: { count: number; cents: number }[] } = JSON.parse(body!);
  const cents = lines.reduce((sum, line) => sum + line.cents * line.count, 0);
  return `{"lines":${lines.length},"cents":${cents}}`;
}
