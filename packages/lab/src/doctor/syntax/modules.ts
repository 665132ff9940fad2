import {
  argumentsOf,
  at,
  bare,
  enclosingClass,
  isCall,
  isClass,
  isFunction,
  listAt,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
  withinFunction,
  returnedBy,
} from './node.ts';
import { type Code, Files, importOf, packageOf } from './files.ts';
import type { Binding } from './scopes.ts';
import type { SourceFile } from './source-file.ts';

/** Max length of a chain of names, in case of a cycle. */
const maxSteps = 12;
/**
 * Max number of lookups per query. A function that returns itself in six places has 6¹² paths, and none of them shows where its
 * value comes from.
 */
const maxLookups = 3_000;
/** Globals, by the module that also exports them. */
const globals: ReadonlyMap<string, string> = new Map([
  ['console', 'console'],
  ['fetch', 'undici.fetch'],
]);

/** Resolves the names of an app across its files, as far as the code alone allows. */
export class Modules {
  readonly #files: Files;
  /** Empty for a node without an origin. */
  readonly #origins = new WeakMap<Node, string>();
  #lookupsLeft = 0;

  constructor(files: ReadonlyMap<string, SourceFile>) {
    this.#files = new Files(files);
  }

  /**
   * Returns the origin of a value as a chain from a package: `fs.readFileSync`, `express()` for a return value, `bullmq.Queue()`
   * for an instance. Undefined if the code does not show it.
   */
  originOf(code: Code, steps: number = maxSteps): string | undefined {
    // Cached: twenty rules ask for the origin of every call.
    if (steps < maxSteps) return this.#findOrigin(code, steps);
    const known = this.#origins.get(code.node);
    if (known !== undefined) return known === '' ? undefined : known;
    const found = this.#findOrigin(code, steps);
    this.#origins.set(code.node, found ?? '');
    return found;
  }

  /** True while a lookup may continue; an outside call, with all steps left, starts a new budget. */
  #mayLook(steps: number): boolean {
    if (steps === maxSteps) this.#lookupsLeft = maxLookups;
    return steps > 0 && --this.#lookupsLeft > 0;
  }

  #findOrigin({ file, node }: Code, steps: number): string | undefined {
    const value = bare(node);
    if (value === undefined || !this.#mayLook(steps)) return undefined;
    const next = (of: Node | undefined): string | undefined =>
      of === undefined ? undefined : this.originOf({ file, node: of }, steps - 1);
    switch (value.type) {
      case 'Identifier':
      case 'TSTypeReference': {
        if (value.type === 'TSTypeReference') return next(at(value, 'typeName'));
        const binding = file.scopes.find(nameOf(value)!, value);
        if (binding === undefined) return globals.get(nameOf(value)!);
        return this.#originOfBinding({ file, binding }, steps - 1);
      }
      case 'TSQualifiedName': {
        const left = next(at(value, 'left'));
        return left === undefined ? undefined : `${left}.${nameOf(at(value, 'right'))}`;
      }
      case 'MemberExpression':
        return this.#originOfMember({ file, node: value }, steps - 1);
      case 'CallExpression':
      case 'NewExpression':
        return this.#originOfCall({ file, node: value }, steps - 1);
      case 'ImportExpression':
        return packageOf(stringOf(at(value, 'source')));
      case 'AwaitExpression':
        return next(at(value, 'argument'));
      case 'ConditionalExpression':
        return next(at(value, 'consequent')) ?? next(at(value, 'alternate'));
      case 'LogicalExpression':
        return next(at(value, 'right')) ?? next(at(value, 'left'));
      case 'AssignmentExpression':
        return next(at(value, 'right'));
      default:
        return undefined;
    }
  }

  /** Returns the app's function that a callee refers to. */
  functionOf({ file, node }: Code, steps: number = maxSteps): Code | undefined {
    const value = bare(node);
    if (value === undefined || !this.#mayLook(steps)) return undefined;
    if (isFunction(value)) return { file, node: value };
    if (isCall(value)) {
      // `handler.bind(this)` counts as the handler.
      const callee = bare(at(value, 'callee'));
      const isBound =
        callee?.type === 'MemberExpression' && nameOf(at(callee, 'property')) === 'bind';
      return isBound
        ? this.functionOf({ file, node: at(callee, 'object')! }, steps - 1)
        : undefined;
    }
    const declared = this.#declarationOf({ file, node: value }, steps - 1);
    if (declared === undefined) return undefined;
    if (isFunction(declared.node)) return declared;
    return declared.node === value ? undefined : this.functionOf(declared, steps - 1);
  }

  /** Returns the expression assigned to a name or a path of names: an object, a call. */
  valueOf({ file, node }: Code, steps: number = maxSteps): Code | undefined {
    const value = bare(node);
    if (value === undefined || !this.#mayLook(steps)) return undefined;
    if (value.type !== 'Identifier' && value.type !== 'MemberExpression')
      return { file, node: value };
    const declared = this.#declarationOf({ file, node: value }, steps - 1);
    return declared && declared.node !== value ? this.valueOf(declared, steps - 1) : undefined;
  }

  /** Returns the app's class that an expression or a type names. */
  classOf({ file, node }: Code, steps: number = maxSteps): Code | undefined {
    const value = bare(node);
    if (value === undefined || !this.#mayLook(steps)) return undefined;
    if (isClass(value)) return { file, node: value };
    const named = value.type === 'TSTypeReference' ? at(value, 'typeName') : value;
    if (named?.type !== 'Identifier') return undefined;
    const declared = this.#declarationOf({ file, node: named }, steps - 1);
    return declared && isClass(declared.node) ? declared : undefined;
  }

  /** Returns the class of a value: `new Catalog()`, `this.catalog`, a parameter with a type. */
  instanceOf({ file, node }: Code, steps: number = maxSteps): Code | undefined {
    const value = bare(node);
    if (value === undefined || !this.#mayLook(steps)) return undefined;
    if (value.type === 'ThisExpression') {
      const around = enclosingClass(value);
      return around && { file, node: around };
    }
    if (value.type === 'NewExpression')
      return this.classOf({ file, node: at(value, 'callee')! }, steps - 1);
    if (value.type === 'Identifier') {
      const binding = file.scopes.find(nameOf(value)!, value);
      if (binding === undefined) return undefined;
      const type = typeOf(binding.identifier);
      if (type !== undefined) return this.classOf({ file, node: type }, steps - 1);
      const declared = this.#declarationOf({ file, node: value }, steps - 1);
      return declared && declared.node !== value ? this.instanceOf(declared, steps - 1) : undefined;
    }
    if (value.type !== 'MemberExpression') return undefined;
    const field = this.#fieldOf({ file, node: value }, steps - 1);
    if (field === undefined) return undefined;
    const { type, value: given } = field;
    return (
      (type && this.classOf({ file: field.file, node: type }, steps - 1)) ??
      (given && this.instanceOf({ file: field.file, node: given }, steps - 1))
    );
  }

  #originOfBinding(
    { file, binding }: { file: SourceFile; binding: Binding },
    steps: number,
  ): string | undefined {
    if (binding.kind === 'import') {
      const { specifier, name } = importOf(binding);
      const own = packageOf(specifier);
      if (own !== undefined) return joined(own, name);
      const other = this.#files.fileOf(file, specifier);
      const exported =
        other && name !== undefined ? this.#files.exportOf(other, name, steps) : undefined;
      return exported && this.originOf(exported, steps);
    }
    const type = typeOf(binding.identifier);
    if (type !== undefined) {
      const origin = this.originOf({ file, node: type }, steps);
      if (origin !== undefined) return `${origin}()`;
    }
    if (binding.kind !== 'variable') return undefined;
    const init = at(binding.node, 'init');
    if (init === undefined) return this.#originOfAssigned({ file, binding }, steps);
    const from = this.originOf({ file, node: init }, steps);
    const path = pathIn(at(binding.node, 'id'), binding.identifier);
    if (from !== undefined) return path?.reduce((chain, name) => joined(chain, name)!, from);
    const [only, ...others] = path ?? [];
    const other = this.#files.requiredFile({ file, node: init });
    if (other === undefined || only === undefined || others.length > 0) return undefined;
    const exported = this.#files.exportOf(other, only, steps);
    return exported && this.originOf(exported, steps);
  }

  /** Handles `let client; client = new Redis()`. */
  #originOfAssigned(
    { file, binding }: { file: SourceFile; binding: Binding },
    steps: number,
  ): string | undefined {
    for (const each of file.all('AssignmentExpression')) {
      const left = at(each, 'left');
      if (left?.type !== 'Identifier' || nameOf(left) !== binding.name) continue;
      if (file.scopes.find(binding.name, left) !== binding) continue;
      const origin = this.originOf({ file, node: at(each, 'right')! }, steps);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  #originOfMember({ file, node }: Code, steps: number): string | undefined {
    const object = bare(at(node, 'object'))!;
    const name = nameOf(at(node, 'property'));
    if (node['computed'] === true || name === undefined) return undefined;
    const origin = this.originOf({ file, node: object }, steps);
    if (origin !== undefined) return joined(origin, name);
    const field = this.#fieldOf({ file, node }, steps);
    if (field !== undefined) {
      const { type, value } = field;
      const ofType = type && this.originOf({ file: field.file, node: type }, steps);
      if (ofType !== undefined) return `${ofType}()`;
      return value && this.originOf({ file: field.file, node: value }, steps);
    }
    const declared = this.#declarationOf({ file, node }, steps);
    return declared && declared.node !== node ? this.originOf(declared, steps) : undefined;
  }

  #originOfCall({ file, node }: Code, steps: number): string | undefined {
    const callee = at(node, 'callee')!;
    if (callee.type === 'Identifier' && nameOf(callee) === 'require') {
      const [given] = argumentsOf(node);
      return file.scopes.find('require', callee) === undefined
        ? packageOf(stringOf(given))
        : undefined;
    }
    const origin = this.originOf({ file, node: callee }, steps);
    if (origin === 'util.promisify') {
      const [given] = argumentsOf(node);
      return given && this.originOf({ file, node: given }, steps);
    }
    if (origin !== undefined) return `${origin}()`;
    const own = this.functionOf({ file, node: callee }, steps);
    if (own === undefined) return undefined;
    for (const returned of returnedBy(own.node)) {
      const found = this.originOf({ file: own.file, node: returned }, steps);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns the type or the value of a property on an instance of an app's class. */
  #fieldOf(
    { file, node }: Code,
    steps: number,
  ): { file: SourceFile; type: Node | undefined; value: Node | undefined } | undefined {
    const object = bare(at(node, 'object'));
    const name = nameOf(at(node, 'property'));
    const owner = object && this.instanceOf({ file, node: object }, steps);
    if (owner === undefined || name === undefined) return undefined;
    const members = listAt(at(owner.node, 'body'), 'body');
    for (const member of members) {
      if (member.type === 'PropertyDefinition' && nameOf(at(member, 'key')) === name) {
        return { file: owner.file, type: typeOf(member), value: at(member, 'value') };
      }
    }
    const constructor = at(
      members.find((each) => each['kind'] === 'constructor'),
      'value',
    );
    for (const each of listAt(constructor, 'params')) {
      const parameter = each.type === 'TSParameterProperty' ? at(each, 'parameter') : undefined;
      const identifier =
        parameter?.type === 'AssignmentPattern' ? at(parameter, 'left') : parameter;
      if (nameOf(identifier) === name) {
        return { file: owner.file, type: typeOf(identifier), value: at(parameter, 'right') };
      }
    }
    for (const each of constructor === undefined ? [] : withinFunction(at(constructor, 'body')!)) {
      const left = each.type === 'AssignmentExpression' ? at(each, 'left') : undefined;
      if (left?.type !== 'MemberExpression' || at(left, 'object')?.type !== 'ThisExpression')
        continue;
      if (nameOf(at(left, 'property')) === name) {
        return { file: owner.file, type: undefined, value: at(each, 'right') };
      }
    }
    return undefined;
  }

  /** Returns the declaration of a name or a path of names: a function, a class, or the value of a variable. */
  #declarationOf({ file, node }: Code, steps: number): Code | undefined {
    if (steps === 0) return undefined;
    if (node.type === 'Identifier') {
      const binding = file.scopes.find(nameOf(node)!, node);
      if (binding === undefined) return undefined;
      if (binding.kind === 'function' || binding.kind === 'class')
        return { file, node: binding.node };
      if (binding.kind === 'import') {
        const { specifier, name } = importOf(binding);
        const other = this.#files.fileOf(file, specifier);
        const found =
          other && name !== undefined ? this.#files.exportOf(other, name, steps) : undefined;
        return found?.node.type === 'Identifier' ? this.#declarationOf(found, steps - 1) : found;
      }
      const init = bare(at(binding.node, 'init'));
      if (binding.kind !== 'variable' || init === undefined) return undefined;
      const path = pathIn(at(binding.node, 'id'), binding.identifier);
      const other = this.#files.requiredFile({ file, node: init });
      if (other !== undefined) {
        const found = this.#files.exportOf(other, path?.[0] ?? 'default', steps);
        return found?.node.type === 'Identifier' ? this.#declarationOf(found, steps - 1) : found;
      }
      return path?.length === 0 ? { file, node: init } : undefined;
    }
    if (node.type !== 'MemberExpression' || node['computed'] === true) return undefined;
    return this.#memberOf({ file, node }, steps - 1);
  }

  #memberOf({ file, node }: Code, steps: number): Code | undefined {
    const object = bare(at(node, 'object'))!;
    const name = nameOf(at(node, 'property'))!;
    const owner =
      this.instanceOf({ file, node: object }, steps) ?? this.classOf({ file, node: object }, steps);
    if (owner !== undefined) return this.#methodOfClass(owner, name, steps);
    return (
      this.#exportOfModule({ file, node: object }, name, steps) ??
      this.#propertyOfValue({ file, node: object }, name, steps)
    );
  }

  /** Finds the class's own method, or the inherited one. */
  #methodOfClass({ file, node }: Code, name: string, steps: number): Code | undefined {
    if (steps === 0) return undefined;
    const method = listAt(at(node, 'body'), 'body').find(
      (each) => nameOf(at(each, 'key')) === name,
    );
    const value = at(method, 'value');
    if (value !== undefined) return { file, node: value };
    const parent = at(node, 'superClass');
    const base = parent && this.classOf({ file, node: parent }, steps - 1);
    return base && this.#methodOfClass(base, name, steps - 1);
  }

  /** Resolves `db.list` where `db` is a whole module of the app. */
  #exportOfModule({ file, node }: Code, name: string, steps: number): Code | undefined {
    const binding = node.type === 'Identifier' ? file.scopes.find(nameOf(node)!, node) : undefined;
    if (binding === undefined) return undefined;
    const other =
      binding.kind === 'import'
        ? this.#files.fileOf(file, importOf(binding).specifier)
        : this.#files.requiredFile({ file, node: at(binding.node, 'init') ?? binding.node });
    // A CommonJS module is its own default export; a named import is not the module.
    const isNamed = binding.node.type === 'ImportSpecifier';
    const found = other && !isNamed ? this.#files.exportOf(other, name, steps) : undefined;
    return found?.node.type === 'Identifier' ? this.#declarationOf(found, steps - 1) : found;
  }

  /** Resolves `mailer.send` where `mailer` is an object literal. */
  #propertyOfValue(object: Code, name: string, steps: number): Code | undefined {
    const owner = this.valueOf(object, steps - 1);
    const value = owner && propertyOf(owner.node, name);
    return value && { file: owner.file, node: value };
  }
}

function joined(chain: string, name: string | undefined): string {
  return name === undefined || name === 'default' ? chain : `${chain}.${name}`;
}

/** Returns the property names that lead to a destructured part of a value; undefined for array patterns. */
function pathIn(pattern: Node | undefined, identifier: Node): string[] | undefined {
  if (pattern === identifier) return [];
  if (pattern?.type === 'AssignmentPattern') return pathIn(at(pattern, 'left'), identifier);
  if (pattern?.type !== 'ObjectPattern') return undefined;
  for (const each of listAt(pattern, 'properties')) {
    const rest = each.type === 'Property' ? pathIn(at(each, 'value'), identifier) : undefined;
    const name = nameOf(at(each, 'key'));
    if (rest !== undefined && name !== undefined) return [name, ...rest];
  }
  return undefined;
}

/** Returns the type annotation of a name or a property. */
function typeOf(node: Node | undefined): Node | undefined {
  return at(at(node, 'typeAnnotation'), 'typeAnnotation');
}
