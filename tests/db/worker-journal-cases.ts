import type { DatabaseRole } from '../../db/roles/roles';
import * as journals from '../../domain/ledger/ledger';
import * as lightning from '../../domain/ledger/lightning';
import { onAccountJournal } from '../../domain/ledger/on-account';
import * as differing from '../../domain/ledger/differing';
import * as lost from '../../domain/ledger/lost';
import * as fees from '../../domain/ledger/network-fees';
import * as unclaimed from '../../domain/ledger/unclaimed';
import * as unexplained from '../../domain/ledger/unexplained';

/** The journals that workers post, each with what its rows must say. worker-rows.ts has the rows. */

export type Journal = journals.Journal;
export type Case = Readonly<{
  name: string;
  by: Extract<DatabaseRole, 'payments' | 'chain' | 'signer'>;
  journal: Journal;
  /** Makes it due; null: its rows always say so, or it touches no merchant. */
  due: string | null;
  /** After which a reorganisation may take it back; null: nothing ever does. */
  gone: string | null;
  /** It stays as long as its transaction is final. */
  isThere?: true;
}>;

export const id = (n: number): string => n.toString(16).padStart(24, '0');
export const [shop, other] = [id(1), id(2)];
export const [paid, own, swapped, given] = [id(3), id(4), id(5), id(6)];
export const held = { withdrawal: id(7), refund: id(8), leg: id(9) } as const;
export const [back, batch, shared] = [id(10), id(11), id(12)];
/** A payment at the account that payments share. */
export const onAccount = id(14);
/** A payment that is paid by Lightning. */
export const bolt = id(13);
export const sweepOf = { paid: '1', own: '2', many: '3' };
/** Invoices of Lightning: one settles a payment, the other's money waits. */
export const invoices = { settles: 'a1'.repeat(32), waits: 'a2'.repeat(32) } as const;
export const intents = { withdrawal: '4', refund: '5', leg: '6', back: '7', shared: '8' };

const final = (intent: string, success = true): string =>
  `UPDATE attempt SET status = 'final', success = ${success} WHERE intent_id = ${intent}`;
const sent = (intent: string): string =>
  `UPDATE attempt SET status = 'sent', success = NULL WHERE intent_id = ${intent}`;
const deposit = (n: number, status: string): string => `UPDATE deposit SET status = '${status}' WHERE id = ${n}`;

const ref = (n: number): journals.DepositRef & { merchantId: string } => ({
  network: 'ethereum',
  txId: `0x${n}`,
  index: 0,
  currency: 'ETH',
  amount: '1',
  merchantId: shop,
});
export const hold = (kind: keyof typeof held): journals.Hold => ({
  kind,
  id: held[kind],
  merchantId: shop,
  currency: 'ETH',
  gross: '2.5',
});
export const exchange = {
  id: swapped,
  merchantId: shop,
  fromCurrency: 'ETH',
  toCurrency: 'USDT_ERC20',
  fromAmount: '3',
  commission: '1',
  net: '2',
} as const;
const native = { native: 'ETH', chainFee: '0.01' } as const;

const ofDeposits: Case[] = [
  {
    name: 'depositJournal',
    by: 'payments',
    journal: journals.depositJournal(ref(1)),
    due: deposit(1, 'confirmed'),
    gone: deposit(1, 'orphaned'),
  },
  {
    name: 'unallocatedJournal',
    by: 'payments',
    journal: journals.unallocatedJournal(ref(2)),
    due: deposit(2, 'confirmed'),
    gone: deposit(2, 'orphaned'),
  },
  ...(['unsettled', 'unallocated'] as const).map((from, n): Case => ({
    name: 'reallocateJournal',
    by: 'payments',
    journal: journals.reallocateJournal({ ...ref(n + 1), from }),
    due: null,
    gone: deposit(n + 1, 'orphaned'),
  })),
  {
    name: 'unclaimedJournal',
    by: 'chain',
    journal: unclaimed.unclaimedJournal(ref(3)),
    due: deposit(3, 'confirmed'),
    gone: deposit(3, 'orphaned'),
  },
  {
    name: 'settleJournal',
    by: 'payments',
    journal: journals.settleJournal({
      paymentId: paid,
      merchantId: shop,
      currency: 'ETH',
      net: '0.8',
      commission: '0.1',
      network: '0.1',
      txId: '0x4',
    }),
    due: `${final(sweepOf.paid)}; UPDATE payment SET status = 'SETTLED' WHERE id = '${paid}';
          UPDATE deposit SET status = 'confirmed', allocation = 'settled' WHERE id = 4`,
    gone: null,
  },
  {
    name: 'onAccountJournal',
    by: 'payments',
    journal: onAccountJournal({ id: onAccount, currency: 'ETH', amount: '1' }),
    due: `UPDATE payment SET status = 'SETTLED' WHERE id = '${onAccount}';
          UPDATE deposit SET status = 'confirmed', allocation = 'settled' WHERE id = 6`,
    gone: null,
  },
  {
    name: 'settleJournal',
    by: 'payments',
    journal: journals.settleJournal({
      paymentId: onAccount,
      merchantId: shop,
      currency: 'ETH',
      net: '0.9',
      commission: '0.1',
      network: '0',
      txId: '0x6',
    }),
    due: null,
    gone: null,
  },
  ...[sweepOf.own, `${sweepOf.many}/${own}`].map((of): Case => ({
    name: 'externalSweepJournal',
    by: 'payments',
    journal: journals.externalSweepJournal({
      ref: of,
      currency: 'ETH',
      ...native,
      merchantId: shop,
      paymentId: own,
      net: '0.9',
      feePart: '0.1',
    }),
    due: final(of.split('/')[0]!),
    gone: sent(of.split('/')[0]!),
    isThere: true,
  })),
];

const ofLightning: Case[] = (['unsettled', 'unallocated'] as const).map((allocation): Case => {
  const hash = allocation === 'unsettled' ? invoices.settles : invoices.waits;
  const taken = { hash, merchantId: shop, currency: 'BTC', takenMsat: 1_500_000_999n };
  return {
    name: 'lightningJournal',
    by: 'chain',
    journal: lightning.lightningJournal({ ...taken, allocation }),
    due: `UPDATE lightning_invoice SET state = 'taken', taken_msat = 1500000999, over_at = now()
           WHERE hash = '${hash}'`,
    gone: null,
  };
});
const lightningSettlement: Case = {
  name: 'settleJournal',
  by: 'chain',
  journal: journals.settleJournal({
    paymentId: bolt,
    merchantId: shop,
    currency: 'BTC',
    net: '0.0149',
    commission: '0.0001',
    network: '0',
    txId: invoices.settles,
  }),
  due: `UPDATE payment SET status = 'SETTLED' WHERE id = '${bolt}'`,
  gone: null,
};

const ofHolds = (['withdrawal', 'refund', 'leg'] as const).flatMap((kind): Case[] => {
  const row = (status: string): string =>
    `UPDATE ${kind === 'leg' ? 'payout_leg' : kind} SET status = '${status}' WHERE id = '${held[kind]}'`;
  return [
    { name: 'holdJournal', by: 'payments', journal: journals.holdJournal(hold(kind)), due: null, gone: null },
    {
      name: 'gasFeeJournal',
      by: 'payments',
      journal: fees.gasFeeJournal({ ...hold(kind), amount: '0.1', gasLimit: '90000' }),
      due: null,
      gone: '',
    },
    {
      name: 'captureJournal',
      by: 'payments',
      journal: journals.captureJournal({ ...hold(kind), net: '2', ...native, gasFrom: 'A:treasury', txId: '0xt' }),
      due: `${final(intents[kind])}; ${row('completed')}`,
      gone: `${sent(intents[kind])}; ${row('broadcast')}`,
      isThere: true,
    },
    {
      name: 'releaseJournal',
      by: 'payments',
      journal: journals.releaseJournal(hold(kind)),
      due: `${final(intents[kind], false)}; ${row('failed')}`,
      gone: `${sent(intents[kind])}; ${row('broadcast')}`,
    },
    {
      name: 'revertFeeJournal',
      by: 'payments',
      journal: fees.revertFeeJournal({ ...hold(kind), amount: '0.01', txId: '0xt' }),
      due: null,
      gone: '',
    },
  ];
});

const ofConversions: Case[] = [
  {
    name: 'acceptConversionJournal',
    by: 'payments',
    journal: journals.acceptConversionJournal(exchange),
    due: null,
    gone: null,
  },
  {
    name: 'completeConversionJournal',
    by: 'payments',
    journal: journals.completeConversionJournal({ ...exchange, received: '6' }),
    due: `${deposit(5, 'confirmed')}; UPDATE conversion SET status = 'completed' WHERE id = '${swapped}'`,
    gone: null,
  },
  {
    name: 'failConversionJournal',
    by: 'payments',
    journal: journals.failConversionJournal({ ...exchange, id: given }),
    due: `UPDATE conversion SET status = 'failed' WHERE id = '${given}'`,
    gone: null,
  },
  {
    name: 'depositRefundJournal',
    by: 'payments',
    journal: journals.depositRefundJournal({ ...hold('refund'), id: back, net: '2', ...native }),
    due: final(intents.back),
    gone: sent(intents.back),
    isThere: true,
  },
];

/** What touches no merchant. */
const ofThePlatform: Case[] = (
  [
    ['sweepJournal', 'payments', journals.sweepJournal({ ref: '21', currency: 'ETH', ...native, moved: '1' })],
    ['sweepJournal', 'payments', journals.sweepJournal({ ref: `22/${paid}`, currency: 'ETH', ...native, moved: '1' })],
    ['gasJournal', 'payments', journals.gasJournal({ intentId: '23', ...native, value: '1', to: 'A:deposit' })],
    ['feeJournal', 'payments', journals.feeJournal({ txId: '0xf', ...native, from: 'A:treasury' })],
    [
      'feeChangeJournal',
      'payments',
      journals.feeChangeJournal({
        key: journals.feeChangeKey({ txId: '0xf', blockHash: '0xb' }),
        native: 'ETH',
        before: '1',
        now: '2',
        from: 'A:gas',
      }),
    ],
    ['feeGoneJournal', 'chain', journals.feeGoneJournal({ of: 'sweep/21', ...native, from: 'A:deposit' })],
    [
      'fundConversionJournal',
      'payments',
      journals.fundConversionJournal({ id: given, currency: 'ETH', amount: '1', ...native }),
    ],
    ...(['1', '-1'] as const).map(
      (amount, n) =>
        [
          'swapLossJournal',
          'payments',
          journals.swapLossJournal({ id: given, step: n + 1, currency: 'ETH', amount }),
        ] as const,
    ),
    ['capitalJournal', 'chain', journals.capitalJournal({ ...ref(31), to: 'A:gas', from: 'Q:capital' })],
    ['capitalJournal', 'chain', journals.capitalJournal({ ...ref(32), to: 'A:treasury', from: 'A:provider' })],
    ['lossJournal', 'payments', journals.lossJournal({ ...ref(33), paymentId: paid, from: 'A:treasury' })],
    [
      'lostJournal',
      'payments',
      lost.lostJournal({
        intentId: '24',
        currency: 'ETH',
        ...native,
        from: 'A:deposit',
        feeFrom: 'A:deposit',
        moves: [{ to: 'A:treasury', amount: '1' }],
      }),
    ],
    [
      'differingJournal',
      'chain',
      differing.differingJournal({
        ...{ txId: '0xf', blockHash: '0xb', decision: 'failed', currency: 'ETH' },
        corrections: new Map([
          ['A:treasury', 2n],
          ['A:deposit', -3n],
        ]),
      }),
    ],
    ...(['1', '-1'] as const).map(
      (amount) =>
        [
          'unexplainedJournal',
          'payments',
          unexplained.unexplainedJournal({ key: `ETH/${amount}`, currency: 'ETH', amount }),
        ] as const,
    ),
  ] as const
).map(([name, by, journal]) => ({ name, by, journal, due: null, gone: '' }));

export const cases = [
  ...ofDeposits,
  ...ofLightning,
  lightningSettlement,
  ...ofHolds,
  ...ofConversions,
  ...ofThePlatform,
];
/** The API alone posts these, but for the second: that needs a payment that the signer has decided, and has its
 *  forgeries in tests/api/lightning-withdrawals.test.ts. */
export const byOthers = [
  ...['internalConversionJournal', 'lightningCaptureJournal', 'lightningCapitalJournal', 'lightningClaimJournal'],
];
