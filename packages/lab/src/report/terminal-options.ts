export interface TerminalOptions {
  /** @default 80 */
  width?: number;
  colour: boolean;
  unicode: boolean;
  /** Listed in the last lines. */
  files?: { html?: string; json?: string };
}
