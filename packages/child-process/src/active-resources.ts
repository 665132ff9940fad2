interface Resources {
  names(): string[];
  handles(): object[];
}

/** Adds what the engine waits for to what Node lists of the process: to those who look for what keeps it. */
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
    // First: a socket that is made for it may be over a handle of Node's.
    const own = handles();
    return [...active.call(process), ...own];
  };
}
