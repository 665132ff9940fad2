import net from 'node:net';
import { Duplex, Stream } from 'node:stream';
import { isNodes } from './node-sources.ts';
import { original, type Methods } from './replaced-methods.ts';

// Methods that Node calls on a connection's socket, while the engine has no socket, or one that calls other methods. If one
// of them is replaced, before or while a server listens, new connections are served by Node.

const socket = net.Socket.prototype as never as Methods;
// Methods of the prototypes below, called by net.Socket and stream.Readable.
const duplex = Duplex.prototype as never as Methods;
const stream = Stream.prototype as never as Methods;

const socketOn = original(socket, 'on');
const socketAddListener = original(socket, 'addListener');
const socketOnce = original(socket, 'once');
const socketPrependListener = original(socket, 'prependListener');
const socketOff = original(socket, 'off');
const socketRemoveListener = original(socket, 'removeListener');
const socketRemoveAllListeners = original(socket, 'removeAllListeners');
const socketEmit = original(socket, 'emit');
const socketListenerCount = original(socket, 'listenerCount');
const socketPause = original(socket, 'pause');
const socketResume = original(socket, 'resume');
const socketIsPaused = original(socket, 'isPaused');
const socketRead = original(socket, 'read');
const socketPush = original(socket, 'push');
const ownSocketRead = original(socket, '_read');
const socketWrite = original(socket, 'write');
const ownSocketWrite = original(socket, '_write');
const socketWritev = original(socket, '_writev');
const socketWriteGeneric = original(socket, '_writeGeneric');
const socketEnd = original(socket, 'end');
const socketCork = original(socket, 'cork');
const socketUncork = original(socket, 'uncork');
const socketDestroy = original(socket, 'destroy');
const ownSocketDestroy = original(socket, '_destroy');
const socketDestroySoon = original(socket, 'destroySoon');
const socketFinal = original(socket, '_final');
const socketSetTimeout = original(socket, 'setTimeout');
const socketOnTimeout = original(socket, '_onTimeout');
const socketUnrefTimer = original(socket, '_unrefTimer');
const duplexRead = original(duplex, 'read');
const duplexPause = original(duplex, 'pause');
const duplexResume = original(duplex, 'resume');
const duplexEnd = original(duplex, 'end');
const streamOn = original(stream, 'on');
const streamRemoveListener = original(stream, 'removeListener');
const streamRemoveAllListeners = original(stream, 'removeAllListeners');

/** Returns the first replaced method. */
export function replacedOfSockets(): string | undefined {
  // Compiled to nothing: 37 look-ups would cost a microsecond for each connection.
  return isAnyReplaced() ? firstReplaced() : undefined;
}

function isAnyReplaced(): boolean {
  return (
    socket['on'] !== socketOn ||
    socket['addListener'] !== socketAddListener ||
    socket['once'] !== socketOnce ||
    socket['prependListener'] !== socketPrependListener ||
    socket['off'] !== socketOff ||
    socket['removeListener'] !== socketRemoveListener ||
    socket['removeAllListeners'] !== socketRemoveAllListeners ||
    socket['emit'] !== socketEmit ||
    socket['listenerCount'] !== socketListenerCount ||
    socket['pause'] !== socketPause ||
    socket['resume'] !== socketResume ||
    socket['isPaused'] !== socketIsPaused ||
    socket['read'] !== socketRead ||
    socket['push'] !== socketPush ||
    socket['_read'] !== ownSocketRead ||
    socket['write'] !== socketWrite ||
    socket['_write'] !== ownSocketWrite ||
    socket['_writev'] !== socketWritev ||
    socket['_writeGeneric'] !== socketWriteGeneric ||
    socket['end'] !== socketEnd ||
    socket['cork'] !== socketCork ||
    socket['uncork'] !== socketUncork ||
    socket['destroy'] !== socketDestroy ||
    socket['_destroy'] !== ownSocketDestroy ||
    socket['destroySoon'] !== socketDestroySoon ||
    socket['_final'] !== socketFinal ||
    socket['setTimeout'] !== socketSetTimeout ||
    socket['_onTimeout'] !== socketOnTimeout ||
    socket['_unrefTimer'] !== socketUnrefTimer ||
    duplex['read'] !== duplexRead ||
    duplex['pause'] !== duplexPause ||
    duplex['resume'] !== duplexResume ||
    duplex['end'] !== duplexEnd ||
    stream['on'] !== streamOn ||
    stream['removeListener'] !== streamRemoveListener ||
    stream['removeAllListeners'] !== streamRemoveAllListeners
  );
}

const OWNERS = [
  [
    'net.Socket',
    socket,
    [
      'on',
      'addListener',
      'once',
      'prependListener',
      'off',
      'removeListener',
      'removeAllListeners',
      'emit',
      'listenerCount',
      'pause',
      'resume',
      'isPaused',
      'read',
      'push',
      '_read',
      'write',
      '_write',
      '_writev',
      '_writeGeneric',
      'end',
      'cork',
      'uncork',
      'destroy',
      '_destroy',
      'destroySoon',
      '_final',
      'setTimeout',
      '_onTimeout',
      '_unrefTimer',
    ],
  ],
  ['stream.Duplex', duplex, ['read', 'pause', 'resume', 'end']],
  ['stream.Stream', stream, ['on', 'removeListener', 'removeAllListeners']],
] as const;

/** Skips replacements by Node's own `domain` module, which replaces `emit` too. */
function firstReplaced(): string | undefined {
  for (const [owner, prototype, names] of OWNERS) {
    const name = names.find((one) => !isNodes(prototype[one]));
    if (name !== undefined) return `${owner}.prototype.${name}`;
  }
  return undefined;
}
