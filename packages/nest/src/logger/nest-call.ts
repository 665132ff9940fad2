import { inspect } from 'node:util';

/** A parsed call to a method of Nest's `LoggerService`. */
export interface NestCall {
  /** One line each. */
  readonly messages: unknown[];
  /** The origin of the call. */
  readonly context: string | undefined;
  /** Plain objects given after the message. */
  readonly fields: Record<string, unknown> | undefined;
  /** The stack given to `error()` or `fatal()`. */
  readonly stack: string | undefined;
}

/**
 * Reads arguments as Nest's `ConsoleLogger` does: a string at the end is the context, plain
 * objects after the message are fields, anything else is another message.
 */
export function readNestCall(args: readonly unknown[]): NestCall {
  const last = args.length > 1 ? args.at(-1) : undefined;
  const context = typeof last === 'string' ? last : undefined;
  const rest = context === undefined ? args : args.slice(0, -1);
  const messages: unknown[] = [];
  const given: Record<string, unknown>[] = [];
  for (const [index, value] of rest.entries()) {
    if (index > 0 && isPlainObject(value)) given.push(value);
    else messages.push(value);
  }
  const fields = given.length === 0 ? undefined : Object.assign({}, ...given);
  return { messages, context, fields, stack: undefined };
}

/** Same as `readNestCall`, for `error()` and `fatal()`, which take a stack before the context. */
export function readNestErrorCall(args: readonly unknown[]): NestCall {
  const last = args.at(-1);
  if (args.length === 2 && last === undefined) return readNestCall(args.slice(0, 1));
  if (args.length > 1 && isStack(last)) {
    return { ...readNestCall(args.slice(0, -1)), stack: last };
  }
  const call = readNestCall(args);
  const stack = call.messages.at(-1);
  const isTaken = call.context !== undefined && call.messages.length > 1;
  if (!isTaken || (typeof stack !== 'string' && stack !== undefined)) return call;
  return { ...call, messages: call.messages.slice(0, -1), stack };
}

/** Returns a message as text; undefined for fields and errors, which have no text of their own. */
export function textOf(message: unknown): string | undefined {
  if (typeof message === 'string') return message;
  if (message instanceof Error || isPlainObject(message)) return undefined;
  return inspect(message, { breakLength: Infinity });
}

/** Resolves a message: functions are lazy messages in Nest; a class stands for its name. */
export function resolveMessage(message: unknown): unknown {
  if (typeof message !== 'function') return message;
  const isClass = Function.prototype.toString.call(message).startsWith('class ');
  return isClass ? message.name : resolveMessage(message());
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isStack(value: unknown): value is string {
  return typeof value === 'string' && /\n[ \t]+at .+:\d+:\d+/.test(value);
}
