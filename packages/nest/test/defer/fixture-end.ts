// An app with calls at level memory, each of which takes a moment, to be ended while requests come.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Inject, Injectable, Param } from '@nestjs/common';
import { AfterResponse } from '@redline/nest';
import { startApp, type Framework } from './harness.ts';

const [framework, directory, done, takes] = process.argv.slice(2) as [
  Framework,
  string,
  string,
  string,
];

@Injectable()
class Audit {
  @AfterResponse()
  async note(id: string): Promise<void> {
    await sleep(Number(takes));
    appendFileSync(done, `${id}\n`);
  }
}

const ends: Readonly<Record<string, () => void>> = {
  'process.exit()': () => process.exit(),
  'an uncaught error': () =>
    void setImmediate(() => {
      throw new Error('as it is meant to');
    }),
  SIGTERM: () => process.kill(process.pid, 'SIGTERM'),
};

@Controller()
class Calls {
  readonly #audit: Audit;

  constructor(@Inject(Audit) audit: Audit) {
    this.#audit = audit;
  }

  @Get('note/:id')
  note(@Param('id') id: string): object {
    void this.#audit.note(id);
    return {};
  }

  @Get('end/:how')
  end(@Param('how') how: string): object {
    ends[how]!();
    return {};
  }
}

const options = { journal: { directory }, handleSignals: true };
const { url } = await startApp(framework, [Calls], options, [Audit]);
process.send!(url);
process.on('disconnect', () => process.exit());
