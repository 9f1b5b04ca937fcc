import type { OptionalNetwork } from '../../sandbox/stack/networks';
import type { Fault } from '../faults/rpc-proxy';
import { currenciesWith, nodesWith, type Misled } from './networks';
import { Random } from './random';
import type { Stage } from './stage';
import * as conversion from './scenarios/conversion';
import * as lightning from './scenarios/lightning';
import * as payment from './scenarios/payment';
import * as payoutBatch from './scenarios/payout-batch';
import * as refund from './scenarios/refund';
import * as withdrawal from './scenarios/withdrawal';

const scenarios = {
  payments: payment.scenario,
  withdrawals: withdrawal.scenario,
  batches: payoutBatch.scenario,
  conversions: conversion.scenario,
  refunds: refund.scenario,
  lightning: lightning.scenario,
} as const;
export type Kind = keyof typeof scenarios;
const all = Object.keys(scenarios) as Kind[];
/** What a run can do. */
export const kindsWith = (byLightning: boolean): Kind[] => all.filter((kind) => byLightning || kind !== 'lightning');

/** `networks`: beside Bitcoin and Ethereum. */
export type Ask = Readonly<{
  seed: number;
  runs: number;
  minutes: number;
  only: readonly Kind[];
  networks: readonly OptionalNetwork[];
  lightning: boolean;
}>;
type Drawn = Readonly<{ what: string; startAfterMs: number; live: (stage: Stage) => Promise<void> }>;
export type Kill = Readonly<{ atMs: number; victim: string; downMs: number }>;
export type Mischief = Readonly<{
  atMs: number;
  node: Misled;
  fault: Fault;
  methods: readonly string[];
  forMs: number;
}>;
export type Plan = Readonly<{ runs: readonly Drawn[]; kills: readonly Kill[]; mischief: readonly Mischief[] }>;

const ourProcesses = ['payments-1', 'chain-1', 'signer-1', 'api-1'];
export function victimsWith(networks: readonly OptionalNetwork[], byLightning: boolean): string[] {
  const nodes = [...nodesWith(networks).keys(), ...(byLightning ? ['lnd', 'lnd-payer'] : [])];
  return [...ourProcesses, 'temporal', 'postgres', 'swap', ...nodes];
}

/** How transactions are sent, by what each kind of node calls it; to a Lightning node, what moves money. */
const sending = [
  ...['sendrawtransaction', 'eth_sendRawTransaction', 'submit', 'broadcasthex'],
  ...['send', 'hodl', 'settle', 'cancel'],
];
/** What lnd says to a macaroon that it does not take. */
const strangeMacaroon = JSON.stringify({ code: 2, message: 'verification failed: signature mismatch', details: [] });

/** What `seed` stands for: what is done, who is killed and what nodes get wrong, drawn before anything starts. */
export function planOf({ seed, runs, minutes, only, networks, lightning: byLightning }: Ask): Plan {
  const random = new Random(seed);
  const span = minutes * 60_000;
  const currencies = currenciesWith(networks);
  const victims = victimsWith(networks, byLightning);
  const drawn = Array.from({ length: runs }, (_, n): Drawn => {
    const kind = only[n % only.length]!;
    const startAfterMs = random.whole(0, Math.round(span * 0.7));
    return { startAfterMs, ...scenarios[kind](random, `${seed}/${kind}/${n}`, currencies) };
  });
  const kills: Kill[] = [];
  // Each victim at least once, then by chance.
  for (let at = 3000; at < span * 0.95; at += random.whole(3000, 8000))
    kills.push({ atMs: at, victim: victims[kills.length] ?? random.pick(victims), downMs: random.whole(200, 2500) });
  const misled: Misled[] = [...nodesWith(networks).values(), ...(byLightning ? (['lightning'] as const) : [])];
  const mischief = misled.flatMap((node) => mischiefOf(random, node, span));
  return { runs: drawn, kills, mischief };
}

/** What a node gets wrong: one thing at a time, what we send for longer, since it is little. */
function mischiefOf(random: Random, node: Misled, span: number): Mischief[] {
  const mischief: Mischief[] = [];
  for (let at = 2000; at < span * 0.95; at += random.whole(2000, 8000)) {
    const faults: ReadonlyArray<readonly [Fault, readonly string[]]> = [
      [{ kind: 'dropAfter' }, sending],
      [{ kind: 'status', status: 503, after: true }, sending],
      [{ kind: 'duplicate' }, sending],
      [{ kind: 'dropBefore' }, sending],
      [{ kind: 'dropAfter' }, []],
      [{ kind: 'status', status: 500 }, []],
      [{ kind: 'delay', ms: random.whole(200, 2000) }, []],
      ...(node === 'lightning' ? ([[{ kind: 'status', status: 500, text: strangeMacaroon }, []]] as const) : []),
    ];
    const [fault, methods] = random.pick(faults);
    const forMs = methods.length ? random.whole(3000, 10_000) : random.whole(1000, 4000);
    mischief.push({ atMs: at, node, fault, methods, forMs });
    at += forMs;
  }
  return mischief;
}
