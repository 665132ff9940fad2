/** Adds what the engine waits for to what `process.getActiveResourcesInfo()` lists. */
export function tellResources(resources: () => string[]): void {
  const { getActiveResourcesInfo: nodes } = process;
  process.getActiveResourcesInfo = function getActiveResourcesInfo() {
    return [...nodes.call(process), ...resources()];
  };
}
