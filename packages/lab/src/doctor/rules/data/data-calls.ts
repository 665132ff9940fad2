// cspell:words smembers scard zrange lrange getset getdel getex hmget mget
import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import {
  argumentsOf,
  at,
  bare,
  isCall,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
} from '../../syntax/node.ts';

/** A call that a response waits for: a query, a Redis command, an HTTP request. */
export interface DataCall {
  kind: 'database' | 'redis' | 'http';
  /** True if its name or its SQL shows that it changes nothing. */
  reads: boolean;
  /** True if it uses a single connection, such as a client or a transaction, which runs its calls one after another anyway. */
  isConnection: boolean;
  name: string;
}

const databases: readonly RegExp[] = [
  /^pg\.(Pool|Client)\(\)(\.connect\(\))?\.query$/,
  /^(mysql2?|mysql2\/promise|mariadb)\.create(Pool|Connection)\(\)(\.promise\(\)|\.getConnection\(\))?\.(query|execute)$/,
  /^(@prisma\/client|\.prisma\/client)\.PrismaClient\(\)\.\w+\.(find|count|aggregate|groupBy|create|update|upsert|delete)\w*$/,
  /^mongoose(\.\w+\(\))*\.(model\(\)|Model\(\))\.(find|count|estimated|distinct|aggregate|exists|update|create|delete|insert)\w*$/,
  /^mongodb\.(MongoClient|Db|Collection)(\.connect)?\(\)(\.\w+\(\))*\.(find|count|estimated|distinct|aggregate|update|delete|insert|replace)\w*$/,
  /^knex(\.knex)?\(\)(\(\)|\.(select|from|where|raw|table)$|\.(select|from|where|table)\(\))/,
  /^typeorm\.(Repository|DataSource|EntityManager)\(\)(\.(getRepository|createEntityManager)\(\)|\.manager)*\.(find|count|exist|query|save|insert|update|upsert|delete|remove)\w*$/,
  /^typeorm\.(Repository|DataSource|EntityManager)\(\).*\.createQueryBuilder\(\).*\.(getOne|getMany|getRaw|getCount|execute)\w*$/,
  /^sequelize(\.Sequelize)?\(\)\.define\(\)\.(find|count|create|update|destroy|bulk|sum|max|min)\w*$/,
  /^drizzle-orm\/[\w-]+\.drizzle\(\)\.(select|selectDistinct|insert|update|delete|query)\b/,
];
/** Origin of a Redis client. */
export const redisClient: RegExp =
  /(?:ioredis|iovalkey)(?:\.Redis|\.Cluster)?\(\)|redis\.create(?:Client|Cluster)\(\)(?:\.connect\(\))?/;
const redis = new RegExp(`^(?:${redisClient.source})\\.(\\w+)$`);
/** Methods of the connection, and methods that return at once. */
const ofConnection =
  /^(on|once|off|emit|connect|disconnect|quit|close|destroy|duplicate|multi|pipeline|p?subscribe|unsubscribe|defineCommand|scan\w*|\w+Iterator|removeListener|addListener)$/i;
const requests =
  /^(undici\.(fetch|request)|node-fetch|cross-fetch|axios(\.default)?(\.create\(\))?(\.(get|head|request|post|put|patch|delete))?|got(\.(get|head|post|put|patch|delete|extend\(\)))?|ky(\.(get|post))?)$/;
/** Methods that only ORMs have, often called on a class of the app. */
const ofOrms =
  /^(findUnique(OrThrow)?|findFirst(OrThrow)?|findByPk|findAndCountAll|findOneBy(OrFail)?)$/;
const oneConnection =
  /(\.Client|\.connect|\.getConnection|\.createConnection)\(\)|\btransaction\(\)/;
/** Query builders: the methods of a chain determine the query. */
const builders = /^(knex|drizzle-orm|typeorm\..*createQueryBuilder)/;
const writingParts =
  /\.(insert|update|del|delete|truncate|increment|decrement|upsert|merge|execute)(\(\)|$)/;
const writing =
  /And(Update|Delete|Remove|Replace|Modify)|OrCreate|^get(set|del|ex)$|^(GETSET|GETDEL|GETEX)$/i;
const reading =
  /^(find|get|count|exist|list|select|aggregate|distinct|groupBy|estimated|m?get|hm?get|hGet|sMembers|smembers|scard|sCard|zrange|zRange|lrange|lRange|ttl|head|fetch)/;

/** Checks each call of a chain, such as `User.find().lean()`. Undefined for other calls. */
export function dataCallOf(app: App, { file, node }: Code): DataCall | undefined {
  for (let call = bare(node); isCall(call); call = bare(methodOf(call)?.object)) {
    const found = call.type === 'CallExpression' ? ofCall(app, { file, node: call }) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofCall(app: App, { file, node: call }: Code): DataCall | undefined {
  const callee = at(call, 'callee')!;
  const origin = app.modules.originOf({ file, node: callee });
  const method = methodOf(call);
  const name = method?.name ?? nameOf(callee) ?? '';
  if (origin === undefined) {
    if (method === undefined || !ofOrms.test(method.name) || isOfApp(app, { file, node: callee }))
      return undefined;
    return { kind: 'database', reads: true, isConnection: isTransaction(method.object), name };
  }
  const isConnection =
    oneConnection.test(origin) || (method !== undefined && isTransaction(method.object));
  if (databases.some((pattern) => pattern.test(origin))) {
    return {
      kind: 'database',
      reads: isReading(app, { file, node: call }, origin),
      isConnection,
      name,
    };
  }
  const command = redis.exec(origin)?.[1];
  if (command !== undefined && !ofConnection.test(command))
    return { kind: 'redis', reads: isReadingName(command), isConnection: false, name };
  if (!requests.test(origin)) return undefined;
  return { kind: 'http', reads: isGet(call, name), isConnection: false, name };
}

function isReading(app: App, { file, node: call }: Code, origin: string): boolean {
  if (builders.test(origin)) return !writingParts.test(origin);
  const [first] = argumentsOf(call);
  const given = first && app.modules.valueOf({ file, node: first });
  const sql = sqlOf(given?.node ?? first);
  if (sql !== undefined)
    return /^\s*(select|with)\b/i.test(sql) && !/\bfor\s+(update|share)\b/i.test(sql);
  return isReadingName(methodOf(call)?.name ?? '');
}

function isReadingName(name: string): boolean {
  return reading.test(name) && !writing.test(name);
}

function isOfApp(app: App, callee: Code): boolean {
  return app.modules.functionOf(callee) !== undefined;
}

/** True for `tx.user.findFirst()`: queries of a transaction wait for each other. */
function isTransaction(object: Node): boolean {
  let root: Node | undefined = object;
  while (root?.type === 'MemberExpression') root = bare(at(root, 'object'));
  return /^(tx|trx|transaction|session|client|conn|connection|manager|em)$/i.test(
    nameOf(root) ?? '',
  );
}

/** Returns the text of a query, or its beginning. */
function sqlOf(given: Node | undefined): string | undefined {
  const value = bare(given);
  if (value?.type === 'ObjectExpression') return sqlOf(propertyOf(value, 'text'));
  if (value?.type === 'BinaryExpression') return sqlOf(at(value, 'left'));
  if (value?.type !== 'TemplateLiteral') return stringOf(value);
  const [first] = value['quasis'] as { value: { cooked?: string } }[];
  return first?.value.cooked;
}

/** True for GET or HEAD, as far as the code shows it. */
function isGet(call: Node, name: string): boolean {
  if (/^(post|put|patch|delete)$/.test(name)) return false;
  const options = argumentsOf(call).map((each) => bare(each));
  if (options.some((each) => each?.type === 'Identifier') && options.length > 1) return false;
  const methods = options.flatMap((each) => propertyOf(each, 'method') ?? []);
  return methods.every((each) => /^(get|head)$/i.test(stringOf(each) ?? 'no'));
}
