import { packageOf } from '../profile/package-of.ts';

/** Shortens a place to a width: a package keeps its name, and any file its end, which says more than its start. */
export function placeWithin(place: string, width: number): string {
  const within = packageOf(place);
  if (within === undefined) return cutFront(place, width);
  const { name, file } = within;
  const whole = `${name}/${file}`;
  if (whole.length <= width) return whole;
  const base = `${name}/…/${file.split(/[\\/]/).at(-1)!}`;
  if (base.length <= width) return base;
  const left = width - name.length - 1;
  return left < minFileWidth ? cutFront(place, width) : `${name}/${cutFront(file, left)}`;
}

/** Min characters of a file's end that tell it from others. */
const minFileWidth = 12;

function cutFront(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `…${characters.slice(1 - width).join('')}`;
}
