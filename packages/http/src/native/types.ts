export type { Fill, ListenOptions, ServerSettings, SocketAddress } from '../../native.cjs';

/** An error in a client's bytes, or a request timeout. */
export interface ClientError {
  /** The code of llhttp, or ERR_HTTP_REQUEST_TIMEOUT. */
  code: string;
  reason: string;
  bytesParsed: number;
  /** The bytes that contain the error; undefined for a timeout and for an early end. */
  rawPacket: Buffer | undefined;
  /** The sequence number of the refused request, if earlier ones have no response yet. */
  place: number | undefined;
}
