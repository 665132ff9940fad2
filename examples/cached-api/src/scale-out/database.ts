import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';

export interface Product {
  readonly id: string;
  readonly name: string;
  /** The number of renames. */
  readonly revision: number;
}

/** Stands for the database that all replicas share: products, 20 ms away. */
@Injectable()
export class Database {
  handlerRuns = 0;
  readonly #client = new Redis(process.env.DATABASE_URL!);

  async find(id: string): Promise<Product> {
    this.handlerRuns += 1;
    const product = await this.#client.hmget(id, 'name', 'revision');
    await sleep(20);
    return { id, name: product[0] ?? `Product ${id}`, revision: Number(product[1] ?? 0) };
  }

  async rename(id: string, name: string): Promise<Product> {
    const revision = await this.#client.hincrby(id, 'revision', 1);
    await this.#client.hset(id, 'name', name);
    return { id, name, revision };
  }
}
