import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

writeFileSync(
  'main.ts',
  `import { exec, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
enum Fruit { Apple = 'apple', Pear = 'pear' }
async function main(): Promise<void> {
  for (const fruit of Object.values(Fruit)) {
    const { stdout } = await promisify(exec)(\`echo \${fruit}\`);
    console.log(stdout, spawnSync('rev', { input: fruit, encoding: 'utf8' }).stdout);
  }
  const child = fork('./child.ts', [Fruit.Pear]);
  console.log(await once(child, 'message'), await once(child, 'close'));
  process.exitCode = 4;
}
void main();`,
);
writeFileSync(
  'child.ts',
  `enum Size { Small, Large }
process.send!({ given: process.argv.slice(2), size: Size[Size.Large] }, () => process.disconnect());`,
);
writeFileSync(
  'waiting.ts',
  `const waiting: NodeJS.Timeout = setInterval(() => {}, 1000);
// tsx may pass it on twice.
process.on('SIGINT', () => clearInterval(waiting));
process.on('exit', (code: number) => console.log('left with', code));
console.log('waiting');`,
);

const tsx = fileURLToPath(new URL('node_modules/.bin/tsx', import.meta.url));
console.log(await once(spawn(tsx, ['main.ts'], { stdio: 'inherit' }), 'close'));
console.log(spawnSync(tsx, ['-e', 'enum A { B } console.log(A[0])'], { encoding: 'utf8' }).output);
console.log(spawnSync(tsx, ['no-such-file.ts']).status);

const waiting = spawn(tsx, ['waiting.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
let output = '';
waiting.stdout.on('data', (chunk) => {
  if (output === '') waiting.kill('SIGINT');
  output += chunk;
});
console.log(await once(waiting, 'close'), output);
