interface Resources {
  names(): string[];
  handles(): object[];
}

/** Adds the engine's resources to the lists of Node, for code that looks for the reasons why the process stays alive. */
export function reportResources({ names, handles }: Resources): void {
  const nodes = process as unknown as {
    getActiveResourcesInfo(): string[];
    _getActiveHandles(): object[];
  };
  const { getActiveResourcesInfo: info, _getActiveHandles: active } = nodes;
  nodes.getActiveResourcesInfo = function getActiveResourcesInfo() {
    return [...info.call(process), ...names()];
  };
  nodes._getActiveHandles = function _getActiveHandles() {
    // Called first: it may create a socket over a Node handle, which is then in the other list.
    const own = handles();
    return [...active.call(process), ...own];
  };
}
