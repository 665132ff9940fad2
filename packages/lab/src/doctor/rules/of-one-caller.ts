import type { App } from '../app/app.ts';
import type { Code } from '../syntax/files.ts';
import {
  argumentsOf,
  at,
  bare,
  enclosingClass,
  isCall,
  isClass,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
  within,
} from '../syntax/node.ts';
import { decoratorsOf } from '../syntax/request-path.ts';

/** Decorators of parameters for what is in the URL, which every key of a cache has. */
const ofUrl = new Set(['Param', 'Query', 'HostParam']);
/** It counts requests, and looks at no caller's rights. */
const throttler = '@nestjs/throttler.ThrottlerGuard';
/** What a decorator of a package is called that stands for guards. */
const likeGuard = /guard|auth|role|permission|session|login|logged|user/i;
/** Decorators of the app are built of few others, and a handler of few services. */
const mostSteps = 4;
const mostFunctions = 200;

/**
 * Why a cached route of Nest may send something that is of one caller only: a guard decides who gets it, or it is made
 * from the request. Undefined where the code shows neither.
 * @param place The decorator of a route or of a controller, or anything else for all routes of the app.
 */
export function ofOneCaller(app: App, place: Code): string | undefined {
  const owner = place.node.type === 'Decorator' ? place.node.parent : undefined;
  const routes =
    owner === undefined
      ? app.sources.flatMap((file) =>
          file.all('ClassDeclaration', 'ClassExpression').flatMap((node) => handlersOf(file, node)),
        )
      : isClass(owner)
        ? handlersOf(place.file, owner)
        : [{ file: place.file, node: owner }];
  return (
    globalGuard(app) ??
    firstOf(routes, (route) => guardOf(app, route) ?? parameterOf(route) ?? readOf(app, route))
  );
}

/** The methods of a controller. */
function handlersOf(file: Code['file'], owner: Node): Code[] {
  if (!decoratorsOf(owner).includes('Controller')) return [];
  return listAt(at(owner, 'body'), 'body')
    .filter((each) => each.type === 'MethodDefinition' && decoratorsOf(each).length > 0)
    .map((node) => ({ file, node }));
}

function globalGuard(app: App): string | undefined {
  return firstOf(app.sources, (file) => {
    for (const call of file.all('CallExpression')) {
      if (methodOf(call)?.name !== 'useGlobalGuards') continue;
      if (!countsOnly(app, file, argumentsOf(call))) return placed('useGlobalGuards', file, call);
    }
    for (const object of file.all('ObjectExpression')) {
      const token = propertyOf(object, 'provide');
      if (token === undefined || !isNamed(app, { file, node: token }, '@nestjs/core.APP_GUARD'))
        continue;
      const given = propertyOf(object, 'useClass');
      if (given === undefined || !countsOnly(app, file, [given]))
        return placed('APP_GUARD', file, object);
    }
    return undefined;
  });
}

/** A guard on the route, on its controller, or on what that extends. */
function guardOf(app: App, { file, node }: Code): string | undefined {
  const own = guardAmong(app, { file, node });
  if (own !== undefined) return own;
  let owner: Code = { file, node: enclosingClass(node)! };
  for (let step = 0; step < mostSteps; step++) {
    const found = guardAmong(app, owner);
    if (found !== undefined) return found;
    const parent = at(owner.node, 'superClass');
    if (parent === undefined) return undefined;
    const base = app.modules.classOf({ file: owner.file, node: parent });
    if (base === undefined) return placed('a class that is not seen', owner.file, parent);
    owner = base;
  }
  return undefined;
}

function guardAmong(app: App, { file, node }: Code): string | undefined {
  return firstOf(listAt(node, 'decorators'), (decorator) => {
    const expression = at(decorator, 'expression')!;
    return holdsGuard(app, { file, node: expression }, mostSteps)
      ? placed(file.textOf(decorator).split('\n', 1)[0]!, file, decorator)
      : undefined;
  });
}

/** `UseGuards(…)`, or a decorator of the app that is made with it. */
function holdsGuard(app: App, { file, node }: Code, steps: number): boolean {
  const callee = isCall(node) ? at(node, 'callee')! : node;
  const code = { file, node: callee };
  if (isNamed(app, code, '@nestjs/common.UseGuards'))
    return !countsOnly(app, file, argumentsOf(node));
  const origin = app.modules.originOf(code);
  if (origin?.startsWith('@nestjs/common.') === true) return false;
  const own = app.modules.functionOf(code) ?? app.modules.valueOf(code);
  if (own === undefined || own.node === callee || steps === 0)
    return likeGuard.test(lastName(callee));
  return [...within(own.node)].some(
    (each) => isCall(each) && holdsGuard(app, { file: own.file, node: each }, steps - 1),
  );
}

/** A parameter that is not a part of the URL: the request, its headers, the user. */
function parameterOf({ file, node }: Code): string | undefined {
  const fn = at(node, 'value');
  const taking = [...listAt(fn, 'params')].find((each) =>
    decoratorsOf(each).some((name) => !ofUrl.has(name)),
  );
  return taking && placed(file.textOf(taking), file, taking);
}

/** What the handler calls, as far as it can be followed, reads the request in another way. */
function readOf(app: App, { file, node }: Code): string | undefined {
  const queue: Code[] = [{ file, node: at(node, 'value') ?? node }];
  const seen = new Set<Node>();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next.node) || seen.size > mostFunctions) continue;
    seen.add(next.node);
    const owner = enclosingClass(next.node);
    const injected = owner && requestIn(app, { file: next.file, node: owner });
    if (injected !== undefined) return injected;
    for (const each of within(next.node)) {
      if (!isCall(each)) continue;
      const callee = { file: next.file, node: at(each, 'callee')! };
      const store = methodOf(each);
      if (store !== undefined && isStore(app, { file: next.file, node: store.object }, store.name))
        return placed(next.file.textOf(callee.node), next.file, each);
      const called = app.modules.functionOf(callee);
      if (called !== undefined && isFunction(called.node)) queue.push(called);
    }
  }
  return undefined;
}

/** `@Inject(REQUEST)` of a class. */
function requestIn(app: App, { file, node }: Code): string | undefined {
  const found = file
    .all('Decorator')
    .find(
      (each) =>
        enclosingClass(each) === node &&
        argumentsOf(at(each, 'expression')).some((given) =>
          isNamed(app, { file, node: given }, '@nestjs/core.REQUEST'),
        ),
    );
  return found && placed(file.textOf(found), file, found);
}

function isStore(app: App, object: Code, name: string): boolean {
  const origin = app.modules.originOf(object) ?? '';
  return name === 'getStore'
    ? /^async_hooks\.AsyncLocalStorage\(\)$/.test(origin)
    : origin.startsWith('nestjs-cls.');
}

function countsOnly(app: App, file: Code['file'], given: readonly Node[]): boolean {
  return (
    given.length > 0 &&
    given.every((each) => {
      const value = bare(each)!;
      const node = isCall(value) ? at(value, 'callee')! : value;
      return app.modules.originOf({ file, node }) === throttler;
    })
  );
}

/** By its import, or by its name where that is not seen. */
function isNamed(app: App, { file, node }: Code, origin: string): boolean {
  const known = app.modules.originOf({ file, node });
  return known === origin || (known === undefined && lastName(node) === origin.split('.').at(-1));
}

function lastName(node: Node): string {
  return nameOf(node.type === 'MemberExpression' ? at(node, 'property') : node) ?? '';
}

function placed(what: string, file: Code['file'], { start }: Node): string {
  return `${what} at ${file.name}:${file.placeOf(start).line}`;
}

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const each of items) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
