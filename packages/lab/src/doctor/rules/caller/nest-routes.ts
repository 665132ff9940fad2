import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import { at, bare, isClass, listAt, nameOf, type Node, within } from '../../syntax/node.ts';
import { decoratorsOf } from '../../syntax/request-path.ts';

/** A handler, and the controller that declares or inherits it. */
export interface Route {
  controller: Code;
  handler: Code;
}

/** Max number of base classes: chains are short. */
const maxBaseClasses = 8;

/**
 * Returns the routes a decorator applies to: those of a method in every controller that inherits it, those of a controller and of
 * its subclasses, or all of the app.
 */
export function routesAt(app: App, { file, node }: Code): Route[] {
  const all = routesOf(app);
  const owner = node.type === 'Decorator' ? node.parent : undefined;
  if (owner === undefined) return all;
  const own = all.filter(({ controller, handler }) =>
    isClass(owner)
      ? basesOf(app, controller).some((each) => each.node === owner)
      : handler.node === owner,
  );
  if (own.length > 0) return own;
  // The subclasses that inherit it are not visible.
  return isClass(owner)
    ? handlersOf(app, { file, node: owner })
    : [{ controller: { file, node: owner.parent!.parent! }, handler: { file, node: owner } }];
}

/** Returns a class followed by its base classes in the app; the last may extend a class that is not visible. */
export function basesOf(app: App, of: Code): Code[] {
  const found = [of];
  for (let next = baseOf(app, of); next !== undefined; next = baseOf(app, next)) {
    if (found.length > maxBaseClasses) break;
    found.push(next);
  }
  return found;
}

/** Returns the superclass expression if it is not a class of the app. */
export function unseenBase(app: App, of: Code): Code | undefined {
  const last = basesOf(app, of).at(-1)!;
  const parent = at(last.node, 'superClass');
  return parent && { file: last.file, node: parent };
}

/** Returns the classes of the app that extend this one. */
export function subclassesOf(app: App, { node }: Code): Code[] {
  return classesOf(app).filter(
    (each) => each.node !== node && basesOf(app, each).some((base) => base.node === node),
  );
}

function baseOf(app: App, { file, node }: Code): Code | undefined {
  const parent = at(node, 'superClass');
  return parent && app.modules.classOf({ file, node: parent });
}

function classesOf({ sources }: App): Code[] {
  return sources.flatMap((file) =>
    file.all('ClassDeclaration', 'ClassExpression').map((node) => ({ file, node })),
  );
}

function routesOf(app: App): Route[] {
  const listed = listedControllers(app);
  return classesOf(app)
    .filter(({ node }) => listed.has(node) || decoratorsOf(node).includes('Controller'))
    .flatMap((controller) => handlersOf(app, controller));
}

/** Returns the classes that a module lists under `controllers`: an app's own decorator may make them controllers. */
function listedControllers(app: App): Set<Node> {
  const found = new Set<Node>();
  for (const file of app.sources) {
    for (const property of file.all('Property')) {
      if (nameOf(at(property, 'key')) !== 'controllers') continue;
      for (const node of within(bare(at(property, 'value'))!)) {
        const named = node.type === 'Identifier' && app.modules.classOf({ file, node });
        if (named) found.add(named.node);
      }
    }
  }
  return found;
}

/** Returns the class's own methods and the inherited ones. */
function handlersOf(app: App, controller: Code): Route[] {
  const known = new Set<string>();
  return basesOf(app, controller).flatMap(({ file, node: owner }) =>
    listAt(at(owner, 'body'), 'body').flatMap((node) => {
      const name = nameOf(at(node, 'key')) ?? '';
      if (node.type !== 'MethodDefinition' || known.has(name)) return [];
      known.add(name);
      return decoratorsOf(node).length === 0 ? [] : [{ controller, handler: { file, node } }];
    }),
  );
}
