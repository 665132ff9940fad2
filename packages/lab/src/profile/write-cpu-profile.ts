import type { CallNode, CallTree } from './call-tree.ts';
import type { CpuProfile, ProfileNode } from './cpu-profile.ts';

/** Converts a call tree to a `.cpuprofile`, for other viewers. The samples of a frame are grouped: their order is not kept. */
export function toCpuProfile(tree: CallTree): CpuProfile {
  const nodes: ProfileNode[] = [];
  const samples: number[] = [];
  const visit = ({ frame, self, children }: CallNode): number => {
    const id = nodes.length + 1;
    const node: ProfileNode = {
      id,
      callFrame: {
        functionName: id === 1 ? '(root)' : frame.name,
        url: frame.url,
        lineNumber: frame.line - 1,
        columnNumber: frame.column - 1,
      },
    };
    nodes.push(node);
    for (let count = 0; count < self; count++) samples.push(id);
    node.children = children.map(visit);
    return id;
  };
  visit(tree.root);
  const micros = Math.round((tree.seconds * 1e6) / Math.max(1, samples.length));
  return {
    nodes,
    samples,
    timeDeltas: samples.map(() => micros),
    startTime: 0,
    endTime: micros * samples.length,
  };
}
