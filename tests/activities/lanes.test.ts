import { sendIntent } from '../../txmanager/send/send';
import { sendPayouts } from '../../txmanager/send/payouts';
import { reconcileAssets } from '../../db/audit/reconciliation';
import { nextTreasuryAddress } from '../../db/wallets/wallets';
import { patiently } from '../setup/postgres';
import { strangers } from './rich-shop';
import {
  adapter,
  addressOf,
  calm,
  runToEnd,
  codec,
  consolidations,
  db,
  ended,
  endShop,
  ether,
  follow,
  freeAt,
  freeze,
  freezeGas,
  freshShop,
  holds,
  lane,
  listed,
  maintain,
  merchantId,
  mine,
  next,
  nextMove,
  paidTo,
  payouts,
  queue,
  register,
  rpc,
  sender,
  senderOf,
  sendersOf,
  sent,
  signer,
  spike,
  startChain,
  statusOf,
  stopChain,
  sweeps,
  withdrawal,
} from './laned-chain';

/** Several hot wallets: a transaction that no block takes delays its own lane alone. On a real chain. */

beforeAll(startChain, 120_000);
afterAll(stopChain);
beforeEach(freshShop);
afterEach(endShop);

/** A withdrawal of tokens goes its whole way from the second lane, with gas from that lane's own wallet. */
async function tokensLeaveTheOther(withdrawalId: string): Promise<void> {
  for (const kind of ['gas', 'withdrawal']) {
    const open = await next(withdrawalId);
    expect(open.kind).toBe(kind);
    expect(await signer.signOnce(open.id)).toEqual({ state: 'stored' });
    expect(await senderOf(open.id)).toBe(kind === 'gas' ? addressOf('gas', 1) : lane(1));
    await sendIntent(sender, open.id);
    await mine(1);
    expect(await ended(open.id)).toBe(true);
  }
}

describe('A2: a stuck transaction delays one lane', () => {
  it('later withdrawals go out from the other lane, and what was stuck ends when fees fall', async () => {
    await holds('treasury', 1, 'ETH', '40');
    const first = await withdrawal('5');
    const stuck = await sent(first);
    expect(stuck.from).toBe(lane(0));
    await spike();
    expect(await ended(stuck.intentId)).toBe(false);

    const second = await withdrawal('5');
    const other = await sent(second);
    expect(other.from).toBe(lane(1));
    await mine(1);
    expect(await ended(stuck.intentId)).toBe(false);
    expect(await ended(other.intentId)).toBe(true);
    expect([await statusOf(first), await statusOf(second)]).toEqual(['broadcast', 'completed']);
    const text = await listed();
    expect(text).toContain(`lane 0  ${lane(0)}  next nonce 1\n  blocked: payments are planned from the other lanes\n`);
    expect(text).toContain(`lane 1  ${lane(1)}  next nonce 1`);

    await calm();
    expect(await ended(stuck.intentId)).toBe(true);
    expect(await statusOf(first)).toBe('completed');
    // The lane pays again, for it has more.
    const third = await sent(await withdrawal('5'));
    expect(third.from).toBe(lane(0));
  });

  it('tokens go out from the other lane too, with their own gas', async () => {
    await holds('treasury', 0, 'USDT_ERC20', '500');
    await holds('treasury', 1, 'USDT_ERC20', '300');
    await holds('gas', 1, 'ETH', '10');
    const stuck = await sent(await withdrawal('1'));
    expect(stuck.from).toBe(lane(0));
    await spike();
    const id = await withdrawal('100', 'USDT_ERC20');
    await tokensLeaveTheOther(id);
    expect(await statusOf(id)).toBe('completed');
  });

  it('what was planned and not signed leaves the lane', async () => {
    await holds('treasury', 1, 'ETH', '40');
    const planned = await withdrawal('3');
    const before = await next(planned);
    expect(await senderOf(before.id)).toBe(lane(0));
    await sent(await withdrawal('5'));
    await spike();
    const after = await next(planned);
    expect([after.id, await senderOf(after.id)]).toEqual([before.id, lane(1)]);
    expect((await sent(planned)).from).toBe(lane(1));
  });

  it('waits rather than queue behind the blocker, and tells operators what is held up', async () => {
    await holds('treasury', 1, 'ETH', '2');
    await sent(await withdrawal('5'));
    await spike();
    const { reason } = await next(await withdrawal('20'));
    expect(reason).toContain(`without ${lane(0)}, which is blocked or frozen`);
    const [low] = await db.query(`SELECT details FROM incident WHERE kind = 'treasury-low'`);
    expect(low.details).toMatchObject({ heldUp: [lane(0)] });
    // Where no lane is open, behind the blocker is better than nowhere.
    await freeze(1);
    expect((await sent(await withdrawal('20'))).from).toBe(lane(0));
  });
});

describe('A2: gas', () => {
  /** A top-up of the first lane that stays in no block. */
  const stuckTopUp = async (): Promise<string> => {
    await holds('treasury', 0, 'USDT_ERC20', '5000');
    const id = await withdrawal('100', 'USDT_ERC20');
    const topUp = await next(id);
    expect([topUp.kind, await senderOf(topUp.id)]).toEqual(['gas', addressOf('gas', 0)]);
    expect(await signer.signOnce(topUp.id)).toEqual({ state: 'stored' });
    await sendIntent(sender, topUp.id);
    await spike();
    expect(await ended(topUp.id)).toBe(false);
    return id;
  };

  it('is bought by the wallet of the lane, each with money of its own', async () => {
    await holds('gas', 1, 'ETH', '5');
    await holds('treasury', 1, 'USDT_ERC20', '500');
    const id = await withdrawal('100', 'USDT_ERC20');
    expect(await senderOf((await next(id)).id)).toBe(addressOf('gas', 1));
    // Where the own one has too little, the other does.
    await holds('treasury', 0, 'USDT_ERC20', '5000');
    await db.query(`UPDATE deposit SET amount = 0.000001 WHERE role = 'gas' AND address = $1`, [addressOf('gas', 0)]);
    const other = await next(await withdrawal('1000', 'USDT_ERC20'));
    expect(await senderOf(other.id)).toBe(addressOf('gas', 1));
  });

  it('that is stuck delays its lane alone: tokens leave the other, with gas from its own wallet', async () => {
    const stuck = await stuckTopUp();
    await holds('gas', 1, 'ETH', '10');
    await holds('treasury', 1, 'USDT_ERC20', '4950');
    expect(await listed()).toContain(
      `gas 0  ${addressOf('gas', 0)}  next nonce 1\n  blocked: gas is bought by the other gas wallets\n`,
    );
    const id = await withdrawal('100', 'USDT_ERC20');
    await tokensLeaveTheOther(id);
    expect([await statusOf(stuck), await statusOf(id)]).toEqual(['pending', 'completed']);
    // The lane itself is open: another wallet buys its gas.
    const behind = await next(await withdrawal('350', 'USDT_ERC20'));
    const [{ outputs }] = await db.query('SELECT outputs FROM intent WHERE id = $1', [behind.id]);
    expect([await senderOf(behind.id), outputs[0].address]).toEqual([addressOf('gas', 1), lane(0)]);
  });

  it('that nobody has signed comes from the other wallet, whatever it is for', async () => {
    await holds('gas', 1, 'ETH', '10');
    await holds('treasury', 0, 'USDT_ERC20', '5000');
    await holds('treasury', 1, 'ETH', '100');
    const id = await withdrawal('100', 'USDT_ERC20');
    const topUp = await next(id);
    await maintain();
    const [move] = await consolidations();
    const forMove = await nextMove(move!.owner_id);
    expect([await senderOf(topUp.id), await senderOf(forMove!.id)]).toEqual([addressOf('gas', 0), addressOf('gas', 0)]);
    await freezeGas(0);
    expect([(await next(id)).id, (await nextMove(move!.owner_id))!.id]).toEqual([topUp.id, forMove!.id]);
    expect([await senderOf(topUp.id), await senderOf(forMove!.id)]).toEqual([addressOf('gas', 1), addressOf('gas', 1)]);
    expect(await signer.signOnce(topUp.id)).toEqual({ state: 'stored' });
  });

  it('runs low in one wallet: operators hear of that one', async () => {
    await maintain();
    const low = (): Promise<unknown> =>
      db.query(
        `SELECT details->>'address' AS address FROM incident WHERE kind = 'gas-float-low' AND resolved_at IS NULL`,
      );
    expect(await low()).toEqual([{ address: addressOf('gas', 1) }]);
    await holds('gas', 1, 'ETH', '10');
    await maintain();
    expect(await low()).toEqual([]);
  });

  it('of a lane that is dropped is spent before that of the others, and the wallet gets nothing', async () => {
    await holds('gas', 1, 'ETH', '3');
    await holds('treasury', 0, 'USDT_ERC20', '500');
    await register(1);
    expect(await listed()).toContain(`dropped gas 1  ${addressOf('gas', 1)}`);
    expect(await senderOf((await next(await withdrawal('100', 'USDT_ERC20'))).id)).toBe(addressOf('gas', 1));
    await freezeGas(1);
    expect(await senderOf((await next(await withdrawal('100', 'USDT_ERC20'))).id)).toBe(addressOf('gas', 0));
  });
});

describe('A2: mass payouts', () => {
  it('move over to the open lane, however many lines wait in the other', async () => {
    await holds('treasury', 1, 'ETH', '40');
    const id = await queue(70, '0.01');
    await payouts.payoutStep(id);
    expect(await signer.signPayouts(id)).toEqual({ stored: 64 });
    await sendPayouts(sender, id);
    expect(await sendersOf(id)).toEqual([{ from: lane(0), n: 64 }]);
    await payouts.payoutStep(id);
    expect(await sendersOf(id)).toEqual([{ from: lane(0), n: 64 }]);
    await spike();
    await payouts.payoutStep(id);
    expect(await sendersOf(id)).toEqual([
      { from: lane(0), n: 64 },
      { from: lane(1), n: 6 },
    ]);
    expect(await signer.signPayouts(id)).toEqual({ stored: 6 });
    await sendPayouts(sender, id);
    await mine(1);
    const lines = (await db.query(`SELECT id FROM intent WHERE owner_id = $1 AND from_address = $2`, [
      id,
      lane(1),
    ])) as Array<{ id: string }>;
    for (const line of lines) expect(await ended(line.id)).toBe(true);
    await calm();
    expect(await db.query(`SELECT FROM attempt GROUP BY intent_id HAVING count(DISTINCT from_address) > 1`)).toEqual(
      [],
    );
  });

  it('take a lane for as many lines as it can pay, then the other', async () => {
    await holds('treasury', 1, 'ETH', '95');
    const id = await queue(19, '10');
    await payouts.payoutStep(id);
    expect(await sendersOf(id)).toEqual([
      { from: lane(0), n: 9 },
      { from: lane(1), n: 9 },
    ]);
  });

  it('lines of tokens that wait for their gas leave the lane with it', async () => {
    await holds('treasury', 0, 'USDT_ERC20', '500');
    await holds('treasury', 1, 'USDT_ERC20', '300');
    const id = await queue(3, '50', 'USDT_ERC20');
    await payouts.payoutStep(id);
    expect(await sendersOf(id)).toEqual([{ from: lane(0), n: 3 }]);
    await sent(await withdrawal('1'));
    await spike();
    await payouts.payoutStep(id);
    expect(await sendersOf(id)).toEqual([{ from: lane(1), n: 3 }]);
    const gas = await db.query(`SELECT outputs->0->>'address' AS to FROM intent WHERE owner_id = $1 AND kind = 'gas'`, [
      id,
    ]);
    expect(gas).toEqual([{ to: lane(1) }]);
  });
});

describe('A2: the float of the lanes', () => {
  it('the lane far below its share is filled from the one that has most, once', async () => {
    await maintain();
    await maintain();
    const [move, ...others] = await consolidations();
    expect([move!.from_address, move!.to, others]).toEqual([lane(0), lane(1), []]);
    expect(BigInt(move!.units) > 49n * ether && BigInt(move!.units) <= 50n * ether).toBe(true);
    await runToEnd(move!.owner_id);
    await maintain();
    expect(await consolidations()).toHaveLength(1);
    for (const index of [0, 1]) expect((await freeAt(index)) > 49n * ether).toBe(true);
  });

  it('tokens too, where the fee is small beside what is moved', async () => {
    await holds('treasury', 1, 'ETH', '100');
    await holds('treasury', 0, 'USDT_ERC20', '20');
    await maintain();
    expect(await consolidations()).toEqual([]);
    await holds('treasury', 0, 'USDT_ERC20', '5000');
    await maintain();
    const [move] = await consolidations();
    expect(move).toMatchObject({ from_address: lane(0), to: lane(1), units: '2510000000' });
    await runToEnd(move!.owner_id);
    expect(await freeAt(1, 'USDT_ERC20')).toBe(2_510_000_000n);
  });

  it('nothing is taken from under a payment that waits for all of it', async () => {
    const id = await withdrawal('60');
    await maintain();
    expect(await consolidations()).toEqual([]);
    expect((await sent(id)).from).toBe(lane(0));
  });

  it('our part of a sweep goes to the lane furthest below its share', async () => {
    const id = await paidTo(codec.derive(strangers, 9_999_999));
    expect(await sweeps.queueSweep(id)).toEqual({ queued: true });
    const outputs = await db.query(`SELECT outputs FROM intent WHERE payment_id = $1`, [id]);
    expect(JSON.stringify(outputs)).toContain(lane(1));
    expect(JSON.stringify(outputs)).not.toContain(lane(0));
  });

  it('a payment larger than any lane is gathered first', async () => {
    await holds('treasury', 1, 'ETH', '70');
    const id = await withdrawal('120');
    expect((await next(id)).reason).toContain('gathered at a lane');
    const [move, ...others] = await consolidations();
    expect([move!.from_address, move!.to, others]).toEqual([lane(1), lane(0), []]);
    // While it waits, nothing is spread again.
    await maintain();
    expect(await consolidations()).toHaveLength(1);
    await runToEnd(move!.owner_id);
    const paid = await sent(id);
    await mine(1);
    expect([paid.from, await ended(paid.intentId)]).toEqual([lane(0), true]);
  });

  it('a frozen lane gets nothing, and gives nothing', async () => {
    await holds('treasury', 1, 'ETH', '200');
    await freeze(1);
    expect((await sent(await withdrawal('5'))).from).toBe(lane(0));
    expect((await next(await withdrawal('150'))).reason).toContain('blocked or frozen');
    await register(3);
    await maintain();
    for (const { from_address, to } of await consolidations()) expect([from_address, to]).toEqual([lane(0), lane(2)]);
    const id = await paidTo(codec.derive(strangers, 9_999_998));
    expect(await sweeps.queueSweep(id)).toEqual({ queued: true });
    const outputs = await db.query(`SELECT outputs FROM intent WHERE payment_id = $1`, [id]);
    expect(JSON.stringify(outputs)).not.toContain(lane(1));
  });

  it('the reconciliation asks every lane, also one that the rows call empty', async () => {
    await rpc('anvil_setBalance', [lane(1), `0x${(3n * ether).toString(16)}`]);
    await mine(3);
    await follow();
    const { positions, unknown } = await reconcileAssets(db, [adapter], () => 2, 1);
    expect(unknown).toEqual([]);
    expect(positions.find(({ currency }) => currency === 'ETH')).toMatchObject({
      unexplained: '3',
      beyond: [{ address: lane(1), held: '3', beyond: '3' }],
    });
  });
});

describe('A2: a payment is signed from one lane', () => {
  it('whatever plans, moves and signs it at once', async () => {
    await holds('treasury', 1, 'ETH', '100');
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) ids.push(await withdrawal('1'));
    let side = 0;
    // The lanes take turns to be frozen, so that plans move to and fro.
    const turns = async (): Promise<void> => {
      for (let n = 0; n < 12; n += 1) {
        side = 1 - side;
        await freeze(side);
        await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL WHERE address = $1', [
          lane(1 - side),
        ]);
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
    };
    const runIntent = async (id: string): Promise<void> => {
      for (let n = 0; n < 6; n += 1) {
        const open = await patiently(() => next(id));
        if (open.id) await patiently(() => signer.signOnce(open.id)).catch((error: unknown) => isFrozen(error));
      }
    };
    await Promise.all([turns(), ...ids.flatMap((id) => [runIntent(id), runIntent(id)])]);
    await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL');
    for (const id of ids) await runIntent(id);
    const attempts = (await db.query(
      `SELECT i.ref, count(DISTINCT i.id)::int AS intents, count(*)::int AS n,
              count(DISTINCT a.from_address)::int AS wallets, bool_and(a.from_address = i.from_address) AS same
         FROM attempt a JOIN intent i ON i.id = a.intent_id GROUP BY 1`,
    )) as unknown[];
    expect(attempts).toHaveLength(8);
    for (const one of attempts) expect(one).toMatchObject({ intents: 1, n: 1, wallets: 1, same: true });
  });

  it('the database refuses another one', async () => {
    await holds('treasury', 1, 'ETH', '100');
    const { intentId, from } = await sent(await withdrawal('1'));
    const other = from === lane(0) ? lane(1) : lane(0);
    await expect(
      db.query(
        `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
           moved_units, outputs)
         SELECT intent_id, 2, network, 'x', raw, $2, 0, unit_price, max_fee_units, moved_units, outputs FROM attempt
          WHERE intent_id = $1`,
        [intentId, other],
      ),
    ).rejects.toThrow('alone');
    await expect(db.query('UPDATE intent SET from_address = $2 WHERE id = $1', [intentId, other])).rejects.toThrow(
      'is signed',
    );
  });

  const isFrozen = (error: unknown): void => {
    if ((error as { code?: string }).code !== 'WALLET_FROZEN') throw error;
  };
});

describe('A2: another number of lanes', () => {
  const balances = (): Promise<unknown> =>
    db.query(`SELECT account, asset, amount::text AS amount FROM balance ORDER BY 1, 2`);

  it('more: the books hold, merchants keep their addresses, and the new lane is filled', async () => {
    const ofMerchant = await db.transaction((tx) => nextTreasuryAddress(tx, { currency: 'ETH', merchantId }, codec));
    expect(ofMerchant).toBe(lane(16));
    const before = await balances();
    expect(await register(3)).toBe(3);
    expect(await balances()).toEqual(before);
    expect(await db.query('SELECT lane, merchant_id FROM address WHERE address = $1', [ofMerchant])).toEqual([
      { lane: null, merchant_id: merchantId },
    ]);
    await maintain();
    const [move] = await consolidations();
    expect(move!.from_address).toBe(lane(0));
    await runToEnd(move!.owner_id);
    await maintain();
    const [, second] = await consolidations();
    await runToEnd(second!.owner_id);
    for (const index of [0, 1, 2]) expect((await freeAt(index)) > 32n * ether).toBe(true);
    expect(await balances()).toEqual(before);
  });

  it('more, where merchants have the first indexes: theirs never become lanes', async () => {
    await db.query(`DELETE FROM address WHERE role = 'treasury' AND key_index > 0`);
    await db.query(`SELECT setval('key_index_ethereum_treasury', 1, false)`);
    const ofMerchant = await db.transaction((tx) => nextTreasuryAddress(tx, { currency: 'ETH', merchantId }, codec));
    expect(ofMerchant).toBe(lane(1));
    // As the migration does.
    await db.query(`SELECT setval('key_index_ethereum_treasury', 15)`);
    expect(await register(2)).toBe(2);
    expect(await db.query(`SELECT address FROM address WHERE lane = 'used' ORDER BY key_index, role DESC`)).toEqual([
      { address: lane(0) },
      { address: addressOf('gas', 0) },
      { address: lane(2) },
      { address: addressOf('gas', 2) },
    ]);
    expect(await db.transaction((tx) => nextTreasuryAddress(tx, { currency: 'ETH', merchantId }, codec))).toBe(
      lane(16),
    );
  });

  it('fewer: what the dropped lane has signed still ends, and its money goes to the others', async () => {
    await holds('treasury', 1, 'ETH', '150');
    await holds('treasury', 1, 'USDT_ERC20', '90');
    const open = await sent(await withdrawal('5'));
    expect(open.from).toBe(lane(1));
    expect(await register(1)).toBe(1);
    expect((await sent(await withdrawal('5'))).from).toBe(lane(0));
    await maintain();
    const [first, second, ...others] = await consolidations();
    expect([first, second].map((move) => [move!.from_address, move!.to])).toEqual([
      [lane(1), lane(0)],
      [lane(1), lane(0)],
    ]);
    expect(others).toEqual([]);
    await mine(1);
    expect(await ended(open.intentId)).toBe(true);
    for (const move of [first, second]) await runToEnd(move!.owner_id);
    expect((await freeAt(0)) > 230n * ether).toBe(true);
    expect(await freeAt(0, 'USDT_ERC20')).toBe(90_000_000n);
    expect(await freeAt(1, 'USDT_ERC20')).toBe(0n);
    expect((await freeAt(1)) < ether / 100n).toBe(true);
    await maintain();
    expect((await consolidations()).length).toBe(2);
    const text = await listed();
    expect(text).toContain(`dropped lane 1  ${lane(1)}`);
  });
});
