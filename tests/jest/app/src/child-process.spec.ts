import { promisify } from 'node:util';
import { createPool, engine, execFile, spawn, spawnSync } from '@redline/child-process';

const script = ['-c', 'echo out; echo err >&2'];

describe('@redline/child-process in Jest’s own runner', () => {
  it('serves with the engine', () => {
    expect(engine()).toEqual({ name: 'native' });
  });

  it('starts processes', async () => {
    const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
    const chunks: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
    child.stdin.end('in');
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, chunks.join('')]).toEqual([0, 'in']);
    expect(await promisify(execFile)('sh', script)).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    expect(spawnSync('sh', script).stdout.toString()).toBe('out\n');
  });

  it.each(['send', 'socket'] as const)('starts them from a pool over %s', async (transport) => {
    const pool = createPool({ size: 1, transport });
    try {
      expect(await promisify(pool.execFile)('sh', script)).toEqual({
        stdout: 'out\n',
        stderr: 'err\n',
      });
    } finally {
      await pool.close();
    }
  });
});
