import { setTimeout as sleep } from 'node:timers/promises';
import { readInvoice } from '../../../chains/lightning/invoice';
import { lightningCurrency } from '../../../domain/lightning/currency';
import { fromUnits } from '../../../domain/money';
import { finals, type Invoice } from '../../world';
import type { Random } from '../random';
import { patienceMs, plain, type Stage } from '../stage';
import { cancelByPayer } from './cancel';
import type { Draw } from './lightning-draw';

/** Payments by Lightning: how they are paid, and where they must end. */

/** Pays one invoice; whether its money was taken. */
type Pays = (text: string) => Promise<boolean>;
/** How it ends where nobody paid. */
type Unpaid = 'CANCELLED' | 'EXPIRED';

const bitcoinIn = (msat: bigint): string => plain(parseFloat(fromUnits(msat / 1000n, 8)));

/** A payment with its invoice; where our node is away none is made, and it is asked again. */
export const opened = (stage: Stage, amount: number, expiresIn = 3600): Promise<Invoice> =>
  stage.again(() => stage.world.invoice(stage.shop, { amount, currency: lightningCurrency, expiresIn }));

/** Pays what the payment shows, again where the money came back, until it is taken or the payment is over. */
async function paidUntilOver(stage: Stage, { id }: Invoice, pays: Pays): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(500)) {
    const now = await stage.world.payment(stage.shop, id).catch(() => null);
    if (!now) continue;
    if (finals.includes(now.status) || (now.publicKey && (await pays(now.publicKey)))) return;
  }
  throw new Error(`payment ${id} is not paid by Lightning`);
}

/** Paid as it is settled: `paid`, or the whole price; unpaid it ends otherwise. */
async function endsFitly(stage: Stage, invoice: Invoice, unpaid: Unpaid): Promise<void> {
  const last = await stage.world.sees(stage.shop, invoice.id, finals, { ms: patienceMs });
  const isPaid = last.status === 'SETTLED';
  return stage.settles(invoice, isPaid ? 'SETTLED' : unpaid, isPaid ? plain(invoice.amount) : '0');
}

const dollars = (random: Random): number => random.whole(20, 90);
const placeOf = (random: Random): string =>
  `10.${random.whole(0, 255)}.${random.whole(0, 255)}.${random.whole(1, 254)}`;

/** `asked` times `share`, to the satoshi. */
const shareOf = (text: string, percent: number): bigint => {
  const asked = readInvoice(text).amountMsat!;
  return (((asked / 1000n) * BigInt(percent)) / 100n) * 1000n;
};

/** Paid to its end, in a way that is drawn: `msat` tells what of it must be settled. */
const wholly =
  (draw: (random: Random) => Readonly<{ says: string; pays: (stage: Stage) => Pays; percent?: number }>): Draw =>
  (random) => {
    const amount = dollars(random);
    const { says, pays, percent = 100 } = draw(random);
    return {
      says: `${amount} USD${says}`,
      async live(stage) {
        const invoice = await opened(stage, amount);
        let paid = '';
        await paidUntilOver(stage, invoice, async (text) => {
          const isTaken = await pays(stage)(text);
          if (isTaken) paid = bitcoinIn(shareOf(text, percent));
          return isTaken;
        });
        return stage.settles(invoice, 'SETTLED', paid);
      },
    };
  };

const paid = wholly(() => ({
  says: '',
  pays:
    ({ lightning }) =>
    (text) =>
      lightning!.payer.pays(text),
}));

const inParts = wholly((random) => {
  const parts = random.whole(2, 4);
  return {
    says: ` in ${parts} parts`,
    pays:
      ({ lightning }) =>
      (text) =>
        lightning!.payer.pays(text, { parts }),
  };
});

const over = wholly((random) => {
  const percent = random.whole(101, 199);
  const pays =
    ({ lightning }: Stage): Pays =>
    (text) =>
      lightning!.payer.pays(text, { amountMsat: shareOf(text, percent) });
  return { says: `, ${percent} % of it`, pays, percent };
});

/** Too little is refused, and the whole price is paid then. */
const under = wholly((random) => {
  const percent = random.whole(1, 99);
  const pays =
    (stage: Stage): Pays =>
    async (text) => {
      const { payer } = stage.lightning!;
      if (await payer.pays(text, { amountMsat: shareOf(text, percent) }))
        stage.problems.push(`${percent} % of an invoice were taken`);
      return payer.pays(text);
    };
  return { says: `, ${percent} % of it first`, pays };
});

/** Two hurried payers with one node: it pays an invoice once, whoever asks. */
const twice = wholly(() => ({
  says: ' by two at once',
  pays:
    ({ lightning }) =>
    async (text) => {
      const both = await Promise.all([lightning!.payer.pays(text), lightning!.payer.pays(text)]);
      return both.some(Boolean);
    },
}));

/** Two parts that come on their own; where the second is missing, the first is held until the payment is cancelled. */
const shards: Draw = (random) => {
  const amount = dollars(random);
  const percent = random.whole(10, 90);
  const pauseMs = random.whole(0, 5000);
  const isWhole = random.next() < 0.6;
  const place = placeOf(random);
  return {
    says: `${amount} USD, ${percent} % of it, ${isWhole ? `the rest after ${pauseMs} ms` : 'and no more'}`,
    async live(stage) {
      const { payer } = stage.lightning!;
      const invoice = await opened(stage, amount);
      const all = shareOf(invoice.address, 100);
      const part = shareOf(invoice.address, percent);
      // One may not leave, or come back: the other is then sent back too, and the payment is given up.
      const sends = (msat: bigint): Promise<void> => payer.sendsPart(invoice.address, msat).catch(() => undefined);
      const first = sends(part);
      await sleep(pauseMs);
      const second = isWhole ? sends(all - part) : first;
      await Promise.race([Promise.all([first, second]), sleep(20_000)]);
      await cancelByPayer(stage, invoice, place);
      return endsFitly(stage, invoice, 'CANCELLED');
    },
  };
};

/** Cancelled by one payer while another pays: the money is taken, or it comes back. */
const cancelledMeanwhile: Draw = (random) => {
  const amount = dollars(random);
  const afterMs = random.whole(0, 1500);
  const place = placeOf(random);
  return {
    says: `${amount} USD after ${afterMs} ms`,
    async live(stage) {
      const invoice = await opened(stage, amount);
      const pays = stage.lightning!.payer.pays(invoice.address);
      await sleep(afterMs);
      await cancelByPayer(stage, invoice, place);
      const isTaken = await pays;
      await endsFitly(stage, invoice, 'CANCELLED');
      return agrees(stage, invoice, isTaken);
    },
  };
};

/** About when it expires. */
const late: Draw = (random) => {
  const amount = dollars(random);
  const beforeMs = random.whole(-1500, 3000);
  return {
    says: `${amount} USD ${beforeMs} ms before its end`,
    async live(stage) {
      const invoice = await opened(stage, amount, 60);
      const [{ left } = { left: 0 }] = await stage.read<{ left: number }>(
        'SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 * 1000 AS left FROM payment WHERE id = $1',
        [invoice.id],
      );
      await sleep(Math.max(0, left - beforeMs));
      const isTaken = await stage.lightning!.payer.pays(invoice.address);
      await endsFitly(stage, invoice, 'EXPIRED');
      return agrees(stage, invoice, isTaken);
    },
  };
};

/** The payer's node and the payment say the same. */
async function agrees(stage: Stage, invoice: Invoice, isTaken: boolean): Promise<void> {
  const { status } = await stage.again(() => stage.world.payment(stage.shop, invoice.id));
  if ((status === 'SETTLED') !== isTaken)
    stage.problems.push(`payment ${invoice.id} is ${status}, and its payer was ${isTaken ? '' : 'not '}charged`);
}

const unpaid: Draw = (random) => {
  const amount = dollars(random);
  return {
    says: `${amount} USD`,
    live: async (stage) => stage.settles(await opened(stage, amount, 60), 'EXPIRED', '0'),
  };
};

export const incoming: Readonly<Record<string, Draw>> = {
  ...{ paid, 'paid in parts': inParts, 'paid over': over, 'paid under first': under, 'paid twice': twice },
  ...{ 'paid by hand': shards, 'cancelled while paid': cancelledMeanwhile, 'paid late': late, 'left unpaid': unpaid },
};
