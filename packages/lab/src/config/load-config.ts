import { existsSync, statSync } from 'node:fs';
import nodeModule from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LabError } from '../errors.ts';
import { checkConfig } from './schema.ts';
import type { RedlineConfig } from './types.ts';

const defaultNames = ['ts', 'mts', 'js', 'mjs'].map((ending) => `redline.config.${ending}`);

export interface LoadedConfig {
  config: RedlineConfig;
  /** Relative commands and folders of the config are resolved from here. */
  folder: string;
}

/**
 * @param file A config file, or a folder that holds a `redline.config.*`; the current folder when left out.
 * @throws {LabError} ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_CONFIG
 */
export async function loadConfig(file?: string): Promise<LoadedConfig> {
  const path = locate(file);
  let module: { default?: unknown };
  try {
    module = await importWithLab(pathToFileURL(path).href);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const hint =
      (cause as { code?: string }).code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? ' (TypeScript configs need Node 22.18 or newer)'
        : '';
    throw fileError(`${path} could not be loaded${hint}: ${reason}`, cause);
  }
  if (module.default === undefined) {
    throw fileError(
      `${path} has no default export; end it with "export default defineConfig({ … })".`,
    );
  }
  return { config: checkConfig(module.default, basename(path)), folder: dirname(path) };
}

/**
 * Imports a config, which imports `defineConfig` from this package. Under npx the package is in npx's cache, and no folder above
 * the config leads there: the config then gets the running copy. A copy installed beside it takes precedence.
 */
async function importWithLab(url: string): Promise<{ default?: unknown }> {
  // Missing before Node 22.15; there the package has to be installed.
  const hooks = nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      if (specifier !== '@redline/lab') return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return { url: import.meta.resolve('../index.js'), shortCircuit: true };
      }
    },
  });
  try {
    return await import(url);
  } finally {
    hooks?.deregister();
  }
}

function locate(file: string | undefined): string {
  const asked = resolve(file ?? '.');
  const stats = statSync(asked, { throwIfNoEntry: false });
  if (stats === undefined) throw fileError(`No config at ${asked}.`);
  if (!stats.isDirectory()) return asked;
  const found = defaultNames.map((name) => resolve(asked, name)).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw fileError(
    `No redline.config.ts in ${asked}. Give the path of a config, or write one:\n\n${smallestConfig}`,
  );
}

const smallestConfig = `  // redline.config.mjs
  export default {
    name: 'my-api',
    requests: ['/'],
    variants: [{ name: 'now', command: 'node server.js' }], // it listens on PORT
  };`;

function fileError(message: string, cause?: unknown): LabError {
  return new LabError('ERR_REDLINE_CONFIG_FILE', message, { cause });
}
