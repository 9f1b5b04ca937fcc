import { assetOf, networkOf } from '../../../domain/chains/assets';
import { compare, subtract, times } from '../../../domain/money';
import type { Deposits } from './deposits';
import type { Order, ProviderFault } from './orders';
import type { Payouts } from './payouts';
import { byTicker, payoutFee, type Prices } from './prices';

const nineTenths = (amount: string, currency: string): string =>
  times(amount, '0.9', Math.min(8, assetOf(currency).decimals), 'down');

const otherOnSameNetwork = (currency: string): string =>
  Object.values(byTicker).find((one) => one !== currency && networkOf(one).id === networkOf(currency).id)!;

/** What the provider sends: a payout, or the deposit back less its fee. */
function paymentsOf({ send }: Payouts) {
  const pay = async (order: Order, currency: string, amount: string): Promise<void> => {
    order.payoutHashes.push(await send(order, currency, order.payoutAddress, amount));
  };
  const payOnce = async (order: Order, currency: string, amount: string): Promise<void> => {
    if (!order.payoutHashes.length) await pay(order, currency, amount);
  };
  async function refund(order: Order): Promise<void> {
    if (order.refundHash) return;
    const amount = subtract(order.received!, payoutFee[order.from]!);
    order.refundHash = await send(order, order.from, order.refundAddress, amount);
    order.refundAmount = amount;
    order.status = 'refunded';
  }
  return { pay, payOnce, refund };
}
type Payments = ReturnType<typeof paymentsOf>;

/** What each fault does instead of a payout, with the amount that is due: true where no payout follows. */
type Faults = Partial<Record<ProviderFault, (order: Order, due: string) => boolean | Promise<boolean>>>;

function faultsOf({ pay, payOnce, refund }: Payments): Faults {
  /** Says `status` until the order is released; true while the payout waits. */
  const holds = (order: Order, status: string): boolean => {
    order.status = status;
    return !order.released;
  };

  return {
    silent: (order) => !order.released,
    late: (order) => holds(order, 'finished'),
    twice: async (order, due) => {
      if (order.released && order.payoutHashes.length === 1) await pay(order, order.to, due);
      return false;
    },
    short: async (order, due) => {
      await payOnce(order, order.to, nineTenths(due, order.to));
      order.status = 'finished';
      return true;
    },
    'wrong-asset': async (order) => {
      await payOnce(order, otherOnSameNetwork(order.to), '25');
      order.status = 'finished';
      return true;
    },
    refund: async (order) => {
      await refund(order);
      return true;
    },
    failed: (order) => {
      order.status = 'failed';
      return true;
    },
    'failed-then-completed': (order) => holds(order, 'failed'),
    'completed-then-failed': async (order, due) => {
      await payOnce(order, order.to, due);
      order.status = 'failed';
      return true;
    },
    'unknown-status': (order) => holds(order, 'on_hold'),
  };
}

/** Moves orders on: a deposit that is deep enough is exchanged, paid out or sent back, as the order's fault says. */
export function stepsOf(payouts: Payouts, deposits: Deposits, prices: Prices) {
  const payments = paymentsOf(payouts);
  const faults = faultsOf(payments);

  /** Without a fault, another amount than was ordered is sent back. */
  async function withoutFault(order: Order): Promise<boolean> {
    if (compare(order.received!, order.fromAmount) === 0 || order.payoutHashes.length) return false;
    await payments.refund(order);
    return true;
  }

  /** One step of an order, as far as it can go now. */
  async function advance(order: Order): Promise<void> {
    const isLate = Date.parse(order.validUntil) < Date.now();
    if (order.received === null) {
      order.received = await deposits.arrived(order);
      if (order.received === null) {
        if (order.status === 'waiting' && isLate) order.status = 'expired';
        return;
      }
      order.status = 'exchanging';
    }
    // The rate was kept until then; who pays later gets what the deposit is worth now.
    const due = isLate ? prices.worth(order.from, order.to, order.received) : order.toAmount;
    const act = (order.fault && faults[order.fault]) ?? withoutFault;
    if (await act(order, due)) return;
    await payments.payOnce(order, order.to, due);
    order.status = 'finished';
  }

  return { advance };
}

/** Whether nothing is left to do for an order. */
export const isDone = (order: Order): boolean =>
  order.fault === 'twice'
    ? order.payoutHashes.length > 1
    : order.payoutHashes.length > 0 && order.status === 'finished';
