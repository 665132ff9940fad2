import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseLogLine } from '../../src/profile/v8/v8-log.ts';

describe("a line of V8's log", () => {
  test('tells of code, its tier and its function', () => {
    assert.deepEqual(
      parseLogLine(
        "code-creation,JS,12,707816,0x7ff3e4063a40,444,getTime /srv/app.js:3:17,0x111f4ad7e0e0,+'",
      ),
      {
        type: 'created',
        micros: 707_816,
        tier: 'maglev',
        name: 'getTime',
        place: { url: '/srv/app.js', line: 3, column: 17 },
        sharedInfo: '0x111f4ad7e0e0',
        address: '0x7ff3e4063a40',
      },
    );
  });

  test('reads a name and a path with spaces, and a url', () => {
    const described = (text: string): unknown => {
      const event = parseLogLine(`code-creation,JS,11,1,0x1,2,${text},0x2,*`);
      assert.equal(event?.type, 'created');
      return [event.name, event.place.url];
    };
    assert.deepEqual(described('get size /srv/my app/a.js:1:2'), ['get size', '/srv/my app/a.js']);
    assert.deepEqual(described(' file:///srv/a.mjs:1:2'), ['', 'file:///srv/a.mjs']);
    assert.deepEqual(described('emit node:events:489:44'), ['emit', 'node:events']);
    assert.deepEqual(described('emit events.js:147:44'), ['emit', 'events.js']);
  });

  test('of Node 8 has quotes and no time', () => {
    const created = parseLogLine(
      'code-creation,LazyCompile,1,-1,0x217b4806660,532,"getTime /srv/app.js:3:17",0x367ea23d4c40,*',
    );
    assert.equal(created?.type, 'created');
    assert.deepEqual([created.tier, created.micros, created.name], ['turbofan', -1, 'getTime']);
    const deopt = parseLogLine(
      'code-deopt,-1,2688,0x217b48119e0,0,248,"soft","<internal/http.js:14:18> inlined at <_http_outgoing.js:360:32>","Insufficient type feedback for call"',
    );
    assert.equal(deopt?.type, 'deopt');
    assert.equal(deopt.reason, 'Insufficient type feedback for call');
    assert.deepEqual(deopt.stack, [
      { url: 'internal/http.js', line: 14, column: 18 },
      { url: '_http_outgoing.js', line: 360, column: 32 },
    ]);
  });

  test('writes a comma within a column as an escape', () => {
    const event = parseLogLine('code-creation,JS,11,5,0x1,2,a\\x2Cb /srv/x\\x2Cy.js:1:2,0x2,~');
    assert.equal(event?.type, 'created');
    assert.deepEqual([event.name, event.place.url], ['a,b', '/srv/x,y.js']);
  });

  test('keeps of source text where its lines begin', () => {
    const source = String.raw`script-source,88,/srv/a\x2Cb.js,a\x2C\u20ac\n\\n\n\x09c`;
    assert.deepEqual(parseLogLine(source), {
      type: 'script',
      url: '/srv/a,b.js',
      lineStarts: [0, 4, 7],
    });
  });

  test('says nothing when it is of builtins, or cut off', () => {
    for (const line of [
      'code-creation,Builtin,2,9878,0x18c4000,768,DeoptimizationEntry_Eager',
      'code-creation,JS,11,5,0x1',
      'code-deopt,5,6',
      '',
    ]) {
      assert.equal(parseLogLine(line), undefined, line);
    }
  });
});
