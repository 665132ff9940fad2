import { fileURLToPath } from 'node:url';
import { parse } from '../../doctor/syntax/parse.ts';
import type { Node } from '../../doctor/syntax/node.ts';
import type { Inspector } from '../../profile/inspector.ts';
import { ownerOfUrl } from '../../profile/owner.ts';
import {
  type FileMap,
  originalIn,
  parseSourceMap,
  type Position,
} from '../../profile/source-maps.ts';

/** A script as V8 runs it; loaders compile in memory, so it may differ from its file. */
export class ScriptSource {
  readonly url: string;
  readonly text: string;
  readonly #lineStarts: number[] = [0];
  readonly #map: FileMap | undefined;
  #tree: Node | undefined | null = null;

  constructor(url: string, text: string) {
    this.url = url;
    this.text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.#lineStarts.push(at + 1);
    }
    this.#map = parseSourceMap(text, url.startsWith('file://') ? fileURLToPath(url) : url);
  }

  get tree(): Node | undefined {
    if (this.#tree === null) this.#tree = parse(this.url, this.text);
    return this.#tree;
  }

  offsetOf({ line, column }: { line: number; column: number }): number {
    return (this.#lineStarts[line - 1] ?? this.text.length) + column - 1;
  }

  /** Returns the original place, through a source map. */
  positionAt(offset: number): Position {
    let low = 0;
    for (let high = this.#lineStarts.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle;
    }
    const position = { url: this.url, line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
    return this.#map === undefined ? position : originalIn(this.#map, position);
  }

  lineAt(offset: number): string {
    const from = this.text.lastIndexOf('\n', offset - 1) + 1;
    const to = this.text.indexOf('\n', offset);
    return this.text.slice(from, to < 0 ? undefined : to).trim();
  }
}

/** Fetches the scripts of the app from the process, each once. */
export class ScriptSources {
  readonly #inspector: Inspector;
  readonly #urls: ReadonlyMap<number, string>;
  readonly #known = new Map<number, Promise<ScriptSource | undefined>>();

  private constructor(inspector: Inspector, urls: ReadonlyMap<number, string>) {
    this.#inspector = inspector;
    this.#urls = urls;
  }

  /** Until `close`, breakpoints and `debugger` statements do not pause the process. */
  static async open(inspector: Inspector): Promise<ScriptSources> {
    const urls = new Map<number, string>();
    inspector.on<{ scriptId: string; url: string }>('Debugger.scriptParsed', ({ scriptId, url }) =>
      urls.set(Number(scriptId), url),
    );
    await inspector.ask('Debugger.enable');
    await inspector.ask('Debugger.setSkipAllPauses', { skip: true });
    return new ScriptSources(inspector, urls);
  }

  async close(): Promise<void> {
    await this.#inspector.ask('Debugger.disable');
  }

  urlOf(scriptId: number): string {
    return this.#urls.get(scriptId) ?? '';
  }

  isOfApp(scriptId: number): boolean {
    const url = this.urlOf(scriptId);
    // An evaluated expression has no URL.
    return url !== '' && ownerOfUrl(url) === 'app';
  }

  /** Returns undefined if V8 has discarded the script. */
  get(scriptId: number): Promise<ScriptSource | undefined> {
    let source = this.#known.get(scriptId);
    if (source === undefined) {
      source = this.#ask(scriptId);
      this.#known.set(scriptId, source);
    }
    return source;
  }

  async #ask(scriptId: number): Promise<ScriptSource | undefined> {
    try {
      const { scriptSource } = await this.#inspector.ask<{ scriptSource: string }>(
        'Debugger.getScriptSource',
        { scriptId: String(scriptId) },
      );
      return new ScriptSource(this.urlOf(scriptId), scriptSource);
    } catch {
      return undefined;
    }
  }
}
