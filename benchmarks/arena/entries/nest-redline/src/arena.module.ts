import { Module } from '@nestjs/common';
import { ArenaController } from './arena.controller.js';
import { Dataset } from './dataset.js';

@Module({ controllers: [ArenaController], providers: [Dataset] })
export class ArenaModule {}
