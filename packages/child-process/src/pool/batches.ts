import type { Kind, Message, Value } from './messages.ts';

/** `advanced` copies bytes unchanged; `json` is the only format that Node and Bun share. */
export type Serialization = 'advanced' | 'json';

export function encodeBatch(batch: Message[], serialization: Serialization): unknown[] {
  if (serialization === 'advanced') return batch;
  return batch.map(([kind, id, value]) =>
    value instanceof Uint8Array
      ? [kind, id, Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64'), 1]
      : [kind, id, value],
  );
}

export function decodeBatch(
  batch: unknown,
  onMessage: (kind: Kind, id: number, value: Value) => void,
): void {
  for (const [kind, id, value, isBase64] of batch as [...Required<Message>, isBase64?: 1][]) {
    onMessage(kind, id, isBase64 ? Buffer.from(value as string, 'base64') : value);
  }
}
