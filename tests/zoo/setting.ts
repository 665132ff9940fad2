// Where an app of the zoo lives: temporary folders of its own for its files, its home and whatever it leaves behind.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '@redline/services';
import type { Place, Ports, ZooApp } from './zoo-app.ts';

const programs = join(import.meta.dirname, 'programs');
/** Files keep the time of their last change: validators are made of it. */
const fileTime = new Date('2024-01-02T03:04:05Z');

export class Setting implements Disposable {
  readonly app: ZooApp;
  readonly ports: Ports;
  readonly place: Place;
  /** Around all others. */
  readonly folder: string;
  /** TMPDIR of the app. */
  readonly temporary: string;
  readonly home: string;

  constructor(app: ZooApp, ports: Ports, modules: string) {
    this.app = app;
    this.ports = ports;
    this.folder = mkdtempSync(join(tmpdir(), 'redline-zoo-'));
    const [site, folder] = [join(this.folder, 'site'), join(this.folder, 'app')];
    this.place = { app: folder, site, modules };
    this.temporary = join(this.folder, 'tmp');
    this.home = join(this.folder, 'home');
    writeSite(site);
    this.renew();
  }

  /** As before the first start. */
  renew(): void {
    const { app: folder, modules } = this.place;
    for (const each of [folder, this.temporary, this.home]) {
      rmSync(each, { recursive: true, force: true });
      mkdirSync(each, { recursive: true });
    }
    if (existsSync(this.#built)) {
      cpSync(this.#built, folder, { recursive: true, verbatimSymlinks: true });
      return;
    }
    writeFileSync(join(folder, 'package.json'), '{"name":"zoo-app","version":"1.0.0"}\n');
    symlinkSync(modules, join(folder, 'node_modules'));
    for (const file of this.app.files ?? []) {
      cpSync(join(programs, file), join(folder, file), { recursive: true });
    }
  }

  /** What a build made is there at each start. */
  keepBuild(): void {
    cpSync(this.place.app, this.#built, { recursive: true, verbatimSymlinks: true });
  }

  get #built(): string {
    return join(this.folder, 'built');
  }

  command(): string[] {
    return [...this.app.start(this.ports, this.place)];
  }

  env(): NodeJS.ProcessEnv {
    return {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: this.home,
      TMPDIR: this.temporary,
      LANG: 'C.UTF-8',
      // Nobody's usage is counted.
      DO_NOT_TRACK: '1',
      NO_UPDATE_NOTIFIER: '1',
      ...this.app.env?.(this.ports, this.place),
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Two free ports, which stay the same for every start: bodies contain them. */
export async function freePorts(): Promise<Ports> {
  return { app: await freePort(), origin: await freePort() };
}

function writeSite(folder: string): void {
  const files: Record<string, string> = {
    'index.html': '<!doctype html><html><head><title>Zoo</title></head><body>Zoo</body></html>\n',
    'large.txt': `${'All the animals of the zoo. '.repeat(4_000)}\n`,
    'data.json': '{"animals":["aardvark","bear"]}\n',
    'style.css': 'body { color: #222 }\n',
    'README.md': '# Zoo\n\nAnimals.\n',
    'sub/index.html': '<!doctype html><html><body>Below</body></html>\n',
    'sub/page.html': '<!doctype html><html><body>A page</body></html>\n',
  };
  mkdirSync(join(folder, 'sub'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    utimesSync(join(folder, name), fileTime, fileTime);
  }
}
