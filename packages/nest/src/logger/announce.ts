import { withoutRejection } from './callback-fault.ts';
import { attempt, createTitles, messagesOf } from './customise.ts';
import type { LoggerCore } from './logger-core.ts';
import type { RequestLog } from './request-log.ts';

/**
 * Returns a function that writes the line of an arriving request, if the user's options ask for one; if routes are chosen,
 * only Nest's middleware (`chosen`) knows which have one.
 */
export function announceOf(
  { options: { custom, routes, requests, ignore }, pino }: LoggerCore,
  chosen: boolean = false,
): ((log: RequestLog) => void) | undefined {
  const { customReceivedMessage, customReceivedObject, customLogLevel } = custom;
  if (customReceivedMessage === undefined && customReceivedObject === undefined) return undefined;
  const isChoosing = routes.exclude !== undefined || routes.forRoutes !== undefined;
  if (requests === 'off' || isChoosing !== chosen) return undefined;
  const titles = createTitles(custom, pino.levels.values);
  return (log) => {
    const level = customLogLevel === undefined ? 'info' : titles.levelOf(log, false);
    if (ignore !== undefined && attempt(log, () => ignore(log)) === true) return;
    if (level === 'silent' || !log.isLevelEnabled(level)) return;
    const messages = messagesOf(log);
    const fields = withoutRejection(customReceivedObject?.(...messages)) ?? {};
    Reflect.apply(Reflect.get(log.pino, level), log.pino, [
      fields,
      withoutRejection(customReceivedMessage?.(...messages)),
    ]);
  };
}
