import { watchHttpCalls } from './drivers/http.ts';
import { wrapMongodb } from './drivers/mongodb.ts';
import { wrapMysql } from './drivers/mysql.ts';
import { wrapPg } from './drivers/pg.ts';
import { wrapIoredis, wrapNodeRedis } from './drivers/redis.ts';
import { wrapSqlite } from './drivers/sqlite.ts';
import { CallRecorder, callsGlobal } from './recorder.ts';

/** Puts the wrappers where patched drivers expect them. */
export function installRecorder(): CallRecorder {
  const recorder = new CallRecorder();
  const wrappers = {
    pg: wrapPg(recorder),
    mysql: wrapMysql(recorder),
    sqlite: wrapSqlite(recorder),
    mongodb: wrapMongodb(recorder),
    ioredis: wrapIoredis(recorder),
    nodeRedis: wrapNodeRedis(recorder),
  };
  Object.defineProperty(globalThis, callsGlobal, { value: wrappers, configurable: true });
  watchHttpCalls(recorder);
  return recorder;
}
