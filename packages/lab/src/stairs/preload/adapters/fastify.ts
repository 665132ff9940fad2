import { subscribe } from 'node:diagnostics_channel';
import type { StairsState } from '../state.ts';

type Hook = (this: unknown, ...args: unknown[]) => unknown;

interface Fastify {
  addHook: (this: unknown, name: string, hook: Hook) => unknown;
  [symbol: symbol]: unknown;
}

type RouteOptions = Record<string, unknown>;

/** The hooks a request passes before its response, in order. */
const hooks = [
  'onRequest',
  'preParsing',
  'preValidation',
  'preHandler',
  'preSerialization',
  'onSend',
] as const;

/** Watches new instances of Fastify; hooks and routes are added after the initialisation event. */
export function watchFastify(state: StairsState): void {
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: Fastify };
    const { addHook } = fastify;
    // Plugin instances inherit this method.
    fastify.addHook = function (name, hook) {
      const isStage = (hooks as readonly string[]).includes(name) && typeof hook === 'function';
      return addHook.call(this, name, isStage ? makeHook(state, name, hook) : hook);
    };
    addHook.call(fastify, 'onRoute', (options) => wrapRoute(state, options as RouteOptions));
    wrapSend(state, fastify);
  });
}

function wrapRoute(state: StairsState, options: RouteOptions): void {
  for (const name of hooks) {
    const given = options[name];
    if (typeof given === 'function') options[name] = makeHook(state, name, given as Hook);
    else if (Array.isArray(given)) {
      options[name] = given.map((hook: Hook) => makeHook(state, name, hook));
    }
  }
  const { handler, method, url } = options;
  if (typeof handler !== 'function') return;
  const name = handler.name === '' ? `${String(method)} ${String(url)}` : handler.name;
  options['handler'] = state.stage('handler', name, handler as Hook, 'return');
}

function makeHook(state: StairsState, name: string, hook: Hook): Hook {
  return state.stage('hook', hook.name === '' ? name : `${name} ${hook.name}`, hook, 'return');
}

/** Wraps `reply.send`, where a value becomes text: the serialiser is not a hook, unlike everything before it. */
function wrapSend(state: StairsState, fastify: Fastify): void {
  const symbol = Object.getOwnPropertySymbols(fastify).find(
    ({ description }) => description === 'fastify.Reply',
  );
  const reply = symbol && (fastify[symbol] as { prototype?: object } | undefined);
  let owner: object | null = reply?.prototype ?? null;
  while (owner !== null && !Object.hasOwn(owner, 'send')) owner = Object.getPrototypeOf(owner);
  if (owner === null || wrapped.has(owner)) return;
  wrapped.add(owner);
  const prototype = owner as { send: Hook };
  prototype.send = state.stage('response', 'reply.send', prototype.send, 'return');
}

/** All instances of one Fastify share the prototype. */
const wrapped = new WeakSet<object>();
