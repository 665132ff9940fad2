interface Resources {
  names(): string[];
  handles(): object[];
}

/** Adds what the engine waits for to the resources that Node lists, for whoever looks for what keeps the process alive. */
export function tellResources({ names, handles }: Resources): void {
  const nodes = process as unknown as {
    getActiveResourcesInfo(): string[];
    _getActiveHandles(): object[];
  };
  const { getActiveResourcesInfo: info, _getActiveHandles: active } = nodes;
  nodes.getActiveResourcesInfo = function getActiveResourcesInfo() {
    return [...info.call(process), ...names()];
  };
  nodes._getActiveHandles = function _getActiveHandles() {
    // First: a socket made here may be over a handle of Node's, which is then in the other list.
    const own = handles();
    return [...active.call(process), ...own];
  };
}
