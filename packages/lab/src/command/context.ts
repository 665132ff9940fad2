export interface CommandContext {
  version: string;
  signal: AbortSignal;
}
