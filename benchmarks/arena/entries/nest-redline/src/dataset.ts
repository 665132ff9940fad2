import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';

export interface Item {
  readonly price: number;
  readonly quantity: number;
}

export interface PricedItem extends Item {
  readonly total: number;
}

@Injectable()
export class Dataset {
  readonly #items = JSON.parse(
    readFileSync(process.env['DATASET'] ?? '/data/dataset.json', 'utf8'),
  ) as Item[];

  first(count: number, multiplier: number): PricedItem[] {
    return this.#items
      .slice(0, count)
      .map((item) => ({ ...item, total: item.price * item.quantity * multiplier }));
  }
}
