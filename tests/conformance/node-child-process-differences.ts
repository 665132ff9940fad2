/** Node's own tests that the engine fails: file, then the reason. Only those that replace internals of Node may be here. */
export const differences: Readonly<Record<string, string>> = {
  'parallel/test-child-process-spawnsync-kill-signal.js':
    'Replaces spawnSync of internal/child_process, which the engine does not call.',
  'parallel/test-child-process-spawnsync-shell.js':
    'Replaces spawnSync of internal/child_process, which the engine does not call.',
  'parallel/test-child-process-windows-hide.js':
    'Watches spawnSync of internal/child_process, which the engine does not call; its other two tests pass.',
};
