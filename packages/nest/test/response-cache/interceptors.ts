import * as common from '@nestjs/common';
import {
  BadGatewayException,
  ClassSerializerInterceptor,
  HttpException,
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type ModuleMetadata,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { catchError, concatMap, map, tap, throwError, timeout, type Observable } from 'rxjs';

type Change = (next: Observable<unknown>, context: ExecutionContext) => Observable<unknown>;

function interceptor(change: Change): Type<NestInterceptor> {
  @Injectable()
  class Changing implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return change(next.handle(), context);
    }
  }
  return Changing;
}

interface AnyResponse {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

/** What a handler of the tests returns. */
export class User {
  readonly id = 7;
  readonly name = 'naïve café 日本 😀';
  readonly password = 'hunter2';
  readonly createdAt: Date = new Date(1_767_225_600_000);
}

const { StandardSchemaSerializerInterceptor: Standard } = common as {
  StandardSchemaSerializerInterceptor?: Type<NestInterceptor>;
};

/** A schema that takes Dates alone, as an answer out of JSON has none. */
const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate({ id, createdAt }: User) {
      if (!(createdAt instanceof Date)) return { issues: [{ message: 'createdAt is not a Date' }] };
      return { value: { id, year: createdAt.getUTCFullYear() } };
    },
  },
} as const;

export interface Kind {
  readonly type: Type<NestInterceptor>;
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  /** What the handler of a route needs, and the path that is asked. */
  readonly decorate?: MethodDecorator;
  readonly query?: string;
}

/** The interceptors people have, each with what it needs. */
export async function interceptorsOfTheEcosystem(): Promise<Record<string, Kind>> {
  const kinds: Record<string, Kind> = {
    'an envelope': { type: interceptor((next) => next.pipe(map((data) => ({ data })))) },
    'one that drops the password, in the value itself': {
      type: interceptor((next) =>
        next.pipe(
          tap((user) => {
            delete (user as { password?: string }).password;
          }),
        ),
      ),
    },
    'one that needs a Date': {
      type: interceptor((next) =>
        next.pipe(map((user) => ({ at: (user as User).createdAt.getTime() }))),
      ),
    },
    'a log': { type: interceptor((next) => next.pipe(tap(() => {}))) },
    'a timeout': { type: interceptor((next) => next.pipe(timeout(30_000))) },
    'one that makes a stream': {
      type: interceptor((next) =>
        next.pipe(map((user) => new StreamableFile(Buffer.from(JSON.stringify(user))))),
      ),
    },
    'one that makes text': { type: interceptor((next) => next.pipe(map(() => 'id,name\n7,x'))) },
    'one that maps errors': {
      type: interceptor((next) =>
        next.pipe(
          catchError((error: Error) =>
            throwError(() =>
              error instanceof HttpException ? error : new BadGatewayException(error.message),
            ),
          ),
        ),
      ),
      query: '?fail=1',
    },
    'one that sets headers and the status': {
      type: interceptor((next, context) =>
        next.pipe(
          tap(() => {
            const response = context.switchToHttp().getResponse<AnyResponse>();
            response.status(203);
            response.header('x-total-count', '12');
            response.header('link', '</users?page=2>; rel="next"');
            response.header('content-type', 'application/hal+json; charset=utf-8');
          }),
        ),
      ),
    },
    'one that works later': {
      type: interceptor((next) =>
        next.pipe(
          concatMap(async (user) => ({ ...(user as User), later: await Promise.resolve(1) })),
        ),
      ),
    },
  };
  const [transformer, cache, nestZod, zod] = await Promise.all(
    ['class-transformer', '@nestjs/cache-manager', 'nestjs-zod', 'zod'].map((name) =>
      import(name).catch(() => undefined),
    ),
  );
  if (transformer !== undefined) {
    transformer.Exclude()(User.prototype, 'password');
    kinds['the class serializer of Nest'] = { type: ClassSerializerInterceptor };
  }
  if (cache !== undefined) {
    kinds['the interceptor of @nestjs/cache-manager'] = {
      type: cache.CacheInterceptor,
      imports: [cache.CacheModule.register()],
    };
  }
  if (Standard !== undefined) {
    kinds['the schema serializer of Nest'] = {
      type: Standard,
      decorate: common.SerializeOptions({ schema } as never),
    };
  }
  if (nestZod !== undefined && zod !== undefined) {
    const { z } = zod;
    class UserDto extends nestZod.createZodDto(z.object({ id: z.number(), createdAt: z.date() })) {}
    kinds['the serializer of nestjs-zod'] = {
      type: nestZod.ZodSerializerInterceptor,
      decorate: nestZod.ZodSerializerDto(UserDto),
    };
  } else {
    kinds['a stand-in for the serializer of nestjs-zod'] = {
      type: interceptor((next) =>
        next.pipe(
          map((value) => {
            const result = schema['~standard'].validate(value as User);
            if (result.issues !== undefined) throw new common.InternalServerErrorException();
            return result.value;
          }),
        ),
      ),
    };
  }
  return kinds;
}
