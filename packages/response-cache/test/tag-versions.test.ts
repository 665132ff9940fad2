import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryTagVersions } from '../src/store/tag-versions.ts';

describe('MemoryTagVersions', () => {
  it('forgets the tags not used lately, and says so by its epoch', () => {
    const versions = new MemoryTagVersions(2);
    versions.open(['a', 'b']);
    const { epoch } = versions;
    versions.open(['a']);
    assert.equal(versions.epoch, epoch);
    versions.open(['c']);
    assert.notEqual(versions.epoch, epoch);
    assert.deepEqual(versions.read(['a', 'b', 'c']), [1, undefined, 1]);
  });
});
