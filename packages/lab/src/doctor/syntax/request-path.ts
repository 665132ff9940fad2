import {
  argumentsOf,
  at,
  bare,
  childrenOf,
  enclosingFunction,
  isCall,
  isClass,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
  within,
  returnedBy,
} from './node.ts';
import type { Code } from './files.ts';
import type { Modules } from './modules.ts';
import { resolversIn } from './resolvers.ts';
import type { SourceFile } from './source-file.ts';

/** Certainty that requests reach a function: it is passed to a framework, or looks like a handler. */
export type Reach = 'certain' | 'likely';

/** Objects that frameworks return, as origins. */
const frameworks =
  /^(express|express\.(Router|express|Express|Application|IRouter)|fastify|fastify\.FastifyInstance|fastify\.fastify|fastify\.default|koa|@koa\/router|koa-router|hono\.Hono|polka|restify\.createServer|router)\(\)$/;
const verbs = new Set([
  'get',
  'post',
  'put',
  'patch',
  'delete',
  'del',
  'head',
  'options',
  'all',
  'any',
  'use',
  'route',
]);
/** Matches `router.route('/users').get(list)`: routes can be added to the returned route too. */
const chained =
  /(\.(route|all|any|get|post|put|patch|delete|del|head|options|use|register|prefix|basePath)\(\))+$/;
/** Fastify hooks that run when the app starts or ends. */
const startHooks = new Set(['onReady', 'onListen', 'onClose', 'preClose', 'onRegister', 'onRoute']);
const servers = /^(https?|http2)\.(createServer|createSecureServer|Server)$/;
const nestRoutes =
  /^(Get|Post|Put|Patch|Delete|Head|Options|All|Sse|Query|Mutation|Subscription|ResolveField|FieldResolver|MessagePattern|SubscribeMessage|GrpcMethod)$/;
/** Methods that Nest calls for each request, by the role of their class. */
const nestParts = /^(canActivate|intercept|transform|use|catch)$/;
const nestRoles = /^(CanActivate|NestInterceptor|PipeTransform|NestMiddleware|ExceptionFilter)$/;

const functionTypes = [
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
] as const;

/** Determines the functions that requests run through. */
export class RequestPath {
  readonly #modules: Modules;
  readonly #reached = new Map<Node, Reach>();
  /** Functions that frameworks call directly, not those called further down. */
  readonly #entries: ReadonlySet<Node>;
  /** Functions on the path whose calls are still to be followed. */
  readonly #queue: { code: Code; reach: Reach }[] = [];

  /** @param observed Functions that ran while requests were served. */
  constructor(
    files: Iterable<SourceFile>,
    modules: Modules,
    observed: ReadonlySet<Node> = new Set(),
  ) {
    this.#modules = modules;
    const all = [...files];
    for (const file of all) this.#entriesOf(file);
    // Excludes functions that were observed running: a helper is not an entry point, and its result is not a response.
    this.#entries = new Set(this.#reached.keys());
    for (const file of all) {
      for (const fn of file.all(...functionTypes)) {
        if (observed.has(fn)) this.#add({ file, node: fn }, 'likely');
      }
    }
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#follow(next.code, next.reach);
    }
  }

  isEntry(fn: Node): boolean {
    return this.#entries.has(fn);
  }

  /** Undefined for code that runs when the app starts, or that no known request reaches. */
  reachOf(node: Node): Reach | undefined {
    for (
      let fn = isFunction(node) ? node : enclosingFunction(node);
      fn !== undefined;
      fn = enclosingFunction(fn)
    ) {
      const reach = this.#reached.get(fn);
      if (reach !== undefined) return reach;
    }
    return undefined;
  }

  #entriesOf(file: SourceFile): void {
    for (const call of file.calls()) this.#entriesOfCall({ file, node: call });
    for (const each of file.all('ClassDeclaration', 'ClassExpression'))
      this.#entriesOfClass(file, each);
    for (const fn of file.all(
      'FunctionDeclaration',
      'FunctionExpression',
      'ArrowFunctionExpression',
    )) {
      if (looksLikeHandler(fn)) this.#add({ file, node: fn }, 'likely');
    }
    for (const each of resolversIn(file, this.#modules)) this.#addHandlers(each, 'likely');
  }

  #entriesOfCall({ file, node }: Code): void {
    const callee = at(node, 'callee')!;
    const method = methodOf(node);
    const args = argumentsOf(node);
    const origin = this.#modules.originOf({ file, node: callee });
    if (origin !== undefined && servers.test(origin)) {
      for (const each of args) this.#addHandlers({ file, node: each }, 'certain');
      return;
    }
    if (method === undefined) return;
    const { name, object } = method;
    if (name === 'on' && stringOf(args[0]) === 'request') {
      return this.#addHandlers({ file, node: args[1] ?? node }, 'certain');
    }
    const owner = this.#modules.originOf({ file, node: object });
    const isFramework = owner !== undefined && frameworks.test(owner.replace(chained, ''));
    if (name === 'addHook' && !startHooks.has(stringOf(args[0]) ?? '')) {
      return this.#addHandlers({ file, node: args[1] ?? node }, isFramework ? 'certain' : 'likely');
    }
    if (!verbs.has(name)) return;
    const path = stringOf(args[0]);
    const isRoute = path !== undefined && /^[/*]/.test(path) && args.length > 1;
    // Maps have `get` and `delete` too; an unknown object counts as a router if it is given a path.
    if (!isFramework && (owner !== undefined || !isRoute)) return;
    for (const each of args)
      this.#addHandlers({ file, node: each }, isFramework ? 'certain' : 'likely');
  }

  #entriesOfClass(file: SourceFile, node: Node): void {
    const roles = listAt(node, 'implements').map((each) => nameOf(at(each, 'expression')) ?? '');
    const isController = decoratorsOf(node).some((name) => /^(Controller|Resolver)$/.test(name));
    for (const member of listAt(at(node, 'body'), 'body')) {
      const fn = at(member, 'value');
      if (member.type !== 'MethodDefinition' || !isFunction(fn)) continue;
      const isRoute = isController && decoratorsOf(member).some((name) => nestRoutes.test(name));
      const isPart =
        nestParts.test(nameOf(at(member, 'key')) ?? '') &&
        roles.some((role) => nestRoles.test(role));
      if (isRoute || isPart) this.#add({ file, node: fn }, 'certain');
    }
  }

  /** Adds the handlers of a route: functions, lists of them, the result of a factory, options with a `handler`. */
  #addHandlers(given: Code, reach: Reach): void {
    const { file } = given;
    const node = bare(given.node);
    if (node === undefined) return;
    if (node.type === 'ArrayExpression') {
      for (const each of listAt(node, 'elements')) this.#addHandlers({ file, node: each }, reach);
      return;
    }
    if (node.type === 'ObjectExpression') {
      for (const name of [
        'handler',
        'onRequest',
        'preHandler',
        'preValidation',
        'onSend',
        'onResponse',
      ]) {
        const value = propertyOf(node, name);
        if (value !== undefined) this.#addHandlers({ file, node: value }, reach);
      }
      return;
    }
    const own = this.#modules.functionOf({ file, node });
    if (own !== undefined) return this.#add(own, reach);
    if (!isCall(node)) return;
    // A wrapper such as asyncHandler(fn), or a factory of the app whose returned functions are the handlers.
    for (const each of argumentsOf(node)) {
      if (isFunction(bare(each))) this.#addHandlers({ file, node: each }, reach);
    }
    const factory = this.#modules.functionOf({ file, node: at(node, 'callee')! });
    for (const returned of factory === undefined ? [] : returnedBy(factory.node)) {
      const made = this.#modules.functionOf({ file: factory!.file, node: returned });
      if (made !== undefined) this.#add(made, reach);
    }
  }

  #add(code: Code, reach: Reach): void {
    const known = this.#reached.get(code.node);
    if (known === 'certain' || known === reach) return;
    this.#reached.set(code.node, reach);
    this.#queue.push({ code, reach });
  }

  /** Follows the functions that a function calls, and those it passes on by name. */
  #follow({ file, node: fn }: Code, reach: Reach): void {
    for (const child of childrenOf(fn)) {
      for (const node of within(child)) {
        if (!isCall(node)) continue;
        const callee = at(node, 'callee')!;
        const called = this.#modules.functionOf({ file, node: callee });
        if (called !== undefined) this.#add(called, reach);
        if (node.type === 'NewExpression') this.#followConstructor({ file, node: callee }, reach);
        for (const each of argumentsOf(node)) {
          if (bare(each)?.type !== 'Identifier') continue;
          const given = this.#modules.functionOf({ file, node: each });
          if (given !== undefined) this.#add(given, 'likely');
        }
      }
    }
  }

  #followConstructor(callee: Code, reach: Reach): void {
    const made = this.#modules.classOf(callee);
    const members = made && isClass(made.node) ? listAt(at(made.node, 'body'), 'body') : [];
    const constructor = at(
      members.find((each) => each['kind'] === 'constructor'),
      'value',
    );
    if (made !== undefined && isFunction(constructor))
      this.#add({ file: made.file, node: constructor }, reach);
  }
}

/** True for `(req, res)`, `(request, reply)`, `(ctx, next)`: other functions do not use these names. */
function looksLikeHandler(fn: Node): boolean {
  const names = listAt(fn, 'params').map((each) => nameOf(each) ?? '');
  const [first = '', second = ''] = names;
  return (
    (/^_?(req|request)$/.test(first) && /^_?(res|response|reply)$/.test(second)) ||
    (/^(ctx|context)$/.test(first) && second === 'next')
  );
}

/** Returns the names of the decorators of a class or a member; for `@nest.Get()`, the last one. */
export function decoratorsOf(node: Node): string[] {
  return listAt(node, 'decorators').flatMap((each) => {
    const expression = at(each, 'expression');
    const name = isCall(expression) ? at(expression, 'callee') : expression;
    return nameOf(name?.type === 'MemberExpression' ? at(name, 'property') : name) ?? [];
  });
}
