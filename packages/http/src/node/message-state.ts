// What the engine keeps on messages, whichever class they are of.

/** A request: its response is finished and nobody had looked at its stream: it is at its end. */
export const kOver: unique symbol = Symbol('over');

// The rest is on responses.

/** The connection it answers on. */
export const kConnection: unique symbol = Symbol('connection');
/** The number of its request on that connection, from 0. */
export const kSequence: unique symbol = Symbol('sequence');
/** Its bytes go to the engine at once. False: by Node's own methods, over the connection's socket. */
export const kDirect: unique symbol = Symbol('direct');
/** Its class is Node's, or the server's option: what Node's server calls on its responses is called on it. */
export const kIsNodes: unique symbol = Symbol('isNodes');
/** Bytes written since the last tick. Node holds them corked until then, and counts them against the high-water mark. */
export const kTickBytes: unique symbol = Symbol('tickBytes');
/** Callbacks of `write`, until the kernel has the bytes. */
export const kWriteCallbacks: unique symbol = Symbol('writeCallbacks');
/** Its head has no byte above 127. Node writes a head in the encoding of what follows it. */
export const kIsAscii: unique symbol = Symbol('isAscii');
/** What Express keeps in `response.locals`. */
export const kLocals: unique symbol = Symbol('locals');
/** The length of the chunks of this tick that leave as one, where Node joins them. */
export const kJoinedLength: unique symbol = Symbol('joinedLength');
/** Writes of this tick, three fields each: bytes, encoding, flags. As with Node they leave when the tick is over. */
export const kHeld: unique symbol = Symbol('held');
