import { setTimeout as delay } from 'node:timers/promises';
import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  Query,
} from '@nestjs/common';
import { Dataset, type PricedItem } from './dataset.js';

@Controller()
export class ArenaController {
  constructor(private readonly dataset: Dataset) {}

  @Get('baseline11')
  @Header('Content-Type', 'text/plain')
  sum(@Query('a', ParseIntPipe) a: number, @Query('b', ParseIntPipe) b: number): string {
    return String(a + b);
  }

  @Post('baseline11')
  @HttpCode(200)
  @Header('Content-Type', 'text/plain')
  sumWithBody(
    @Query('a', ParseIntPipe) a: number,
    @Query('b', ParseIntPipe) b: number,
    @Body(ParseIntPipe) body: number,
  ): string {
    return String(a + b + body);
  }

  @Get('pipeline')
  @Header('Content-Type', 'text/plain')
  pipeline(): string {
    return 'ok';
  }

  @Get('delay/:ms')
  @Header('Content-Type', 'text/plain')
  async delay(@Param('ms', ParseIntPipe) ms: number): Promise<string> {
    await delay(ms);
    return String(ms);
  }

  @Get('json/:count')
  json(
    @Param('count', ParseIntPipe) count: number,
    @Query('m', ParseIntPipe) m: number,
  ): { items: PricedItem[]; count: number } {
    const items = this.dataset.first(count, m);
    return { items, count: items.length };
  }
}
