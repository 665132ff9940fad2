import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';
import { combine, ENDS, liveAll, REFERENCES, TIMEOUTS, type Life } from './lifetime/lives.ts';

const skip = engine().name === 'node';

type Rest = Omit<Life, 'engine'>;
const rest: Rest[] = [
  ...combine({ reference: REFERENCES, end: ENDS }),
  ...combine({ reference: REFERENCES, client: ['leaves'] }),
  ...combine({ client: ['resets'] }),
  ...combine({ client: ['stays', 'leaves'], timeouts: TIMEOUTS.slice(1) }),
];

// A handle that is not read holds no loop of libuv's, whatever its connection waits for.
describe('a thread ends, or does not, as with node:http:', { skip, timeout: 900_000 }, () => {
  let expected: Promise<Record<string, string>>;
  test('on the engine', async () => {
    expected = liveAll(rest.map((life) => ({ ...life, engine: 'node' })));
    const nodes = await expected;
    assert.deepEqual(await liveAll(rest.map((life) => ({ ...life, engine: 'native' }))), nodes);
    assert.equal(new Set(Object.values(nodes)).size, 3);
  });

  test('on the engine with a thread of its own', async () => {
    const nodes = await expected;
    const lives = combine({ engine: ['thread'], reference: ['none', 'unref'] });
    for (const [name, outcome] of Object.entries(await liveAll(lives))) {
      assert.equal(outcome, nodes[name], name);
    }
  });
});
