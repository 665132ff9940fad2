import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** From `CHROMIUM`, or the first on PATH. */
export function findChromium(): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [process.env['CHROMIUM'] ?? '', ...onPath].find(isExecutable);
}

export const executablePath: string | undefined = findChromium();

/** What a test passes as `skip`: a sentence where there is no browser. */
export const skip: string | false =
  executablePath === undefined
    ? 'Chromium is not installed: set CHROMIUM to its path to test the pages in it.'
    : false;

export function launch(): Promise<Browser> {
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: QUIET,
  });
}

function isExecutable(file: string): boolean {
  if (file === '') return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
