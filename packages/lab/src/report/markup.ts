/** Text that is already HTML or SVG. Everything else that enters a template is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type MarkupValue = string | number | Markup | readonly Markup[] | undefined | false;

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// XML forbids control characters: an SVG with one in a variant's name would not open.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/gu;

export function escape(text: string): string {
  return text
    .replace(UNPRINTABLE, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Tags a template of HTML or SVG: escapes interpolated strings; `undefined` and `false` produce no output. */
export function markup(parts: TemplateStringsArray, ...values: MarkupValue[]): Markup {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += toText(value) + (parts[index + 1] ?? '');
  });
  return new Markup(text);
}

export function raw(text: string): Markup {
  return new Markup(text);
}

export function join(items: readonly Markup[], separator: string): Markup {
  return new Markup(items.map((item) => item.text).join(escape(separator)));
}

function toText(value: MarkupValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map((item) => item.text).join('');
  return escape(String(value));
}
