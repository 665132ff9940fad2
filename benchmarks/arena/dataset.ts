import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An item of the board's /data/dataset.json, which has fifty. */
export interface Item {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly price: number;
  readonly quantity: number;
  readonly active: boolean;
  readonly tags: readonly string[];
  readonly rating: { readonly score: number; readonly count: number };
}

const categories = ['desks', 'chairs', 'lamps', 'shelves'];
const tags = ['walnut', 'oiled', 'folding', 'new', 'outlet', 'heavy'];

/** Fifty items in the shape of the board's, with other contents. */
export const items: readonly Item[] = Array.from({ length: 50 }, (_, i) => ({
  id: i + 1,
  name: `Article ${i + 1}`,
  category: categories[i % categories.length]!,
  price: 17 + ((i * 131) % 480),
  quantity: 1 + ((i * 37) % 99),
  active: i % 3 !== 0,
  tags: tags.slice(i % 3, 2 + (i % 5)),
  rating: { score: (i * 7) % 50, count: (i * 53) % 400 },
}));

/** Writes the items to the place where entries read them; returns the file. */
export function writeDataset(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'dataset.json');
  writeFileSync(file, JSON.stringify(items, null, 2));
  return file;
}
