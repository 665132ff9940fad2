import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { findCached } from '../../src/runtimes/cache.ts';
import { obtainRuntime, packageOf } from '../../src/runtimes/obtain.ts';
import { parseRuntime } from '../../src/runtimes/spec.ts';

const { signal } = new AbortController();
const skip = process.platform === 'win32' ? 'the npm of this test is a shell script' : false;

/** An npm that knows versions 10.1.0 and 10.2.0 of every package, whose programs print their version. */
function withNpm(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-npm-'));
  const { name, program } = packageOf('node');
  const file = join(folder, 'npm');
  writeFileSync(
    file,
    `#!/bin/sh
echo "$@" >> "${folder}/calls"
if [ "$1" = view ]; then echo '["10.1.0","10.2.0"]'; exit 0; fi
case "$2" in *@10|*@latest) version=10.2.0;; *@10.1.0) version=10.1.0;; *) echo 'npm error code ETARGET' >&2; echo 'npm error notarget No matching version' >&2; exit 1;; esac
modules="$4/node_modules"; mkdir -p "$modules/${name}/bin"
printf '#!/bin/sh\\necho v%s\\n' $version > "$modules/${name}/${program}"
chmod +x "$modules/${name}/${program}"
printf '{"packages":{"node_modules/${name}":{"version":"%s","integrity":"sha512-x"}}}' $version > "$modules/.package-lock.json"
`,
  );
  chmodSync(file, 0o755);
  mkdirSync(join(folder, 'cache'));
  const before = process.env['PATH'];
  process.env['PATH'] = folder + delimiter + before;
  t.after(() => {
    process.env['PATH'] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, 'cache');
}

describe('a runtime', { skip }, () => {
  test('is fetched once, and from then on taken from the cache', async (t) => {
    const folder = withNpm(t);
    const reported: string[] = [];
    const options = {
      signal,
      folder,
      onProgress: (text: string): void => void reported.push(text),
    };
    const fetched = await obtainRuntime(parseRuntime('10'), options);
    assert.equal(fetched.version, '10.2.0');
    assert.ok(reported.length > 0);
    const again = await obtainRuntime(parseRuntime('node@10.2'), { signal, folder });
    assert.deepEqual(again, fetched);
    assert.deepEqual(await findCached(parseRuntime('10.1.0'), folder), undefined);
  });

  test('that was changed in the cache is not used', async (t) => {
    const folder = withNpm(t);
    const { file } = await obtainRuntime(parseRuntime('10'), { signal, folder });
    appendFileSync(file, '# changed\n');
    assert.equal(await findCached(parseRuntime('10'), folder), undefined);
  });

  test('of a version that is not there is refused with what is', async (t) => {
    const folder = withNpm(t);
    await assert.rejects(obtainRuntime(parseRuntime('10.9.9'), { signal, folder }), {
      code: 'ERR_REDLINE_RUNTIME_UNKNOWN',
      message: 'npm has no node@10.9.9; the newest 10 is 10.2.0.',
    });
    await assert.rejects(obtainRuntime(parseRuntime('99'), { signal, folder }), {
      message: 'npm has no node@99; the oldest is 10.1.0, the newest 10.2.0.',
    });
  });
});
