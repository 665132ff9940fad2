import { fileURLToPath } from 'node:url';
import type { CpuProfile } from './cpu-profile.ts';

/** A preload with JavaScript functions around JSON's builtins, which have no frames of their own. */
export const jsonFramesFile: string = fileURLToPath(
  new URL('../../preload/json-frames.cjs', import.meta.url),
);

/** Renames the functions around JSON's builtins to the builtins. */
export function withJsonFrames(profile: CpuProfile): CpuProfile {
  const nodes = profile.nodes.map((node) => {
    const { url, functionName } = node.callFrame;
    if (!url.endsWith('/preload/json-frames.cjs') || !/^(parse|stringify)$/.test(functionName)) {
      return node;
    }
    const callFrame = {
      functionName: `JSON.${functionName}`,
      url: '',
      lineNumber: -1,
      columnNumber: -1,
    };
    return { ...node, callFrame };
  });
  return { ...profile, nodes };
}
