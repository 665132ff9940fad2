// State that the engine keeps on messages of any class.

/** On a request: its response finished before its stream was used, so the stream is at its end. */
export const kReleased: unique symbol = Symbol('released');
/** On a request: the context of its events, which its observer has given it. */
export const kContext: unique symbol = Symbol('context');
/** On a request with a context: the observer. */
export const kObserver: unique symbol = Symbol('observer');

// The following are on responses.

/** The response's connection. */
export const kConnection: unique symbol = Symbol('connection');
/** The number of the request on that connection, from 0. */
export const kSequence: unique symbol = Symbol('sequence');
/** True: bytes go straight to the engine. False: Node's own methods write to the connection's socket. */
export const kDirect: unique symbol = Symbol('direct');
/** The class is Node's, or the server's option: the methods that Node's server calls on its responses are called on it. */
export const kIsNodes: unique symbol = Symbol('isNodes');
/**
 * Bytes written since the last tick. Node holds them corked until the next one, and counts them against the high-water mark.
 */
export const kTickBytes: unique symbol = Symbol('tickBytes');
/** Callbacks of `write`, kept until the kernel has the bytes. */
export const kWriteCallbacks: unique symbol = Symbol('writeCallbacks');
/** The head has no byte above 127. Node writes a head in the encoding of the data after it. */
export const kIsAscii: unique symbol = Symbol('isAscii');
/** The value of Express's `response.locals`. */
export const kLocals: unique symbol = Symbol('locals');
/** Length of this tick's chunks that are sent as one, on Node versions that join them. */
export const kJoinedLength: unique symbol = Symbol('joinedLength');
/** Writes of this tick, three fields each: bytes, encoding, flags. As in Node, they are sent at the end of the tick. */
export const kBuffered: unique symbol = Symbol('buffered');
