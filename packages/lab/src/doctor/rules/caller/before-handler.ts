import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import {
  argumentsOf,
  at,
  bare,
  isCall,
  listAt,
  methodOf,
  type Node,
  propertyOf,
  stringOf,
} from '../../syntax/node.ts';
import { firstOf, isNamed, lastName, placed } from './names.ts';
import { basesOf, type Route } from './nest-routes.ts';

/** Packages that treat all callers alike. */
const callerIndependent =
  /^(@redline\/|(helmet|cors|compression|morgan|pino-http|nestjs-pino|body-parser|cookie-parser|serve-static|serve-favicon|response-time|express-rate-limit|express-slow-down|method-override|connect-timeout|hpp|express\.(json|urlencoded|text|raw|static)|@fastify\/(helmet|cors|compress|cookie|static|multipart|formbody|rate-limit|swagger|swagger-ui|accepts|etag|sensible|under-pressure|caching|view))(\.|\(|$))/;
/** Words in code that depends on the caller. */
const aboutCaller =
  /auth|cookie|session|\buser|token|api-?key|jwt|tenant|account|member|credential|identity|\b40[13]\b|forbidden|getStore|\.run\(|\.enterWith\(/i;
/** Methods with which an interceptor accesses the request. */
const requestOf = /switchTo(Http|Rpc|Ws)|getRequest|getArgs|getArgByIndex|GqlExecutionContext/;
/** Interceptors that do not access the request. */
const withoutRequest =
  /^@nestjs\/(common\.(ClassSerializerInterceptor|CacheInterceptor)|cache-manager\.CacheInterceptor)/;
/** Objects on which middleware for all routes is registered. */
const apps =
  /^(@nestjs\/core\.NestFactory\.create|@redline\/nest\.RedlineFactory\.create|@nestjs\/\S+\.(INest|NestExpress|NestFastify)Application|express(\.\w+)?|fastify(\.\w+)?)\(\)$/;
/** Fastify hooks that run before the handler. */
const hooksBeforeHandler = new Set(['onRequest', 'preParsing', 'preValidation', 'preHandler']);

/** Finds a middleware, a hook or a plugin of the whole app that may depend on the caller. */
export function middlewareOf(app: App): string | undefined {
  return firstOf(app.sources, (file) =>
    firstOf(file.all('CallExpression'), (call) => {
      const method = methodOf(call);
      if (method === undefined) return undefined;
      const handlers = handlersGiven(app, { file, node: call }, method);
      const dependent = handlers.find((node) => dependsOnCaller(app, { file, node }));
      return dependent && placed(file.textOf(call).split('\n', 1)[0]!, file, call);
    }),
  );
}

/** Returns the handlers that a call registers in front of the routes. */
function handlersGiven(
  app: App,
  { file, node: call }: Code,
  { name, object }: { name: string; object: Node },
): readonly Node[] {
  const given = argumentsOf(call).filter((each) => stringOf(bare(each)) === undefined);
  if (name === 'addHook')
    return hooksBeforeHandler.has(stringOf(argumentsOf(call)[0]) ?? '') ? given : [];
  // Functions have an `apply` too.
  if (name === 'apply') return /consumer/i.test(lastName(object)) ? given : [];
  const isApp = apps.test(app.modules.originOf({ file, node: object }) ?? '');
  if (!isApp) return [];
  return name === 'use' ? given : name === 'register' ? given.slice(0, 1) : [];
}

function dependsOnCaller(app: App, { file, node }: Code): boolean {
  const value = bare(node)!;
  const callee = isCall(value) ? at(value, 'callee')! : value;
  const origin = app.modules.originOf({ file, node: callee });
  if (origin !== undefined) return !callerIndependent.test(origin);
  const code = { file, node: callee };
  const own = app.modules.functionOf(code) ?? app.modules.classOf(code);
  return own === undefined || aboutCaller.test(own.file.textOf(own.node));
}

/**
 * Finds an interceptor next to the cache that may depend on the caller: JsonCache runs before all interceptors, and stores their
 * result.
 */
export function interceptorOf(app: App, { controller, handler }: Route): string | undefined {
  return firstOf([handler, ...basesOf(app, controller)], ({ file, node }) =>
    firstOf(listAt(node, 'decorators'), (decorator) => {
      const expression = at(decorator, 'expression')!;
      if (!isCall(expression)) return undefined;
      const callee = { file, node: at(expression, 'callee')! };
      if (!isNamed(app, callee, '@nestjs/common.UseInterceptors')) return undefined;
      const reading = argumentsOf(expression).find((each) =>
        readsRequest(app, { file, node: each }),
      );
      return reading && placed(file.textOf(reading), file, reading);
    }),
  );
}

/** Finds such an interceptor for the whole app. */
export function globalInterceptor(app: App): string | undefined {
  return firstOf(app.sources, (file) => {
    for (const call of file.all('CallExpression')) {
      if (methodOf(call)?.name !== 'useGlobalInterceptors') continue;
      const reading = argumentsOf(call).find((each) => readsRequest(app, { file, node: each }));
      if (reading !== undefined) return placed(file.textOf(reading), file, reading);
    }
    for (const object of file.all('ObjectExpression')) {
      const token = propertyOf(object, 'provide');
      if (
        token === undefined ||
        !isNamed(app, { file, node: token }, '@nestjs/core.APP_INTERCEPTOR')
      )
        continue;
      const given = propertyOf(object, 'useClass');
      if (given === undefined || readsRequest(app, { file, node: given }))
        return placed('APP_INTERCEPTOR', file, object);
    }
    return undefined;
  });
}

function readsRequest(app: App, { file, node }: Code): boolean {
  const value = bare(node)!;
  const code = { file, node: isCall(value) ? at(value, 'callee')! : value };
  const origin = app.modules.originOf(code);
  if (origin !== undefined)
    return !withoutRequest.test(origin) && !/^(nestjs-pino|@redline\/)/.test(origin);
  const own = app.modules.classOf(code);
  if (own === undefined) return true;
  return basesOf(app, own).some((each) => {
    if (requestOf.test(each.file.textOf(each.node))) return true;
    const parent = at(each.node, 'superClass');
    const from = parent && app.modules.originOf({ file: each.file, node: parent });
    return from !== undefined && !withoutRequest.test(from);
  });
}
