import { nodeFs, type JournalFs } from '@redline/defer';

/** Kills this process at its `call`th call to the file system: before it, in the middle of it, or behind it. */
export function crashingFs(call: number, moment: 'before' | 'within' | 'behind'): JournalFs {
  let calls = 0;
  const isDue = (): boolean => ++calls === call;
  const die = (): never => {
    process.kill(process.pid, 'SIGKILL');
    for (;;); // The signal is on its way.
  };
  const wrap =
    <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
    (...args: Args): Result => {
      const isNow = isDue();
      if (isNow && moment !== 'behind') die();
      const result = work(...args);
      if (isNow) die();
      return result;
    };
  return {
    ...nodeFs,
    openSync: wrap(nodeFs.openSync),
    ftruncateSync: wrap(nodeFs.ftruncateSync),
    renameSync: wrap(nodeFs.renameSync),
    unlinkSync: wrap(nodeFs.unlinkSync),
    rmdirSync: wrap(nodeFs.rmdirSync),
    writeSync(fd, bytes, offset, length, position) {
      if (!isDue()) return nodeFs.writeSync(fd, bytes, offset, length, position);
      if (moment === 'within') {
        nodeFs.writeSync(fd, bytes, offset, Math.ceil(length / 2), position);
      }
      if (moment === 'behind') nodeFs.writeSync(fd, bytes, offset, length, position);
      return die();
    },
    fdatasync(fd, callback) {
      if (!isDue()) return nodeFs.fdatasync(fd, callback);
      if (moment === 'before') die();
      // In the middle of it: the thread pool has it, and the process goes.
      nodeFs.fdatasync(fd, () => die());
      if (moment === 'within') setImmediate(die);
    },
  };
}
