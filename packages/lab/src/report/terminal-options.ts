export interface TerminalOptions {
  /** @default 80 */
  width?: number;
  colour: boolean;
  unicode: boolean;
  /** Named in the last lines. */
  files?: { html?: string; json?: string };
}
