import type { Difference } from './difference.ts';

/**
 * Whether each byte that the engine sent is one that a handler of the case writes, or the frame around it: heads, sizes of
 * chunks, and trailers. What a head says is not looked at.
 */
export function isAccountedFor({ case: of, redline }: Difference): boolean {
  const bodies = redline.bytes.split(/HTTP\/1\.1 [^]*?\r\n\r\n/).filter((body) => body !== '');
  if (of.programs.length === 0) {
    const answers = new Set(
      redline.requests.map(({ request, steps }) => {
        const [method, url] = request[0]!.split(' ');
        const body = steps.find((step) => step.startsWith('body '))?.slice('body '.length) ?? '';
        return `${method} ${url} ${body}`;
      }),
    );
    return bodies.every((body) => answers.has(body));
  }
  const written = new Set(
    of.programs.flatMap((steps) =>
      steps.map((step, index) => ('bytes' in step ? `${letter(index)} ${step.bytes}` : '')),
    ),
  );
  return bodies.every((body) => {
    const text = body.replaceAll('X-Sum: 1\r\n', '');
    const pieces = text.match(/([A-Z])\1*/g) ?? [];
    const frame = text.replaceAll(/([A-Z])\1*|[0-9a-f]+\r\n|\r\n/g, '');
    return frame === '' && pieces.every((piece) => written.has(`${piece[0]} ${piece.length}`));
  });
}

function letter(index: number): string {
  return String.fromCharCode(65 + (index % 26));
}
