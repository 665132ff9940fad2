import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RoutePatterns } from '../../src/access-log/route-pattern.ts';

test('ids in a path are folded, and names are not', () => {
  const patterns = new RoutePatterns();
  for (const [path, route] of [
    ['/users/17/posts?page=2', '/users/:id/posts'],
    ['/files/3f2504e0-4f89-41d3-9a0c-0305e82c3301', '/files/:uuid'],
    ['/days/2026-11-21', '/days/:date'],
    ['/blobs/9f86d081884c7d659a2feaa0', '/blobs/:hash'],
    ['/t/eyJhbGciOiJIUzI1NiJ9x0x0', '/t/:token'],
    ['/api/v2/users', '/api/v2/users'],
    ['/deadbeef-street/internationalization', '/deadbeef-street/internationalization'],
    ['/', '/'],
  ] as const) {
    assert.equal(patterns.routeOf(path), route);
  }
});

test('a route that is named wins, and a query is kept on request', () => {
  const patterns = new RoutePatterns(['/users/:name', '/static/*'], { keepQuery: true });
  assert.equal(patterns.routeOf('/users/ann'), '/users/:name');
  assert.equal(patterns.routeOf('/static/js/app.js'), '/static/*');
  assert.equal(patterns.routeOf('/orders?a=1'), '/orders?a=1');
  assert.throws(() => new RoutePatterns(['users']), /--group names "users"/);
});
