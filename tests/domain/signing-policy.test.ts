/** @jest-environment node */
import { signedBefore } from '../../db/recovery/lost';
import { mayCost } from '../../txmanager/sign/fee-policy';
import { maySign, movablePart, type SignFacts } from '../../txmanager/sign/policy';
import { outputsOf } from '../../txmanager/kinds/payout-line';
import type { ExpiryFacts } from '../../txmanager/sign/expiry-policy';
import type { TermsAnswer } from '../../domain/chains/chain';
import type { ExpiringAttempt } from '../../domain/txmanager/expiry';
import type { InsideFacts, RowFacts } from '../../txmanager/obligation';
import type { IntentRow, ShareRow } from '../../db/txmanager/intents';
import { register, tagChain } from '../chain/registering';

/** The signer's one policy: a row for each rule. */

/** What the row of a mass payout says, approved by nobody else than who asked for it. */
const row: RowFacts = {
  name: 'Payout batch',
  state: 'due',
  says: '',
  approval: { isGiven: true, needsSecond: false, askedBy: 'ann', by: null },
  payees: [{ id: 'line-1', merchant_id: 'shop', currency: 'ETH', address: '0xaway', destination_tag: null }],
  addedFees: [],
  limitUse: { kind: 'mass_payout', ref: 'batch' },
};
const intent: SignFacts['intent'] = {
  id: '1',
  kind: 'leg',
  ref: 'line-1',
  network: 'ethereum',
  currency: 'ETH',
  from_address: '0xhot',
  outputs: [{ address: '0xaway', units: '5' }],
  deposit_ids: [],
  status: 'planned',
  payment_id: null,
  gas_limit: '21000',
};
/** A payment of a mass payout that may be signed. */
const payout: SignFacts = {
  round: 'first',
  fault: null,
  intent,
  isSigned: false,
  isLost: false,
  batch: null,
  obligation: {
    currency: 'ETH',
    outputs: [{ address: '0xaway', units: '5' }],
    fromDeposits: null,
    isUnderWay: false,
    row,
  },
  inside: null,
  unlisted: [],
  limitUse: 'used',
  deposits: [],
  own: [{ address: '0xhot', role: 'treasury', merchantId: null }],
  malformed: [],
  forged: [],
  stop: null,
  freezes: [],
  wallet: { frozenReason: null, openNonce: null },
  price: { ageSeconds: 599 },
  expiry: null,
};
const deposit = { id: '7', address: '0xd', status: 'confirmed', allocation: 'unsettled', merchant_id: 'shop' };
/** What the kind of sweeps says: to the treasury, or to merchants' own addresses. */
function sweptTo(...addresses: string[]): InsideFacts {
  return { merchantIds: ['shop'], roles: ['treasury'], addresses, movesDeposits: true, isForOthers: false };
}
/** What is left on a deposit address, swept to where its payment settles. */
const sweep: SignFacts = {
  ...payout,
  intent: {
    ...intent,
    kind: 'sweep',
    from_address: '0xd',
    outputs: [{ address: '0xsettle', units: null }],
    deposit_ids: ['7'],
    payment_id: 'payment',
  },
  obligation: null,
  inside: sweptTo('0xsettle'),
  deposits: [deposit],
  own: [{ address: '0xd', role: 'deposit', merchantId: 'shop' }],
};
/** A refund from the deposit address that it came to. */
const refund: SignFacts = {
  ...payout,
  intent: { ...intent, kind: 'refund', from_address: '0xd', deposit_ids: ['7'] },
  obligation: { ...payout.obligation!, fromDeposits: { depositIds: ['7'], merchantId: 'shop' } },
  deposits: [{ ...deposit, allocation: 'refunded' }],
  own: [{ address: '0xd', role: 'deposit', merchantId: 'shop' }],
};
const share = (id: string, net: string | null = null): ShareRow => ({
  intent_id: '1',
  payment_id: `payment-${id}`,
  position: 1,
  deposit_ids: [id],
  brought_units: '9',
  net_units: net,
  fee_units: null,
  dropped_at: null,
  dropped_because: null,
});
/** A sweep of the tokens of many payments. */
const planned: SignFacts['intent'] = {
  ...sweep.intent,
  currency: 'USDT_ERC20',
  from_address: '0xgas',
  payment_id: null,
  deposit_ids: ['7', '8'],
};
const batch: SignFacts = {
  ...sweep,
  intent: planned,
  batch: { planned, shares: [share('7'), share('8')], payments: 2, deposits: 2 },
  deposits: [deposit, { ...deposit, id: '8', address: '0xe' }],
  own: [...sweep.own, { address: '0xgas', role: 'gas', merchantId: null }],
};
const bump = { round: 'again', isSigned: true, intent: { ...intent, status: 'sent' } } as const;
const underWay = { ...payout.obligation!, isUnderWay: true };
const frozen = [{ currency: 'ETH', reason: 'a test' }];
const rowWith = (patch: Partial<RowFacts>, of = payout): Partial<SignFacts> => ({
  obligation: { ...of.obligation!, row: { ...row, ...patch } },
});
const twoPeople = (askedBy: string | null, by: string | null): Partial<SignFacts> =>
  rowWith({ approval: { isGiven: true, needsSecond: true, askedBy, by } });

/** A gas top-up of a deposit address; `isForOthers`: for a refund. */
const gas = (isForOthers: boolean): Partial<SignFacts> => ({
  intent: {
    ...sweep.intent,
    kind: 'gas',
    deposit_ids: [],
    from_address: '0xgas',
    outputs: [{ address: '0xd', units: '5' }],
  },
  inside: { ...sweptTo(), roles: ['deposit', 'treasury'], movesDeposits: false, isForOthers },
  deposits: [],
});

const sign = { state: 'sign' };
const wrong = (reason: string) => ({
  state: 'refused',
  code: 'INTENT_MISMATCH',
  reason: expect.stringContaining(reason),
});
const waits = (reason: string) => ({
  state: 'waiting',
  reason: expect.stringContaining(reason),
  cause: expect.stringMatching(/^[a-z]+$/),
});

type Case = readonly [rule: string, of: SignFacts, but: Partial<SignFacts>, verdict: unknown];
const at = (patch: Partial<SignFacts['intent']>, of = intent): Partial<SignFacts> => ({ intent: { ...of, ...patch } });

it.each<Case>([
  ['a payment of a payout', payout, {}, sign],
  ['a sweep', sweep, {}, sign],
  ['a sweep of many', batch, {}, sign],
  ['a refund of unallocated deposits', refund, {}, sign],
  ['signed before', payout, { isSigned: true }, { state: 'stored' }],
  ['dead', payout, at({ status: 'dead' }), { state: 'dropped' }],
  ['another amount', payout, at({ outputs: [{ address: '0xaway', units: '6' }] }), wrong('address or amount')],
  ['another address', payout, at({ outputs: [{ address: '0xother', units: '5' }] }), wrong('address or amount')],
  ['another currency', payout, at({ currency: 'USDT_ERC20' }), wrong('currency')],
  ['another network', payout, at({ network: 'bitcoin' }), wrong('currency')],
  ['one more output', payout, at({ outputs: [...intent.outputs, { address: '0xx', units: '1' }] }), wrong('output')],
  ['not from the treasury', payout, at({ from_address: '0xd' }), wrong('does not hold this money')],
  ['from a gas wallet', payout, { own: [{ ...payout.own[0]!, role: 'gas' }] }, wrong('does not hold this money')],
  ['an address in another form', payout, { malformed: ['0xAway'] }, wrong('not in the form')],
  ['a payment without a row', payout, { obligation: null }, wrong('may not send')],
  ['taken off the whitelist', payout, { unlisted: ['line-1'] }, expect.objectContaining({ unlisted: ['line-1'] })],
  ['on its way already', payout, rowWith({ state: 'other', says: 'it is processing' }), wrong('is processing')],
  ['not approved', payout, rowWith({ approval: { ...row.approval!, isGiven: false } }), wrong('not approved')],
  ['approved by a second person', payout, twoPeople('ann', 'bob'), sign],
  ['approved by who asked', payout, twoPeople('ann', 'ann'), wrong('second person')],
  ['approved by nobody', payout, twoPeople('ann', null), wrong('second person')],
  ['asked for by nobody', payout, twoPeople(null, 'bob'), wrong('second person')],
  ['nobody has to approve it', payout, rowWith({ approval: null }), sign],
  ['nothing wants it', payout, { fault: 'nothing wants it' }, wrong('nothing wants it')],
  ['nothing wants it, signed before', payout, { fault: 'nothing wants it', isSigned: true }, wrong('nothing wants')],
  ['signed before a recovery', payout, { isLost: true }, { state: 'dropped', reason: signedBefore }],
  ['signed before a recovery, another price', payout, { ...bump, isLost: true, obligation: underWay }, sign],
  ['a fee that its receiver bears', payout, rowWith({ addedFees: [{ quoted: '1', added: '2' }] }), sign],
  ['more than a transfer takes', payout, rowWith({ addedFees: [{ quoted: '1', added: '2.1' }] }), wrong('too much')],
  ['not admitted', payout, { limitUse: 'none' }, wrong('Nobody has admitted')],
  ['limits not asked', payout, { limitUse: 'open' }, { state: 'ask', facts: 'limits' }],
  ['over a limit', payout, { limitUse: { over: 'the daily limit' } }, waits('the daily limit')],
  ['no limit counts it', payout, { ...rowWith({ limitUse: null }), limitUse: 'none' }, sign],
  ['its row waits', refund, rowWith({ state: 'early', says: 'an order' }, refund), waits('an order')],
  ['its row has ended', refund, rowWith({ state: 'ended', says: 'x' }, refund), { state: 'dropped', reason: 'x' }],
  ['frozen asset', payout, { freezes: frozen }, waits('frozen: a test')],
  ['all frozen', payout, { freezes: [{ currency: '*', reason: 'a test' }] }, waits('frozen')],
  ['A9: stopped', payout, { stop: 'fraud' }, waits('held: fraud')],
  ['A9: stopped, a refund of unallocated deposits', refund, { stop: 'fraud' }, waits('held: fraud')],
  ['A9: stopped, to the merchant’s own address', sweep, { stop: 'fraud' }, waits('held: fraud')],
  ['A9: stopped, a batch to it', batch, { stop: 'fraud' }, waits('held: fraud')],
  ['A9: stopped, to ourselves', sweep, { stop: 'x', own: [{ ...sweep.own[0]!, address: '0xsettle' }] }, sign],
  ['A9: stopped, gas for a refund', sweep, { ...gas(true), stop: 'fraud' }, waits('held: fraud')],
  ['A9: stopped, gas for a sweep', sweep, { ...gas(false), stop: 'fraud' }, sign],
  [
    'A9: stopped, signed for other deposits',
    payout,
    { ...bump, round: 'anew', obligation: underWay, stop: 'x' },
    waits('held'),
  ],
  ['A9: stopped, another price', payout, { ...bump, obligation: underWay, stop: 'fraud' }, sign],
  ['another asset frozen', payout, { freezes: [{ currency: 'BTC', reason: 'a test' }] }, sign],
  ['frozen, to ourselves', sweep, { freezes: frozen, own: [{ ...sweep.own[0]!, address: '0xsettle' }] }, sign],
  [
    'frozen wallet',
    payout,
    { wallet: { frozenReason: 'why', openNonce: null } },
    { ...wrong('why'), code: 'WALLET_FROZEN' },
  ],
  ['wallet not read', payout, { wallet: 'unread' }, { state: 'ask', facts: 'wallet' }],
  ['no estimate', payout, { price: null }, { ...wrong('fee estimate'), code: 'UPSTREAM_UNAVAILABLE' }],
  ['an old estimate', payout, { price: { ageSeconds: 600 } }, { ...wrong('fee'), code: 'UPSTREAM_UNAVAILABLE' }],
  ['deposit gone', sweep, { deposits: [{ ...deposit, status: 'orphaned' }] }, waits('deposit 7 is orphaned')],
  ['deposit in another bucket', sweep, { deposits: [{ ...deposit, allocation: 'own' }] }, waits('deposit 7')],
  ['refund of what is allocated', refund, { deposits: [deposit] }, waits('deposit 7')],
  ['refund of another’s deposit', refund, { own: [{ ...refund.own[0]!, merchantId: 'x' }] }, wrong('does not hold')],
  [
    'refund of a deposit with another’s tag',
    refund,
    { deposits: [{ ...refund.deposits[0]!, merchant_id: 'x' }], own: [{ ...refund.own[0]!, merchantId: null }] },
    wrong('does not hold'),
  ],
  ['refund from an address that many share', refund, { own: [{ ...refund.own[0]!, merchantId: null }] }, sign],
  ['refund of other deposits', refund, at({ deposit_ids: ['9'] }, refund.intent), wrong('deposits')],
  ['nothing to sweep', sweep, at({ deposit_ids: [] }, sweep.intent), waits('none of its deposits')],
  ['swept elsewhere', sweep, { inside: sweptTo() }, wrong('may not send to 0xsettle')],
  ['gas to a stranger', sweep, { inside: gas(false).inside! }, wrong('may not send')],
  ['a kind that says nothing of itself', sweep, { inside: null }, wrong('may not send')],
  [
    'two outputs of an account',
    sweep,
    at({ outputs: [...sweep.intent.outputs, ...sweep.intent.outputs] }, sweep.intent),
    wrong('exactly one output'),
  ],
  ['batch of foreign payments', batch, { batch: { ...batch.batch!, payments: 1 } }, wrong('payments')],
  ['batch of foreign deposits', batch, { batch: { ...batch.batch!, deposits: 1 } }, wrong('deposits')],
  ['batch from no gas wallet', batch, { own: sweep.own }, wrong('sender')],
  ['batch of a payment', batch, { batch: { ...batch.batch!, planned: sweep.intent } }, wrong('kind')],
  ['bump', payout, { ...bump, obligation: underWay }, sign],
  ['bump of what has ended', payout, bump, wrong('not under way')],
  ['bump while its asset is frozen', payout, { ...bump, obligation: underWay, freezes: frozen }, sign],
  ['void, and frozen', payout, { ...bump, round: 'anew', obligation: underWay, freezes: frozen }, waits('frozen')],
  [
    'bump of a frozen wallet',
    sweep,
    { round: 'again', wallet: { frozenReason: 'x', openNonce: null } },
    waits('frozen'),
  ],
  ['bump behind a nonce', sweep, { round: 'again', wallet: { frozenReason: null, openNonce: 4 } }, waits('nonce 4')],
])('%s', (_rule, of, but, verdict) => {
  expect(maySign({ ...of, ...but })).toEqual(verdict);
});

describe('A10: addresses of the platform', () => {
  const platform: Partial<SignFacts> = { inside: sweptTo() };
  const treasury = { address: '0xsettle', role: 'treasury' as const, merchantId: 'shop' };

  it.each<Case>([
    ['a settlement that the seed derives', sweep, { ...platform, own: [...sweep.own, treasury] }, sign],
    ['a settlement that nobody derives', sweep, platform, wrong('may not send to 0xsettle')],
    [
      'a settlement at a deposit address',
      sweep,
      { ...platform, own: [...sweep.own, { ...treasury, role: 'deposit' }] },
      wrong('may not send to 0xsettle'),
    ],
    ['a forged treasury', payout, { forged: ['0xhot'] }, wrong('0xhot is registered as ours')],
    ['a forged change address', sweep, { forged: ['0xsettle'] }, wrong('0xsettle is registered as ours')],
    ['a bump to a forged address', payout, { ...bump, forged: ['0xhot'] }, wrong('0xhot is registered as ours')],
  ])('%s', (_rule, of, but, verdict) => {
    expect(maySign({ ...of, ...but })).toEqual(verdict);
  });
});

describe('transactions that expire', () => {
  const on = { height: 40, hash: 'b40', time: 1 };
  const done: TermsAnswer = {
    state: 'done',
    terms: { on, last: { height: 60 }, sequence: 7, feeLimit: 10n, mostUnits: 10n },
  };
  const open: ExpiringAttempt = {
    ...{ n: 1, txId: 't1', window: { from: 10, last: { height: 20 } }, status: 'sent', success: null, absence: null },
  };
  const proof = { txId: 't1', from: 10, through: { height: 20, hash: 'b20', time: 1 }, finalHeight: 20 };
  const dead: ExpiringAttempt = { ...open, status: 'expired', absence: proof };
  const expiry: ExpiryFacts = {
    ...{ givesUp: row, attempts: [], signed: [], ageSeconds: 0, isRefused: false, terms: done },
    wallet: { open: null, signedOn: null, sequence: null },
    before: [],
  };
  const first: SignFacts = { ...payout, price: null, expiry };
  const again: SignFacts = {
    ...first,
    ...{ round: 'anew', isSigned: true, obligation: underWay, intent: { ...first.intent, status: 'sent' } },
    expiry: { ...expiry, attempts: [dead], signed: [dead] },
  };
  const but = (over: Partial<ExpiryFacts>, of = again): Partial<SignFacts> => ({
    expiry: { ...(of.expiry as ExpiryFacts), ...over },
  });
  const wallet = (over: Partial<ExpiryFacts['wallet']>): Partial<SignFacts> =>
    but({ wallet: { ...expiry.wallet, ...over } });
  const foreign = (used: string) => ({
    ...{ state: 'foreign', sequence: 7 },
    reason: `Wallet ${intent.from_address}: somebody else has used ${used}`,
  });
  const lasts = 86_400;
  const short = { state: 'short', reason: 'no funds' } as const;
  /** It waits for its wallet alone. */
  const queued = (reason: string, behind: number) => ({ ...waits(reason), behind });
  const given = { state: 'dropped', reason: expect.stringContaining('expired'), isGivenUp: true };

  it.each<Case>([
    ['the first, without an estimate of the fee', first, {}, sign],
    [
      'what its transfer takes is not known',
      first,
      { intent: { ...intent, gas_limit: null } },
      { state: 'dropped', reason: 'its gas is not estimated yet' },
    ],
    ['it takes more than one may', first, { intent: { ...intent, gas_limit: '80001' } }, wrong('80001 gas is above')],
    ['another, where the first is void', again, {}, sign],
    ['not read', first, { expiry: 'unread' }, { state: 'ask', facts: 'wallet' }],
    ['open by its row', again, but({ attempts: [open] }), waits('t1 is open')],
    ['open by the signer’s record, whatever its row says', again, but({ signed: [open] }), waits('t1 is open')],
    ['mined', again, but({ attempts: [{ ...open, status: 'mined' }] }), waits('t1 is mined')],
    ['paid', again, but({ attempts: [{ ...open, status: 'final', success: true }] }), waits('t1 is paid')],
    [
      'a proof that does not reach',
      again,
      but({ signed: [{ ...dead, window: { from: 9, last: { height: 20 } } }] }),
      waits('t1 is open'),
    ],
    ['lost by a recovery, and never proven', first, but({ signed: [open] }, first), waits('t1 is open')],
    [
      'a node behind the proof',
      again,
      but({ terms: { ...done, terms: { ...done.terms, on: { ...on, height: 19 } } } as TermsAnswer }),
      waits('before block 20'),
    ],
    ['another of its wallet is open', again, wallet({ open: 't9' }), queued('t9 of its wallet is open', 0)],
    ['its wallet has signed on this block', again, wallet({ signedOn: 40 }), queued('has signed on block 40', 0)],
    [
      'another waited before it',
      first,
      but({ before: ['refund/r'] }, first),
      queued('refund/r waited for its wallet', 1),
    ],
    [
      'others waited before another attempt of it',
      again,
      but({ before: ['refund/r', 'leg/l'] }),
      queued('refund/r and 1 more waited for its wallet before it', 2),
    ],
    [
      'others wait before it, and its wallet is in use',
      again,
      but({ before: ['refund/r'], wallet: { ...expiry.wallet, open: 't9' } }),
      queued('t9 of its wallet is open', 1),
    ],
    [
      'its wallet is in use, and nothing holds what it is to move',
      again,
      but({ terms: short, wallet: { ...expiry.wallet, open: 't9' } }),
      waits('t9 of its wallet is open'),
    ],
    [
      'others wait before it, and nothing holds what it is to move',
      again,
      but({ terms: short, before: ['refund/r'] }),
      { ...waits('no funds'), cause: 'funds' },
    ],
    ['others wait before it, and it is given up', again, but({ before: ['refund/r'], ageSeconds: lasts }), given],
    [
      'others wait before it, and somebody else has used its account',
      again,
      but({ before: ['refund/r'], wallet: { ...expiry.wallet, sequence: 6 } }),
      foreign('its sequence 6'),
    ],
    ['its account is where ours have left it', again, wallet({ sequence: 7, signedOn: 39 }), sign],
    ['a node that lags', again, wallet({ sequence: 8 }), waits('lags')],
    ['a sequence used by others', again, wallet({ sequence: 6 }), foreign('its sequence 6')],
    ['sequences used by others', again, wallet({ sequence: 4 }), foreign('its sequence 4 to 6')],
    ['nothing holds it', again, but({ terms: short }), { ...waits('no funds'), cause: 'funds' }],
    [
      'it would fail',
      again,
      but({ terms: { state: 'fails', reason: 'no tag' } }),
      { ...waits('no tag'), cause: 'checked' },
    ],
    ['eight are void', again, but({ attempts: Array<ExpiringAttempt>(8).fill(dead) }), given],
    ['seven are void', again, but({ attempts: Array<ExpiringAttempt>(7).fill(dead) }), sign],
    ['two are void, and no block takes a third', again, but({ isRefused: true, attempts: [dead, dead] }), given],
    ['one is void, and no block takes another', again, but({ isRefused: true, attempts: [dead] }), sign],
    ['its time is over', again, but({ ageSeconds: lasts }), given],
    ['its time is not over', again, but({ ageSeconds: lasts - 1 }), sign],
    ['its time is over, and it is open', again, but({ ageSeconds: lasts, attempts: [open] }), waits('open')],
    [
      'its time is over, and the signer has proven nothing',
      again,
      but({ ageSeconds: lasts, signed: [open] }),
      waits('open'),
    ],
    ['its time is over, and nothing was signed', first, but({ ageSeconds: lasts }, first), sign],
    ['its row has ended', again, but({ givesUp: { state: 'ended' } }), given],
    ['money of our own goes on', again, but({ givesUp: null, ageSeconds: lasts }), sign],
    ['a stopped merchant', again, { stop: 'fraud' }, waits('held')],
    ['a frozen asset', again, { freezes: frozen }, waits('frozen')],
    ['a frozen wallet', again, { wallet: { frozenReason: 'x', openNonce: null } }, waits('frozen')],
    ['another amount than its row says', again, at({ outputs: [{ address: '0xaway', units: '6' }] }), wrong('amount')],
  ])('%s', (_rule, of, over, verdict) => {
    expect(maySign({ ...of, ...over })).toEqual(verdict);
  });
});

describe('destination tags', () => {
  let unregister: () => void;
  beforeAll(() => {
    unregister = register(tagChain.assets, tagChain.network);
  });
  afterAll(() => unregister());

  const output = { address: '0xaway', units: '5', tag: '7' };
  const { tag: _, ...untagged } = output;
  const tagged: SignFacts = {
    ...payout,
    intent: { ...intent, network: 'tagchain', currency: 'TAG', outputs: [output] },
    obligation: { ...payout.obligation!, currency: 'TAG', outputs: [output] },
  };
  const both = (outputs: SignFacts['intent']['outputs']): Partial<SignFacts> => ({
    intent: { ...tagged.intent, outputs },
    obligation: { ...tagged.obligation!, outputs: outputs as NonNullable<SignFacts['obligation']>['outputs'] },
  });
  const swept: SignFacts = {
    ...sweep,
    intent: { ...sweep.intent, network: 'tagchain', currency: 'TAG' },
    own: [...sweep.own, { address: '0xsettle', role: 'treasury', merchantId: 'shop' }],
  };

  const returned: SignFacts = {
    ...refund,
    intent: { ...refund.intent, network: 'tagchain', currency: 'TAG', outputs: [output] },
    obligation: { ...refund.obligation!, currency: 'TAG', outputs: [output] },
    own: [{ address: '0xd', role: 'treasury', merchantId: null }],
  };
  const ofOther = [{ ...refund.deposits[0]!, merchant_id: 'x' }];

  it.each<Case>([
    ['as its row says', tagged, {}, sign],
    ['a refund from the account of all', returned, {}, sign],
    ['a refund of what came with another’s tag', returned, { deposits: ofOther }, wrong('does not hold')],
    [
      'a refund from another address of ours',
      returned,
      { own: [{ ...returned.own[0]!, role: 'deposit' }] },
      wrong('does not hold'),
    ],
    ['another tag than its row says', tagged, at({ outputs: [{ ...output, tag: '8' }] }, tagged.intent), wrong('tag')],
    ['no tag, and its row has one', tagged, at({ outputs: [untagged] }, tagged.intent), wrong('needs a')],
    ['no tag, and its row has none', tagged, both([untagged]), wrong('TAG needs a destination tag')],
    ['a tag in another form', tagged, both([{ ...output, tag: '007' }]), wrong('not in the form')],
    ['no number', tagged, both([{ ...output, tag: 'seven' }]), wrong('a whole number up to 4294967295')],
    ['a tag that nothing carries', payout, at({ outputs: [output] }), wrong('ETH has no destination tags')],
    [
      'a bump with another tag',
      tagged,
      { ...bump, ...at({ outputs: [{ ...output, tag: '8' }] }, tagged.intent) },
      wrong('tag'),
    ],
    ['a sweep to an address of ours', swept, {}, sign],
    [
      'a sweep to an address of ours with a tag',
      swept,
      at({ outputs: [{ address: '0xsettle', units: null, tag: '7' }] }, swept.intent),
      wrong('is ours'),
    ],
  ])('%s', (_rule, of, but, verdict) => {
    expect(maySign({ ...of, ...but })).toEqual(verdict);
  });

  it('makes the outputs of a payout with the tags of its rows', () => {
    const line = { currency: 'TAG', address: '0xaway', net_amount: '0.000000000000000005', destination_tag: '7' };
    expect(outputsOf([line])).toEqual([output]);
  });
});

it('locks and changes nothing for what is not as it should be', () => {
  const unread = { limitUse: 'open', wallet: 'unread', price: 'unread' } as const;
  expect(maySign({ ...payout, ...unread, ...at({ from_address: '0xd' }) })).toEqual(wrong('does not hold'));
  expect(maySign({ ...payout, ...unread, freezes: frozen })).toEqual(waits('frozen'));
  expect(maySign({ ...payout, ...unread })).toEqual({ state: 'ask', facts: 'limits' });
  expect(maySign({ ...payout, ...unread, limitUse: 'used' })).toEqual({ state: 'ask', facts: 'wallet' });
});

it('moves of a batch the payments whose deposits are all in place', () => {
  const of = {
    ...batch.intent,
    outputs: [
      { address: 'a', units: null },
      { address: 'b', units: '9' },
    ],
  } as IntentRow;
  const shares = [share('7', '4'), share('8', '5')];
  const part = (deposits: SignFacts['deposits'], frozenWallets: string[] = []) => {
    const { deposit_ids, outputs } = movablePart(
      of,
      shares,
      deposits,
      new Map(frozenWallets.map((address) => [address, 'a test'])),
    );
    return [deposit_ids, outputs[1]!.units];
  };
  expect(part(batch.deposits)).toEqual([['7', '8'], '9']);
  expect(part([deposit, { ...batch.deposits[1]!, allocation: 'own' }])).toEqual([['7'], '4']);
  expect(part(batch.deposits, ['0xd'])).toEqual([['8'], '5']);
});

it.each([
  ['within its limits', { price: { unitPrice: '100', dataPart: '0' }, feeUnits: 1000n, neededUnits: 9n }, 'pay'],
  ['above its cap', { price: { unitPrice: '101', dataPart: '0' }, feeUnits: 1000n, neededUnits: 9n }, 'capped'],
  ['above its budget', { price: { unitPrice: '100', dataPart: '0' }, feeUnits: 1001n, neededUnits: 9n }, 'capped'],
  ['no more than its data', { price: { unitPrice: '90', dataPart: '90' }, feeUnits: 1000n, neededUnits: 9n }, 'capped'],
  ['more than is there', { price: { unitPrice: '100', dataPart: '0' }, feeUnits: 1000n, neededUnits: 10n }, 'short'],
])('costs: %s', (_what, cost, state) => {
  const limits = { maxUnitPrice: '100', feeBudget: '1000' };
  expect(mayCost({ limits, from: '0xhot', heldUnits: 9n, ...cost })).toMatchObject({ state });
  if (state === 'short') expect(mayCost({ limits, from: '0xhot', heldUnits: null, ...cost })).toEqual({ state: 'pay' });
});
