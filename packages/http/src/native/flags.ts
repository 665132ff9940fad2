// Of a request.

/** It has no body. */
export const BODY_NONE = 1;
/** All of its body came with it. */
export const BODY_COMPLETE = 2;
/** Its body comes in chunks. */
export const BODY_CHUNKED = 4;
/** The client would keep the connection. */
export const KEEP_ALIVE = 8;
/** HTTP/1.0. */
export const HTTP_10 = 16;
/** `Expect: 100-continue`. */
export const EXPECT_CONTINUE = 32;
/** Another `Expect`. */
export const EXPECT_OTHER = 64;
/** `Connection: upgrade` with an `Upgrade` header. */
export const UPGRADE = 128;
/** The method is CONNECT. */
export const CONNECT = 256;
/** HTTP/1.1 without a `Host` header. */
export const HOST_MISSING = 512;

// Of a write.

/** The bytes are one chunk. */
export const CHUNK = 1;
/** The answer ends with it; with CHUNK the last chunk is added. */
export const END = 2;
/** With END: the connection closes once everything is sent. */
export const CLOSE = 4;
/** The bytes are trailer lines. */
export const TRAILERS = 8;
/** Outside of the order of answers. */
export const RAW = 16;
