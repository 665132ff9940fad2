import { lookAround, type Around } from './hit-placement.ts';

interface Layer {
  readonly name?: string;
  readonly handle?: unknown;
  readonly route?: { readonly stack: readonly { readonly handle: unknown }[] };
}

/* Middleware of Express itself and of its own packages: it lets every request pass, and sets the same headers on all responses. */
const harmless = new Set([
  'query',
  'expressInit',
  'jsonParser',
  'urlencodedParser',
  'rawParser',
  'textParser',
  'corsMiddleware',
  'helmetMiddleware',
]);

/**
 * Returns the middleware that runs before `own`, which is that of a route; undefined if it is not a route of the app itself.
 *
 * @param isHarmless true for middleware that is known to let every request pass
 */
export function middlewareBefore(
  app: unknown,
  own: unknown,
  isHarmless: (middleware: unknown) => boolean = () => false,
): Around | undefined {
  const { router, _router } = (app ?? {}) as Record<'router' | '_router', unknown>;
  const { stack } = (_router ?? router ?? {}) as { stack?: readonly Layer[] };
  const before: unknown[] = [];
  for (const { name, handle, route } of stack ?? []) {
    if (route === undefined) {
      if (!harmless.has(name ?? '')) before.push(handle);
      continue;
    }
    const handles = route.stack.map((layer) => layer.handle);
    if (!handles.includes(own)) continue;
    before.push(...handles.slice(0, handles.indexOf(own)));
    return lookAround(before.filter((each) => !isHarmless(each)));
  }
  return undefined;
}
