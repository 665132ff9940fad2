import type { BenchResult } from '@redline/lab';
import {
  measured,
  measuredOn,
  micros,
  noise,
  ratioText,
  rawData,
  shareOf,
  table,
} from './format.ts';

const places = { hook: "`at: 'hook'`", engine: "`at: 'engine'`" };

/** The cost that Nest adds to a hit, compared with the Fastify under it: for docs/guide/json-cache.md. */
export function nestTaxTable(result: BenchResult): string {
  const rows = Object.entries(places).map(([at, title]) => {
    const nest = measured(result, `nest/${at}`);
    const fastify = measured(result, `fastify/${at}`);
    return [title, micros(fastify), micros(nest), ratioText(shareOf(nest?.cpuRatio))];
  });
  const head = ['CPU of a hit', 'Fastify', 'Nest on it', 'Nest, as a share of Fastify'];
  return `${table(head, rows)}

The same response and headers, without log lines, ${result.load.connections} connections; less is better. A difference within the noise does not count.
\`npm run bench -- nest-tax\`. ${measuredOn(result)}; ${noise(result)}. ${rawData('nest-tax')}`;
}
