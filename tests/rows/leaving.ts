import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { approveRefund } from '../../commands/refunds/approve';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { baseUnits, networkOf } from '../../domain/chains/assets';
import { receiverOf, tagIn, type Destination } from '../../domain/chains/tags';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { add, subtract, times } from '../../domain/money';
import { creditFromCapital } from '../credit-from-capital';
import { anApprover } from '../approver';
import { ann, inTurn, settled, shop, text, ticking, world } from './stage';

/** What leaves in a currency: to whom, how much, and what the balance says. */

/** What `make` makes, when it is first asked for. */
function once<T>(make: () => T): () => T {
  let known: T | undefined;
  return () => (known ??= make());
}

const by = { id: newId(), email: 'ann@shop.example' };

/** A code that is mailed ends the one before. */
const mailing = inTurn();

/** `blocks`: what each look mines, where none come by themselves. `line`: with what the amount of a payout's line
 *  begins; three digits follow, which tell the lines apart. */
export function leaving(currency: string, { blocks = 1, line = '20.' } = {}) {
  const { id: network, native, destinationTags, kind } = networkOf(currency);
  const made = once(() => {
    const config = parseConfig(world.stack.env);
    return { codecs: createCodecs(config.chain), adapter: createAdapter(network, config) };
  });
  const codecs = () => made().codecs;
  const balance = async (): Promise<string> => (await world.balance(shop, currency)).balance;
  const ask = (method: string, route: string, body?: object) => world.call(shop, method, route, body);
  /** Mines until `condition` holds. */
  const mining = (what: string, condition: () => Promise<boolean>, ms = 150_000): Promise<void> =>
    world.until(
      what,
      async () => {
        if (!ticking.has(native)) await world.payer.mine(native, blocks);
        // A follower reads each of them.
        await sleep(10 * blocks);
        return condition();
      },
      ms,
    );
  /** Somebody else's address, with a tag behind it where the network has tags. */
  function stranger(tag: string, seed: Buffer = randomBytes(64)): Destination {
    const codec = codecs()[network];
    return { address: codec.derive(codec.extendedKey(seed, 'deposit'), 0), ...(destinationTags ? { tag } : {}) };
  }
  async function listed(tag: string, seed?: Buffer): Promise<Destination> {
    const to = stranger(tag, seed);
    const entry = { type: 'wallet', currency, address: to.address, destinationTag: to.tag ?? null } as const;
    await addToWhitelist(world.db, shop.id, by, entry);
    return to;
  }
  /** Whoever gets something for the first time is charged for that above the quote: these have had some before. */
  async function known(people: readonly Destination[]): Promise<void> {
    if (kind === 'utxo') return;
    for (const to of people) await world.payer.pay(currency, to.address, '2', tagIn(to));
    await world.payer.mine(native, blocks);
  }
  const inBody = ({ address, tag }: Destination) => ({
    address,
    ...(tag === undefined ? {} : { destinationTag: tag }),
  });
  /** What a transaction moved to whom, in base units, as its block says. */
  async function movesOf(txId: string): Promise<Array<readonly [to: string, units: string]>> {
    const { adapter } = made();
    const sighting = await adapter.lookUp(txId);
    if (sighting.state !== 'mined') throw new Error(`${txId} is ${sighting.state}`);
    const { transfers } = (await adapter.readBlock(sighting.height))!;
    const own = transfers.filter((one) => one.txId === txId && one.currency === currency);
    return own.map(({ to, tag, units }) => [receiverOf({ address: to, ...tagIn({ tag }) }), units.toString()]);
  }
  /** This and nothing else; of coins others are paid by the same transaction. */
  async function expectPaid(txId: string, to: string, amount: string): Promise<void> {
    const [moves, paid] = [await movesOf(txId), [to, baseUnits(currency, amount).toString()]];
    if (kind === 'utxo') expect(moves).toContainEqual(paid);
    else expect(moves).toEqual([paid]);
  }
  const open = (to: Destination, amount: string) =>
    world.db.transaction((tx) =>
      openWithdrawal(
        ...([tx, { codecs: codecs(), rateMaxAgeSeconds: 3600 }, shop.id] as const),
        ...([{ currency, amount, feeMode: 'add', ...inBody(to) }, by, newId()] as const),
      ),
    );

  return {
    balance,
    mining,
    stranger,
    open,
    async withdraws(amount: string): Promise<void> {
      const before = await balance();
      const to = await listed('77');
      await known([to]);
      const { row } = await open(to, amount);
      const read = async () => (await ask('GET', `/api/v1/withdrawals/${row.id}`)).body.data;
      await mining('the withdrawal is completed', async () => (await read()).status === 'completed');
      const { txId, networkFee } = await read();
      await expectPaid(txId, receiverOf(to), amount);
      expect(await balance()).toBe(subtract(before, add(amount, networkFee)));
    },
    async refunds(): Promise<void> {
      const invoice = await settled(currency);
      const to = stranger('88');
      const asked = await ask('POST', `/api/v1/payments/${invoice.id}/refunds`, {
        ...{ type: 'full', feeBearer: 'payer', ...inBody(to) },
      });
      expect([asked.status, asked.body]).toEqual([201, expect.anything()]);
      const { _id: id } = asked.body.data;
      await world.db.transaction((tx) => approveRefund(tx, shop.id, id, anApprover()));
      const read = async () => (await ask('GET', `/api/v1/refunds/${id}`)).body.data;
      await mining('the refund is completed', async () => (await read()).status === 'completed');
      const { txId, netToDestination, networkFee } = await read();
      expect(add(netToDestination, networkFee)).toBe(text(invoice.amount));
      await expectPaid(txId, receiverOf(to), netToDestination);
    },
    /** The platform's own money is credited to the merchant, who pays it to a hundred receivers. */
    async paysHundred(): Promise<void> {
      const amountOf = (n: number): string => `${line}${String(n).padStart(3, '0')}`;
      const amount = times(amountOf(0), '200', 0, 'up');
      await creditFromCapital(world.db, shop.id, currency, amount);
      const before = await balance();
      const people = Array.from({ length: 5 }, () => randomBytes(64));
      const receivers: Destination[] = [];
      for (let n = 0; n < 100; n += 1)
        receivers.push(await listed(String(1000 + n), destinationTags && people[n % people.length]));
      await known(receivers);
      const rows = receivers.map((to, n) => ({ currency, amount: amountOf(n), ...inBody(to) }));
      const route = '/api/v1/mass-payouts';
      const asked = await mailing(async () =>
        ann.post(route, { rows, emailCode: await ann.emailCode(`${route}/send-email-code`) }),
      );
      const read = async () => (await ann.call('GET', `${route}/${asked.body.data._id}`)).body.data;
      await mining('the payout has ended', async () => (await read()).completedAt !== null, 600_000);
      const done = await read();
      expect([done.status, done.counts.completed]).toEqual(['completed', 100]);
      type Line = { address: string; destinationTag: string | null; txId: string; netToDestination: string };
      for (const { address, destinationTag, txId, netToDestination } of done.legs as Line[]) {
        const to = receiverOf({ address, ...tagIn({ tag: destinationTag ?? undefined }) });
        await expectPaid(txId, to, netToDestination);
      }
      expect(await balance()).toBe(subtract(before, done.totalsByCurrency[currency]));
    },
  };
}
