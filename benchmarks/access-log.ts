import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { generator } from './draws.ts';

/**
 * Writes a shop's log, generated with a fixed seed, in nginx's combined format with `$request_time`. A third of its requests
 * are for pages with unique names.
 */
export async function writeAccessLog(
  file: string,
  size: number,
): Promise<{ lines: number; paths: number }> {
  const stream = createWriteStream(file, { highWaterMark: 1 << 22 });
  const random = generator(7);
  const pick = <Value>(all: readonly Value[]): Value => all[Math.floor(random() * all.length)]!;
  const words = ['fast', 'blue', 'small', 'old', 'new', 'summer', 'leather', 'garden', 'steel'];
  const nouns = ['chair', 'lamp', 'bottle', 'table', 'shirt', 'knife', 'wheel', 'basket'];
  const agents = [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148',
    'curl/8.14.1',
  ];
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const named = (): string => {
    let tail = '';
    for (let index = 0; index < 6; index++) tail += letters[Math.floor(random() * 26)]!;
    return `/products/${pick(words)}-${pick(nouns)}-${tail}`;
  };
  const targets: (() => string)[] = [
    named,
    named,
    () => `/orders/${Math.floor(random() * 1e6)}`,
    () => `/search?q=${pick(words)}+${pick(nouns)}&page=${Math.floor(random() * 20)}`,
    () => `/static/${pick(nouns)}.js`,
    () => '/',
  ];
  const slowest = [40, 40, 120, 300, 2, 15];
  const paths = new Set<string>();
  let lines = 0;
  let written = 0;
  while (written < size) {
    let chunk = '';
    for (let index = 0; index < 2_000; index++) {
      const kind = Math.floor(random() * targets.length);
      const target = targets[kind]!();
      const query = target.indexOf('?');
      paths.add(query < 0 ? target : target.slice(0, query));
      const seconds = Math.floor(lines++ / 60);
      const clock = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
        .map((each) => String(each).padStart(2, '0'))
        .join(':');
      const took = ((random() * slowest[kind]!) / 1_000).toFixed(3);
      const address = `${Math.floor(random() * 200) + 1}.${Math.floor(random() * 20)}.3.4`;
      const status = random() < 0.002 ? 500 : 200;
      chunk += `${address} - - [10/Oct/2026:${clock} +0000] "GET ${target} HTTP/1.1" ${status} ${Math.floor(random() * 9e4)} "https://shop.example/" "${pick(agents)}" ${took}\n`;
    }
    written += chunk.length;
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
  return { lines, paths: paths.size };
}
