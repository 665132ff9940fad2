// Ends a tree of 200 processes that start others meanwhile, beside a stranger. Prints what is left as JSON.
import { spawn as nodeSpawn } from 'node:child_process';
import { once } from 'node:events';
import { killTree, spawn } from '../../src/index.ts';
import { alive, forking, newMark } from './trees.ts';
import { until } from '@redline/services/until';

const mark = newMark();
const stranger = nodeSpawn('sleep', ['61'], { detached: true, stdio: 'ignore' });
const child = spawn('sh', ['-c', forking(mark, 200), mark], { killTree: true });
const closed = once(child, 'close');
child.stdout.resume();
await until('200 live', () => alive(mark).length >= 200);
await killTree(child, 'SIGKILL');
const left = alive(mark).length;
const [, signal] = await closed;
const isStrangerAlive = stranger.exitCode === null && stranger.signalCode === null;
stranger.kill('SIGKILL');
await once(stranger, 'exit');
console.log(JSON.stringify({ left, signal, isStrangerAlive }));
