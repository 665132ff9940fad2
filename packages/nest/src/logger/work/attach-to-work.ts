import type { ModulesContainer } from '@nestjs/core';

import type { LoggerCore } from '../logger-core.ts';
import { carryInGrpc, carryInKafka, carryInNats, carryInPackets } from './clients.ts';
import { carryInJobs, watchJobs } from './jobs.ts';
import { watchHandlers, watchPackets } from './messages.ts';
import { registerCore, unregisterCore } from './run-work.ts';

type Prototype = { readonly prototype: never };

/** Attaches the logger to messages, sockets, timers and queues of one app. */
export class WorkAttachment {
  readonly #container: object;
  readonly #modules: ModulesContainer;

  private constructor(container: object, modules: ModulesContainer) {
    this.#container = container;
    this.#modules = modules;
  }

  /** Attaches before Nest creates the handlers of messages, and before other packages look for their methods. */
  static async attach(
    core: LoggerCore,
    { container, modules }: { container: object; modules: ModulesContainer },
  ): Promise<WorkAttachment> {
    registerCore(container, core);
    for (const { providers, controllers } of modules.values()) {
      for (const { metatype } of [...providers.values(), ...controllers.values()])
        if (typeof metatype === 'function') watchJobs(metatype as never);
    }
    await Promise.all([attachToMessages(), attachToSockets()]);
    return new WorkAttachment(container, modules);
  }

  /** Called once all providers are created. */
  start(): void {
    for (const { providers } of this.#modules.values()) {
      for (const { instance } of providers.values())
        if (typeof instance === 'object' && instance !== null) carryInJobs(instance as object);
    }
  }

  detach(): void {
    unregisterCore(this.#container);
  }
}

async function attachToMessages(): Promise<void> {
  const [all, creator, listeners] = await Promise.all([
    optional('@nestjs/microservices'),
    optional('@nestjs/microservices/context/rpc-context-creator.js'),
    optional('@nestjs/microservices/listeners-controller.js'),
  ]);
  const Creator = creator?.['RpcContextCreator'] as Prototype | undefined;
  const Listeners = listeners?.['ListenersController'] as
    | { prototype: { registerPatternHandlers: (...args: unknown[]) => unknown } }
    | undefined;
  if (all === undefined || Creator === undefined || Listeners === undefined) return;
  watchHandlers(Creator.prototype, 'rpc');
  watchServers(Listeners.prototype);
  for (const name of ['ClientTCP', 'ClientRedis', 'ClientRMQ', 'ClientMqtt']) {
    const Client = all[name] as Prototype | undefined;
    if (Client !== undefined) carryInPackets(Client.prototype);
  }
  const { ClientKafka, ClientNats, ClientGrpcProxy } = all as Record<string, Prototype | undefined>;
  if (ClientKafka !== undefined) carryInKafka(ClientKafka.prototype);
  if (ClientNats !== undefined) carryInNats(ClientNats.prototype);
  if (ClientGrpcProxy !== undefined) carryInGrpc(ClientGrpcProxy.prototype, await ownRequire());
}

const watched = new WeakSet<object>();

function watchServers(prototype: {
  registerPatternHandlers: (...args: unknown[]) => unknown;
}): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  const { registerPatternHandlers } = prototype;
  prototype.registerPatternHandlers = function (this: unknown, ...args) {
    // The second argument is the server of a transport.
    watchPackets(args[1] as object);
    return Reflect.apply(registerPatternHandlers, this, args);
  };
}

async function attachToSockets(): Promise<void> {
  const creator = await optional('@nestjs/websockets/context/ws-context-creator.js');
  const Creator = creator?.['WsContextCreator'] as Prototype | undefined;
  if (Creator !== undefined) watchHandlers(Creator.prototype, 'ws');
}

async function ownRequire(): Promise<(name: string) => unknown> {
  try {
    return (await import('./own-require.ts')).ownRequire;
  } catch {
    // Jest compiles to CommonJS, which has `require` instead of import.meta.
    return require;
  }
}

/* Loads a package that the app may not have, or may have in another layout. */
async function optional(name: string): Promise<Record<string, unknown> | undefined> {
  try {
    const found = (await import(name)) as Record<string, unknown>;
    // With CommonJS, as in Nest 11, the names may be only in the default export.
    return { ...(found['default'] as object | undefined), ...found };
  } catch {
    return undefined;
  }
}
