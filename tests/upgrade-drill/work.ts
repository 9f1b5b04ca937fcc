import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/codecs';
import { parseConfig } from '../../domain/config';
import type { Invoice } from '../world';
import type { Drill } from './drill';

/** Something that is under way while the service is upgraded: how far it has come before, what takes it on after, and
 *  how it must end. */
export type Work = Readonly<{
  what: string;
  before: string;
  end: string;
  status: () => Promise<string>;
  goOn?: () => Promise<unknown>;
}>;

type Opened = (drill: Drill) => Promise<Work>;

/** A payment as `pay` leaves it, which answers what takes it on. */
async function payment(
  drill: Drill,
  { currency, what, before }: Readonly<{ currency: string; what: string; before: string }>,
  pay: (invoice: Invoice) => Promise<(() => Promise<unknown>) | void>,
): Promise<Work> {
  const invoice = await drill.invoice(currency);
  const goOn = (await pay(invoice)) ?? undefined;
  const status = async (): Promise<string> => (await drill.read(`/api/v1/payments/${invoice.id}`)).status;
  return { what, before, end: 'SETTLED', status, ...(goOn ? { goOn } : {}) };
}

const unpaid: Opened = (drill) =>
  payment(drill, { currency: 'ETH', what: 'an unpaid payment', before: 'WAITING' }, async (invoice) => () => {
    return drill.pays(invoice, invoice.amount);
  });

const inPart: Opened = (drill) =>
  payment(drill, { currency: 'BTC', what: 'a part', before: 'PARTIALLY_PAID' }, async (invoice) => {
    await drill.pays(invoice, 0.0001);
    return async () => drill.pays(invoice, (await drill.read(`/api/v1/payments/${invoice.id}`)).amountRemaining);
  });

const unconfirmed: Opened = (drill) =>
  payment(drill, { currency: 'BTC', what: 'a payment that no block has', before: 'CONFIRMING' }, (invoice) =>
    drill.pays(invoice, invoice.amount),
  );

const unswept: Opened = (drill) =>
  payment(drill, { currency: 'USDT_ERC20', what: 'a sweep', before: 'SWEEP_QUEUED' }, (invoice) =>
    drill.pays(invoice, invoice.amount),
  );

const otherCoin: Opened = (drill) =>
  payment(drill, { currency: 'ETH', what: 'another coin', before: 'CROSS_CHAIN_PENDING' }, async (invoice) => {
    await drill.pays({ ...invoice, currency: 'USDT_ERC20' }, 45);
    return () => drill.ann.post(`/api/v1/payments/${invoice.id}/accept-cross-chain`, { confirm: true });
  });

const refund: Opened = async (drill) => {
  const { id } = await drill.settled('ETH', 40);
  const made = await drill.post(`/api/v1/payments/${id}/refunds`, { type: 'full', address: addressOf(drill, 'ETH') });
  return {
    what: 'a refund that waits for approval',
    before: 'awaiting_approval',
    end: 'completed',
    status: async () => (await drill.read(`/api/v1/refunds/${made._id}`)).status,
    goOn: async () => drill.ann.post(`/api/v1/refunds/${made._id}/approve`, { totpCode: await drill.ann.totpCode() }),
  };
};

const conversion: Opened = async (drill) => {
  const asked = { fromCurrency: 'BTC', toCurrency: 'ETH', fromAmount: '0.002' };
  const made = await drill.post('/api/v1/conversions', asked);
  return {
    what: 'a conversion by the provider',
    before: 'processing',
    end: 'completed',
    status: async () => (await drill.read(`/api/v1/conversions/${made._id}`)).status,
  };
};

/** To two addresses of a whitelist: a withdrawal to the first, a mass payout to both. */
const moneyOut = async (drill: Drill): Promise<Work[]> => {
  const { ann } = drill;
  const entry = async (currency: 'ETH' | 'BTC') => {
    const address = addressOf(drill, currency);
    const emailCode = await ann.emailCode('/api/v1/whitelist/send-email-code');
    const { body } = await ann.post('/api/v1/whitelist/wallet', { currency, address, emailCode });
    return { currency, address, id: body.data.id as string };
  };
  const [eth, btc] = [await entry('ETH'), await entry('BTC')];
  const withdrawal = await ann.post('/api/v1/withdrawals', {
    ...{ currency: 'ETH', amount: '0.02', feeMode: 'add', whitelistId: eth.id, idempotencyKey: 'before-the-upgrade' },
    emailCode: await ann.emailCode('/api/v1/withdrawals/send-email-code'),
  });
  const rows = [
    { currency: 'ETH', address: eth.address, amount: '0.01' },
    { currency: 'BTC', address: btc.address, amount: '0.001' },
  ];
  const payout = await ann.post('/api/v1/mass-payouts', { rows, totpCode: await ann.totpCode() });
  const of = (what: string, path: string, before: string): Work => ({
    ...{ what, before, end: 'completed', status: async () => (await ann.call('GET', path)).body.data.status },
  });
  return [
    of('a withdrawal', `/api/v1/withdrawals/${withdrawal.body.data._id}`, 'broadcast'),
    of('a mass payout', `/api/v1/mass-payouts/${payout.body.data._id}`, 'processing'),
  ];
};

const webhook: Opened = async (drill) => {
  const { endpoint } = drill;
  await drill.invoice('ETH', 20, { ipnCallbackUrl: endpoint.url });
  return {
    what: 'an event that a merchant refuses',
    before: 'refused',
    end: 'delivered',
    status: async () => {
      if (endpoint.taken.some((id) => endpoint.refused.includes(id))) return 'delivered';
      return endpoint.refused.length ? 'refused' : 'pending';
    },
    goOn: async () => void (endpoint.isWell = true),
  };
};

/** Work of every kind, none of it at its end. Mines what it needs itself; from its return on no block is made before
 *  the caller makes one. */
export async function openWork(drill: Drill): Promise<Work[]> {
  const { world, miner } = drill;
  const held = [await refund(drill), await webhook(drill)];
  await miner.stop();
  const seen = [await unpaid(drill), await otherCoin(drill), await unswept(drill)];
  for (let block = 0; block < 6; block += 1) await world.payer.mine('ETH');
  await reach(drill, [...held, ...seen]);
  const sent = [await inPart(drill), await unconfirmed(drill), await conversion(drill), ...(await moneyOut(drill))];
  await reach(drill, sent);
  return [...held, ...seen, ...sent];
}

async function reach(drill: Drill, works: readonly Work[]): Promise<void> {
  for (const { what, before, status } of works)
    await drill.world.until(`${what} is ${before}`, async () => (await status()) === before);
}

/** Of somebody outside. */
function addressOf(drill: Drill, currency: 'ETH' | 'BTC'): string {
  const { bitcoin, ethereum } = createCodecs(parseConfig(drill.world.stack.env).chain);
  const codec = currency === 'BTC' ? bitcoin : ethereum;
  return codec.derive(codec.extendedKey(randomBytes(64), 'deposit'), 0);
}
