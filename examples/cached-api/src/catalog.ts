import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** Stands for the database: one product, 20 ms away. */
@Injectable()
export class Catalog {
  async findProduct(): Promise<Product> {
    await sleep(20);
    return product;
  }
}

export interface Product {
  id: number;
  sku: string;
  name: string;
  description: string;
  price: { amount: number; currency: string };
  tags: string[];
  stock: { warehouse: string; available: number }[];
  rating: { average: number; count: number };
  delivery: string;
  updatedAt: string;
}

const product: Product = {
  id: 48_213,
  sku: 'RL-GRND-0042',
  name: 'Hand coffee grinder, steel burrs',
  description:
    'Conical 38 mm burrs, 30 g hopper, 36 steps from espresso to French press. The axle runs in two bearings, so the grind stays even at every setting.',
  price: { amount: 8_990, currency: 'EUR' },
  tags: ['coffee', 'grinder', 'manual', 'travel', 'steel'],
  stock: [
    { warehouse: 'Gdańsk', available: 112 },
    { warehouse: 'Rotterdam', available: 38 },
    { warehouse: 'Wien', available: 7 },
  ],
  rating: { average: 4.7, count: 1_836 },
  delivery: 'ships within 24 hours, free above 40 EUR',
  updatedAt: '2026-10-02T08:15:00.000Z',
};
