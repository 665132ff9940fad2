import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import {
  argumentsOf,
  at,
  enclosingClass,
  isCall,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  within,
} from '../../syntax/node.ts';
import { decoratorsOf } from '../../syntax/request-path.ts';
import { firstOf, isNamed, placed } from './names.ts';
import { basesOf, type Route, subclassesOf } from './nest-routes.ts';

/** Parameter decorators for parts of the URL, which every cache key contains. */
const ofUrl = new Set(['Param', 'Query', 'HostParam']);
/** Max number of functions followed: a handler uses few services. */
const maxFunctions = 200;
/** Packages that store request data for later access. */
const stores =
  /^(nestjs-cls|@fastify\/request-context|express-http-context|cls-hooked|continuation-local-storage|(@\w+\/)?nestjs-request-context)\./;

/** Finds a parameter that is not part of the URL: the request, its headers, the user. */
export function parameterOf({ handler: { file, node } }: Route): string | undefined {
  const fn = at(node, 'value');
  const taking = listAt(fn, 'params').find((each) =>
    decoratorsOf(each).some((name) => !ofUrl.has(name)),
  );
  return taking && placed(file.textOf(taking), file, taking);
}

/** Finds other reads of the request in the functions that the handler calls; if they cannot be followed, anywhere in the app. */
export function readOf(app: App, { controller, handler }: Route): string | undefined {
  const queue: Code[] = [{ file: handler.file, node: at(handler.node, 'value') ?? handler.node }];
  const seen = new Set<Node>();
  let isFollowed = true;
  const injected = requestIn(app, controller);
  if (injected !== undefined) return injected;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (seen.has(next.node) || seen.size > maxFunctions) continue;
    seen.add(next.node);
    const owner = enclosingClass(next.node);
    const found = (owner && requestIn(app, { file: next.file, node: owner })) ?? storeIn(app, next);
    if (found !== undefined) return found;
    for (const each of within(next.node)) {
      if (!isCall(each)) continue;
      const callee = { file: next.file, node: at(each, 'callee')! };
      const called = calledBy(app, callee);
      queue.push(...called);
      isFollowed &&= called.length > 0 || !isOfField(app, callee);
    }
  }
  return isFollowed ? undefined : firstOf(app.sources, (file) => readerIn(app, file));
}

/** Returns the called function of the app, and its overrides in subclasses. */
function calledBy(app: App, callee: Code): Code[] {
  const called = app.modules.functionOf(callee);
  const found = called !== undefined && isFunction(called.node) ? [called] : [];
  const object = at(callee.node, 'object');
  const name = nameOf(at(callee.node, 'property'));
  const owner = object && app.modules.instanceOf({ file: callee.file, node: object });
  if (owner === undefined || name === undefined) return found;
  for (const { file, node } of subclassesOf(app, owner)) {
    const member = listAt(at(node, 'body'), 'body').find(
      (each) => nameOf(at(each, 'key')) === name,
    );
    const value = at(member, 'value');
    if (isFunction(value)) found.push({ file, node: value });
  }
  return found;
}

/** True for `this.items.all()` on an injected object that is not known to come from a package. */
function isOfField(app: App, { file, node }: Code): boolean {
  const object = at(node, 'object');
  return (
    object?.type === 'MemberExpression' &&
    at(object, 'object')?.type === 'ThisExpression' &&
    app.modules.originOf({ file, node: object }) === undefined
  );
}

function readerIn(app: App, file: Code['file']): string | undefined {
  return (
    firstOf(file.all('ClassDeclaration', 'ClassExpression'), (node) =>
      requestIn(app, { file, node }),
    ) ?? storeIn(app, { file, node: file.program })
  );
}

/** Finds `@Inject(REQUEST)` in a class or one of its base classes. */
function requestIn(app: App, of: Code): string | undefined {
  return firstOf(basesOf(app, of), ({ file, node }) => {
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
  });
}

/** Finds an access to request-scoped storage. */
function storeIn(app: App, { file, node }: Code): string | undefined {
  return firstOf(within(node), (call) => {
    const method = methodOf(call);
    if (method === undefined) return undefined;
    const origin = app.modules.originOf({ file, node: method.object });
    const isStore =
      stores.test(origin ?? '') ||
      (method.name === 'getStore' && /^(async_hooks\.AsyncLocalStorage\(\))?$/.test(origin ?? ''));
    return isStore ? placed(file.textOf(at(call, 'callee')!), file, call) : undefined;
  });
}
