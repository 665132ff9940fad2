/** Escaped HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[] | false | undefined;

/** Builds HTML from a template: values are escaped unless they are `Html`. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0]!;
  for (const [index, value] of values.entries()) text += textOf(value) + strings[index + 1]!;
  return new Html(text);
}

function textOf(value: Part): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(({ text }: Html) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
