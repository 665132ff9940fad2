// cspell:ignore lsid
import { mongoShape } from '../patterns.ts';
import type { CallRecorder } from '../recorder.ts';
import { callRecorded, type Wrappable, wrapMethod } from './driver.ts';

/** Wraps `command` of the connections of mongodb, which Mongoose uses too. */
export function wrapMongodb(recorder: CallRecorder): (owner: Wrappable | undefined) => void {
  return (owner) =>
    wrapMethod(
      owner?.prototype,
      'command',
      (command) =>
        function (this: unknown, ...args) {
          if (!recorder.isOn) return command.apply(this, args);
          return recorder.record(
            () => ({
              system: 'MongoDB',
              text: mongoShape(args[1] as object),
              values: withoutSession(args[1] as object),
            }),
            (open) =>
              open === undefined
                ? command.apply(this, args)
                : callRecorded(command, this, args, open),
          );
        },
    );
}

/** Leaves out what differs each time, or belongs to the connection. */
function withoutSession(command: object): object {
  const { lsid: _lsid, $clusterTime: _time, ...rest } = command as Record<string, unknown>;
  return rest;
}
