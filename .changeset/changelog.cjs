'use strict';
// A line of a changelog is what its author wrote, without links to commits: changesets' own formats need its package in the
// root's node_modules, or a token of GitHub.
exports.getReleaseLine = async ({ summary }) =>
  summary
    .trim()
    .split('\n')
    .map((line, index) => (index === 0 ? `- ${line.replace(/^- /, '')}` : line && `  ${line}`))
    .join('\n');

// All packages have one version: a line about a sibling's would say nothing.
exports.getDependencyReleaseLine = async () => '';
