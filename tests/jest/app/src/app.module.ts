import { Controller, Get, Injectable, Module } from '@nestjs/common';
import {
  AfterResponse,
  DeferModule,
  InjectLogger,
  JsonCache,
  JsonCacheModule,
  LoggerModule,
  PinoLogger,
} from '@redline/nest';

@Injectable()
export class Audit {
  readonly seen: string[] = [];

  @AfterResponse()
  async record(what: string): Promise<void> {
    this.seen.push(what);
  }
}

@Controller()
export class AppController {
  #runs = 0;

  constructor(
    @InjectLogger('App') private readonly logger: PinoLogger,
    private readonly audit: Audit,
  ) {}

  @Get('cached')
  @JsonCache({ ttl: 60_000 })
  cached(): object {
    this.logger.info('made');
    void this.audit.record('cached');
    this.#runs += 1;
    return { runs: this.#runs };
  }
}

@Module({
  imports: [LoggerModule.forRoot(), JsonCacheModule.forRoot(), DeferModule.forRoot()],
  controllers: [AppController],
  providers: [Audit],
})
export class AppModule {}
