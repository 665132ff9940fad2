import { request, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { until } from '@redline/services/until';

export { chooseEncoding } from '../src/encoding/accept-encoding.ts';

/** A response as it was sent. */
export interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly coding: string | undefined;
  /** Decoded. */
  readonly text: string;
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };

export function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, headers, method, host: '127.0.0.1', agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const bytes = Buffer.concat(pieces);
        const coding = response.headers['content-encoding'];
        const decode = bytes.length > 0 && decoders[coding as keyof typeof decoders];
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes,
          coding,
          text: (decode ? decode(bytes) : bytes).toString(),
        });
      });
    });
    sent.end();
  });
}

/** Asks until the response has the coding. */
export async function askFor(
  coding: string,
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<Sent> {
  let sent: Sent | undefined;
  await until(`for ${coding}`, async () => {
    sent = await ask(port, path, { 'accept-encoding': coding, ...headers });
    return sent.coding === coding;
  });
  return sent!;
}
