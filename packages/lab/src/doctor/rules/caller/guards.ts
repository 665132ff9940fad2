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
  within,
} from '../../syntax/node.ts';
import { firstOf, guardWords, isNamed, lastName, placed } from './names.ts';
import { basesOf, type Route, unseenBase } from './nest-routes.ts';

/** Limits request rates, and does not check a caller's rights. */
const throttler = '@nestjs/throttler.ThrottlerGuard';
/** Max depth: decorators of an app are composed of few others. */
const maxSteps = 4;

export function globalGuard(app: App): string | undefined {
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
    return authModuleIn(app, file);
  });
}

/** Finds a package module whose name suggests authentication: it may guard the whole app. Modules of Nest itself do not. */
function authModuleIn(app: App, file: Code['file']): string | undefined {
  for (const property of file.all('Property')) {
    if (lastName(at(property, 'key')!) !== 'imports') continue;
    for (const each of listAt(bare(at(property, 'value')), 'elements')) {
      const name = isCall(each) ? (methodOf(each)?.object ?? each) : each;
      const origin = app.modules.originOf({ file, node: name });
      if (origin === undefined || origin.startsWith('@nestjs/') || !guardWords.test(origin))
        continue;
      return placed(file.textOf(name), file, each);
    }
  }
  return undefined;
}

/** Finds a guard on the handler, on its controller, or on a base class. */
export function guardOf(app: App, { controller, handler }: Route): string | undefined {
  const guard = firstOf([handler, ...basesOf(app, controller)], (each) => guardAmong(app, each));
  if (guard !== undefined) return guard;
  const base = unseenBase(app, controller);
  return base && placed('a class that is not seen', base.file, base.node);
}

function guardAmong(app: App, { file, node }: Code): string | undefined {
  return firstOf(listAt(node, 'decorators'), (decorator) => {
    const expression = at(decorator, 'expression')!;
    return mayGuard(app, { file, node: expression })
      ? placed(file.textOf(decorator).split('\n', 1)[0]!, file, decorator)
      : undefined;
  });
}

/** True for a decorator that contains a guard, or whose content is unknown. */
function mayGuard(app: App, { file, node }: Code): boolean {
  const callee = { file, node: isCall(node) ? at(node, 'callee')! : node };
  const origin = app.modules.originOf(callee);
  const isForeign = origin !== undefined && !/^@(nestjs|redline)\//.test(origin);
  return isForeign || holdsGuard(app, { file, node }, maxSteps);
}

/** True for `UseGuards(…)`, or a decorator of the app that is composed with it. */
function holdsGuard(app: App, { file, node }: Code, steps: number): boolean {
  const callee = isCall(node) ? at(node, 'callee')! : node;
  const code = { file, node: callee };
  if (isNamed(app, code, '@nestjs/common.UseGuards'))
    return !countsOnly(app, file, argumentsOf(node));
  const origin = app.modules.originOf(code);
  if (origin?.startsWith('@nestjs/common.') === true) return false;
  if (guardWords.test(lastName(callee))) return true;
  const own = app.modules.functionOf(code) ?? app.modules.valueOf(code);
  if (own === undefined || own.node === callee || steps === 0) return false;
  return [...within(own.node)].some(
    (each) =>
      (isCall(each) || isList(app, { file: own.file, node: each })) &&
      holdsGuard(app, { file: own.file, node: each }, steps - 1),
  );
}

/** True for the name of a list defined elsewhere, e.g. of decorators. */
function isList(app: App, { file, node }: Code): boolean {
  if (node.type !== 'Identifier' || file.scopes.find(lastName(node), node) === undefined)
    return false;
  return app.modules.valueOf({ file, node })?.node.type === 'ArrayExpression';
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
