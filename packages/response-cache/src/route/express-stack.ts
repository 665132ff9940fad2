import { lookAround, type Around } from './place.ts';

interface Layer {
  readonly name?: string;
  readonly handle?: unknown;
  readonly route?: { readonly stack: readonly { readonly handle: unknown }[] };
}

/* Of Express itself and of its own packages: they let everybody pass, and give all responses the same headers. */
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
 * The middleware that runs before `own`, one of a route; undefined if that is not a route of the app itself.
 *
 * @param isHarmless of those that are known to let everybody pass
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
