import { epochOf, type Epoch } from '../../domain/recovery/epoch';

/** Which database the signer takes for the one that it knows, and which for an older one. */

const here = 'system/00000001/5/900';
const at = (epoch: number, beat = 0, lineage = here): Epoch => ({ epoch, beat, lineage });
const promoted = 'system/00000002/5/900';

describe('C1: a recovery is recognised', () => {
  it.each<[string, string, Epoch | null, Epoch | null, ReturnType<typeof epochOf>['act'], number | null]>([
    ['the first start of all', here, null, null, 'begin', null],
    ['a restart of the signer', here, at(3, 70), at(3, 70), 'confirm', null],
    ['a crash between a beat in the row and in the file', here, at(3, 71), at(3, 70), 'confirm', null],
    ['a failover without loss: the timeline is another', promoted, at(3, 70), at(3, 70), 'recover', 4],
    ['a restored backup', promoted, at(3, 10), at(3, 70), 'recover', 4],
    ['a backup from before an earlier recovery', promoted, at(1, 10), at(3, 70), 'recover', 4],
    ['a file copy put back, on the same timeline', here, at(3, 69), at(3, 70), 'recover', 4],
    ['a dump loaded into another database', 'system/00000001/6/901', at(3, 70), at(3, 70), 'recover', 4],
    ['an empty database in place of the one that is lost', 'other/00000001/5/900', null, at(3, 70), 'recover', 4],
    [
      'a crash after the file was written and before the row was',
      promoted,
      at(3, 70),
      at(4, 70, promoted),
      'recover',
      5,
    ],
    ['a file that was put right by hand', here, at(3, 70), { epoch: 4, beat: 0, lineage: '' }, 'recover', 5],
    ['a second server that has become epoch 4 by itself', here, at(4, 9), at(4, 9, promoted), 'recover', 5],
    ['a file from a backup', here, at(3, 70), at(2, 50), 'refuse', null],
    ['no file', here, at(3, 70), null, 'refuse', null],
  ])('%s', (_story, lineage, row, file, act, epoch) => {
    const verdict = epochOf(lineage, row, file);
    expect(verdict).toMatchObject(epoch === null ? { act } : { act, epoch });
    // A branch that somebody has drawn from is never begun again.
    if (verdict.act === 'recover') expect(verdict.epoch).toBeGreaterThan(Math.max(row?.epoch ?? -1, file?.epoch ?? -1));
  });

  it('says what to do where it refuses', () => {
    for (const verdict of [epochOf(here, at(3), at(2)), epochOf(here, at(3), null)])
      expect('reason' in verdict && verdict.reason).toMatch(/write \{"epoch":4\}/);
  });
});
