import { withoutRejection } from '../callback-fault.ts';
import { type CustomLines, DEFAULT_KEYS, type LineKeys, type LineShape } from './line-shape.ts';
import { customised } from './customise.ts';
import { optionError, refuseUnknown } from '../errors.ts';
import { fullFields, slimFields } from './line-fields.ts';
import type { RequestLog } from '../request-log.ts';

/** Builds the fields of one response line. */
export type LineFields<Request, Reply> = (request: Request, reply: Reply) => object;

/** The fields of lines, and their names. */
export interface ShapeOptions<Request, Reply> {
  /**
   * `"slim"`: `reqId, method, url, statusCode, responseTime`, in this order; `responseTime` in
   * milliseconds. `"full"`: also the route, the peer, the sizes and the headers. A function: its result.
   * @default "slim"
   */
  fields?: 'slim' | 'full' | LineFields<Request, Reply>;
  /**
   * Names of the fields `req`, `res`, `err`, `reqId` and `responseTime`, as in pino-http.
   * @default each its own name
   */
  customAttributeKeys?: Partial<Omit<LineKeys, 'context'>>;
  /**
   * The name of the field `context`, as in nestjs-pino.
   * @default "context"
   */
  renameContext?: string;
  /** Fields for every line of the request, the response line included. */
  customProps?: object | ((request: Request, reply: Reply) => object);
}

export function resolveShape<Request, Reply>(
  { fields = 'slim', customProps, ...named }: ShapeOptions<Request, Reply>,
  custom: CustomLines,
): LineShape {
  const keys = resolveKeys(named);
  const kind = typeof customProps;
  if (customProps !== undefined && kind !== 'function' && (kind !== 'object' || !customProps)) {
    throw optionError('customProps', customProps, 'an object or a function that returns one');
  }
  const props =
    customProps &&
    ((log: RequestLog): object =>
      typeof customProps === 'function'
        ? withoutRejection(customProps(log.request as Request, log.reply as Reply))
        : customProps);
  return {
    keys,
    fields: withProps(resolveFields(fields, keys), keys, props),
    bindings: (log) => ({ [keys.reqId]: log.id, ...props?.(log) }),
    assigned: true,
    ...customised(custom, keys),
  };
}

function resolveFields<Request, Reply>(
  fields: 'slim' | 'full' | LineFields<Request, Reply>,
  keys: LineKeys,
): LineShape['fields'] {
  if (fields === 'slim') return fields;
  if (fields === 'full') return fullFields(keys);
  if (typeof fields !== 'function') {
    throw optionError('fields', fields, '"slim", "full" or a function of request and reply');
  }
  return ({ request, reply }) => ({
    ...withoutRejection(fields(request as Request, reply as Reply)),
  });
}

function withProps(
  fields: LineShape['fields'],
  keys: LineKeys,
  props: ((log: RequestLog) => object) | undefined,
): LineShape['fields'] {
  if (props === undefined) return fields;
  const pick = fields === 'slim' ? slimFields(keys) : fields;
  return (log) => ({ ...pick(log), ...props(log) });
}

const attributes: Readonly<Record<keyof Omit<LineKeys, 'context'>, true>> = {
  req: true,
  res: true,
  err: true,
  reqId: true,
  responseTime: true,
};

export function resolveKeys({
  customAttributeKeys = {},
  renameContext = 'context',
}: Pick<ShapeOptions<never, never>, 'customAttributeKeys' | 'renameContext'>): LineKeys {
  if (typeof customAttributeKeys !== 'object' || customAttributeKeys === null) {
    throw optionError('customAttributeKeys', customAttributeKeys, 'an object of names');
  }
  refuseUnknown('customAttributeKeys', customAttributeKeys, attributes);
  for (const [key, name] of Object.entries(customAttributeKeys)) {
    if (typeof name !== 'string' || name === '') {
      throw optionError(`customAttributeKeys.${key}`, name, "a field's name");
    }
  }
  if (typeof renameContext !== 'string' || renameContext === '') {
    throw optionError('renameContext', renameContext, "a field's name");
  }
  return { ...DEFAULT_KEYS, ...customAttributeKeys, context: renameContext };
}
