import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import type { MachineFacts } from '../figures.ts';

/**
 * Reads the facts about the machine that the figures depend on. Facts that the system hides are reported as not visible, not left
 * out.
 */
export function readMachine(pinning: string): MachineFacts {
  return {
    cpuModel: cpus()[0]?.model.trim() ?? 'not visible',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
    governor:
      read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')?.trim() ?? 'not visible',
    virtualisation: readVirtualisation(),
    pinning,
  };
}

function readVirtualisation(): string {
  const cpuInfo = read('/proc/cpuinfo');
  if (cpuInfo === undefined) return 'not visible';
  // Podman has a file of its own.
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv')) return 'container';
  return /^flags\s*:.*\bhypervisor\b/m.test(cpuInfo) ? 'virtual' : 'none seen';
}

/** Time that the hypervisor or resource limits took from this machine. Two readings give a share. */
export interface Interference {
  stealTicks: number;
  allTicks: number;
  throttledTimes: number;
}

export function readInterference(): Interference | undefined {
  const line = read('/proc/stat')?.split('\n', 1)[0];
  if (line === undefined) return undefined;
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const throttled = /^nr_throttled (\d+)/m.exec(read('/sys/fs/cgroup/cpu.stat') ?? '')?.[1];
  return {
    stealTicks: ticks[7] ?? 0,
    allTicks: ticks.reduce((sum, each) => sum + each, 0),
    throttledTimes: Number(throttled ?? 0) + thermalThrottles(),
  };
}

function thermalThrottles(): number {
  return Number(read('/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count') ?? 0);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
