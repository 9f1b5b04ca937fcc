import { randomBytes } from 'node:crypto';
import { formatEther, getAddress } from 'viem';
import { call } from '../../sandbox/parts/json-rpc';
import type { Shop, World } from '../world';
import { report } from './measure';

/** What token payments leave of native coins on their addresses, which are used once: by the service as it is. */

const payments = 10;

type Custody = 'platform' | 'external';
type Paid = Readonly<{ address: string; fee: string }>;

/** A shop whose tokens settle at an address of its own. */
async function shopWithOwnAddress(world: World): Promise<Shop> {
  const shop = await world.shop();
  await world.settleAt(shop, 'USDT_ERC20', getAddress(`0x${randomBytes(20).toString('hex')}`));
  return shop;
}

/** Token payments that settle one after the other, and what moving each has cost, in wei. */
async function settled(world: World, shop: Shop): Promise<Paid[]> {
  const paid: Paid[] = [];
  for (let n = 0; n < payments; n += 1) {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'USDT_ERC20' });
    await world.payer.pay('USDT_ERC20', invoice.address, String(invoice.amount));
    await world.sees(shop, invoice.id, 'SETTLED', { mine: 'USDT_ERC20' });
    const [row] = (await world.db.query(
      `SELECT sum(a.fee_units)::text AS fee FROM attempt a JOIN intent i ON i.id = a.intent_id
        WHERE a.status = 'final' AND i.deposit_ids && (SELECT array_agg(id) FROM deposit WHERE payment_id = $1)`,
      [invoice.id],
    )) as Array<{ fee: string }>;
    paid.push({ address: invoice.address, fee: row!.fee });
  }
  return paid;
}

export async function strandedCoins(world: World): Promise<void> {
  await strandedBy(world, await world.shop(), 'platform');
  await strandedBy(world, await shopWithOwnAddress(world), 'external');
}

async function strandedBy(world: World, shop: Shop, custody: Custody): Promise<void> {
  const paid = await settled(world, shop);
  let [left, fees] = [0n, 0n];
  for (const { address, fee } of paid) {
    left += BigInt(await call<string>(world.stack.anvil.url, 'eth_getBalance', [address, 'latest']));
    fees += BigInt(fee);
  }
  const share = Number((left * 10_000n) / fees) / 100;
  const each = (sum: bigint): string => formatEther(sum / BigInt(payments));
  report({
    name: `native coin left per token payment ÷ its fee, custody ${custody}`,
    value: share,
    unit: '%',
    limit: '≤ 5',
    holds: share <= 5,
    detail: `${each(left)} ETH left, ${each(fees)} ETH of fees, the mean of ${payments} payments one by one`,
  });
}
