import { ownersBefore, turnAgainInMs, type Waiter } from '../../domain/txmanager/turns';

/** Who has a wallet next, of those that wait for it. */

const waiter = (intentId: string, owner: string, waitedSeconds: number, over: Partial<Waiter> = {}): Waiter => ({
  ...{ intentId, owner, isSigned: false, waitedSeconds, readySeconds: 10, passedSeconds: null },
  ...over,
});
const withdrawal = waiter('7', 'withdrawal/w', 60);
const refund = waiter('8', 'refund/r', 40);
const line = waiter('9', 'payout-batch/p', 20);
const all = [line, withdrawal, refund];
const newcomer = { intentId: '10', owner: 'withdrawal/new', isSigned: false };
const expired = waiter('5', line.owner, 10, { isSigned: true });

it.each<
  [what: string, waiters: readonly Waiter[], of: Pick<Waiter, 'intentId' | 'owner' | 'isSigned'>, before: string[]]
>([
  ['nobody waits', [], newcomer, []],
  ['who waits longest has it first', all, withdrawal, []],
  ['the second', all, refund, ['withdrawal/w']],
  ['the last', all, line, ['withdrawal/w', 'refund/r']],
  ['who has not waited yet', all, newcomer, ['withdrawal/w', 'refund/r', 'payout-batch/p']],
  [
    'others of the same owner hold it up no more than itself',
    all,
    { intentId: '11', owner: line.owner, isSigned: false },
    ['withdrawal/w', 'refund/r'],
  ],
  ['an owner counts once', [line, waiter('6', line.owner, 30)], newcomer, ['payout-batch/p']],
  ['of one owner what has expired goes first', [line, expired], line, [line.owner]],
  ['what has expired does not wait for what is new of its owner', [line, expired], expired, []],
  ['what has expired waits for others', [expired, withdrawal], expired, ['withdrawal/w']],
  ['it waits for something else', [waiter('7', 'withdrawal/w', 600, { readySeconds: null }), line], line, []],
  ['of one moment the first planned', [refund, waiter('3', 'withdrawal/w', 40)], refund, ['withdrawal/w']],
  ['of one moment, from the other side', [waiter('30', 'withdrawal/w', 40), refund], refund, []],
  ['nobody asks for it any more', [waiter('7', 'withdrawal/w', 600, { readySeconds: 120 }), line], line, []],
  ['it still asks', [waiter('7', 'withdrawal/w', 600, { readySeconds: 119 }), line], line, ['withdrawal/w']],
  ['it could not be signed', [waiter('7', 'withdrawal/w', 600, { passedSeconds: 599 }), line], line, []],
  ['that was long ago', [waiter('7', 'withdrawal/w', 900, { passedSeconds: 600 }), line], line, ['withdrawal/w']],
  ['it has been tried for hours in vain', [waiter('7', 'withdrawal/w', 7200, { passedSeconds: 601 }), line], line, []],
  [
    'it has waited as long again since its last try',
    [waiter('7', 'withdrawal/w', 7200, { passedSeconds: 3600 }), line],
    line,
    ['withdrawal/w'],
  ],
  [
    'once a day it is tried again, however old it is',
    [waiter('7', 'withdrawal/w', 864_000, { passedSeconds: 86_400 }), line],
    line,
    ['withdrawal/w'],
  ],
  ['who was away keeps its place', [waiter('7', 'withdrawal/w', 600, { readySeconds: 300 }), line], withdrawal, []],
])('%s', (_what, waiters, of, before) => {
  expect(ownersBefore(waiters, of)).toEqual(before);
});

it('orders all: of any two owners one is before the other', () => {
  for (const one of all)
    for (const other of all) {
      const isBefore = (a: Waiter, b: Waiter): boolean => ownersBefore(all, b).includes(a.owner);
      if (one !== other) expect(isBefore(one, other)).toBe(!isBefore(other, one));
    }
});

it('asks soon where it may be next, and once a minute at the least', () => {
  expect([0, 1, 2, 3, 50].map(turnAgainInMs)).toEqual([20_000, 20_000, 40_000, 60_000, 60_000]);
});

/** How many lines of a mass payout are signed in `hours`, one a minute at the most, beside withdrawals that are refused
 *  in their turn alone: a cap keeps them waiting, say. All begin to wait while the payout has the wallet. */
function linesBeside(refused: number, hours: number): number {
  const payout = 0;
  const nobody = { since: -1, readyAt: -1, passedAt: null as number | null };
  const rows = Array.from({ length: refused + 1 }, () => nobody);
  const asksAt = Array.from({ length: refused + 1 }, (_, n) => 1 + ((n * 37) % 59));
  let [busyUntil, lines] = [60, 0];
  for (let now = 1; now < hours * 3600; now = Math.min(...asksAt)) {
    const asker = asksAt.indexOf(now);
    const waiters = rows.flatMap(({ since, readyAt, passedAt }, n) =>
      since < 0
        ? []
        : waiter(`${n}`, `owner/${n}`, now - since, {
            ...{ readySeconds: now - readyAt, passedSeconds: passedAt === null ? null : now - passedAt },
          }),
    );
    const own = { intentId: `${asker}`, owner: `owner/${asker}`, isSigned: false };
    const before = ownersBefore(waiters, own).length;
    const row = rows[asker]!;
    let pauseMs = 60_000;
    if (now < busyUntil || before) {
      rows[asker] = { ...row, since: row.since < 0 ? now : row.since, readyAt: now };
      pauseMs = turnAgainInMs(before);
    } else if (asker === payout) {
      rows[asker] = nobody;
      [busyUntil, lines] = [now + 60, lines + 1];
    } else if (row.since >= 0) rows[asker] = { ...row, passedAt: now };
    asksAt[asker] = now + pauseMs / 1000;
  }
  return lines;
}

it('leaves a wallet to what can be signed, whoever asks for how much that cannot', () => {
  expect(linesBeside(0, 4)).toBeGreaterThan(230);
  expect(linesBeside(40, 4)).toBeGreaterThan(215);
});
