import { createPool, engine, execFile, fork, spawnSync } from '@redline/child-process';

async function main() {
  const { stdout } = spawnSync('/bin/echo', ['a child'], { encoding: 'utf8' });
  const output = await new Promise((resolve, reject) => {
    execFile('/bin/echo', ['another'], (error, text) => (error ? reject(error) : resolve(text)));
  });
  const child = fork('-', [], { execArgv: ['--eval', 'process.send("a message")'] });
  const message = await new Promise((resolve) => child.once('message', resolve));
  let besides = 'a pool runs';
  try {
    await createPool({ size: 1 }).close();
  } catch (error) {
    besides = error.message;
  }
  const result = `${stdout.trim()}, ${output.trim()}, ${message}`;
  console.log(JSON.stringify({ result, besides, engine: engine() }));
}

main();
