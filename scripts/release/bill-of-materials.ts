import { createHash } from 'node:crypto';
import type { CrateInside } from './crates-inside.ts';

export interface Subject {
  readonly name: string;
  readonly version: string;
}

/** Lists the crates inside the addons, in CycloneDX 1.5, the format of `npm sbom` for JavaScript packages. */
export function billOfMaterials(subject: Subject, crates: readonly CrateInside[]): string {
  const components = crates.map(({ name, version, license }) => ({
    type: 'library',
    'bom-ref': `pkg:cargo/${name}@${version}`,
    name,
    version,
    purl: `pkg:cargo/${name}@${version}`,
    licenses: [{ expression: license.replaceAll('/', ' OR ') }],
  }));
  const purl = `pkg:npm/${subject.name.replace('@', '%40')}@${subject.version}`;
  const body = {
    metadata: {
      component: {
        type: 'library',
        'bom-ref': purl,
        ...subject,
        purl,
        licenses: [{ expression: 'MIT' }],
      },
    },
    components,
    dependencies: [
      { ref: purl, dependsOn: components.map((component) => component.purl) },
      ...components.map((component) => ({ ref: component.purl, dependsOn: [] })),
    ],
  };
  const head = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 };
  // Derived from the content: the same sources produce the same file.
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return `${JSON.stringify({ ...head, serialNumber, ...body }, null, 2)}\n`;
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
