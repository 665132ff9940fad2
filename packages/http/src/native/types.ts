export type { Fill, ListenOptions, ServerSettings, SocketAddress } from '../../native.cjs';

/** Something is wrong with what a client sent, or it took too long. */
export interface ClientError {
  /** As llhttp has it, or ERR_HTTP_REQUEST_TIMEOUT. */
  code: string;
  reason: string;
  bytesParsed: number;
  /** The bytes among which the error lies; undefined for a timeout and for an early end. */
  rawPacket: Buffer | undefined;
  /** The sequence number of the refused request, when earlier ones are not answered yet. */
  place: number | undefined;
}
