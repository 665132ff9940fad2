export { findOnPath } from './find-on-path.ts';
export { freePort } from './free-port.ts';
export { obtainRedis, type ObtainedRedis } from './obtain-redis.ts';
export { startRedis, type RedisServer } from './redis-server.ts';
