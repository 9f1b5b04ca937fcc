import { rewind } from '../../db/chains/rewind';
import { readCursor } from '../../db/chains/cursor';
import { FollowedChain, depth } from './followed-chain';

/** Nothing that an outsider puts in a block stops the follower, or starves what comes after it. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start();
});
afterAll(() => chain?.stop());
beforeEach(async () => {
  chain.proxy.heal();
  chain.restart();
  await chain.db.query('DELETE FROM incident');
});
/** Takes back what a test did to the rows of the others. */
const undone = new Error('undone');
const refusing = (message: string) => ({
  kind: 'rewrite' as const,
  answer: () => ({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } }),
});

describe('B4: a block', () => {
  it.each([
    ['slow', { kind: 'delay', ms: 20_000 } as const],
    ['huge', { kind: 'rewrite', answer: () => ({ result: 'x'.repeat(65 * 1024 * 1024) }) } as const],
  ])(
    'whose trace is %s is passed, and what is in it is found by balance',
    async (_what, fault) => {
      const invoice = await chain.invoice();
      chain.proxy.arm(fault, ['debug_traceBlockByHash']);
      await chain.payer.payThroughContract(invoice.address, '1');
      await chain.mine();
      await chain.look();
      const [incident] = await chain.incidents();
      expect(incident).toMatchObject({ kind: 'untraced-block', resolved_at: null });
      expect(await chain.deposits(invoice)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
      await chain.mine(depth);
      await chain.look();
      expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED' });
    },
    60_000,
  );

  it('with a transaction that cannot be traced again is verified by what it left behind', async () => {
    const [invoice, next] = [await chain.invoice(), await chain.invoice()];
    await chain.payer.payThroughContract(invoice.address, '1');
    await chain.mine();
    await chain.payer.pay('ETH', next.address, '1');
    await chain.mine();
    await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'mined', foundBy: 'transfer' }]);
    chain.proxy.arm(refusing('execution timeout'), ['debug_traceTransaction']);
    await chain.mine(depth);
    await chain.look();
    for (const one of [invoice, next])
      expect(await chain.deposits(one)).toMatchObject([{ status: 'confirmed', amount: '1' }]);
  });
});

describe('B4: deposits that cannot be verified', () => {
  it('do not starve those after them, are an incident, and are asked for less and less often', async () => {
    const [played, invoice] = [await chain.invoice(), await chain.invoice()];
    await chain.db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
                            is_dust, status, block_hash, height, first_seen_at)
       SELECT 'ethereum', '0x' || lpad(to_hex(n), 64, '0'), -1, $1, 'deposit', $2, 'ETH', 0, 0, true, 'mined', '0xgone',
              1, now() FROM generate_series(1, 600) n`,
      [played.address, played.id],
    );
    await chain.payer.pay('ETH', invoice.address, '1');
    await chain.mine(depth);
    await chain.look();
    // Slow nodes: their wait is over before the next look.
    await chain.db.query(`UPDATE deposit SET verify_after = now() WHERE verify_after IS NOT NULL`);
    await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed', amount: '1' }]);
    const asked = async (): Promise<number[]> =>
      (
        await chain.db.query(
          `SELECT DISTINCT verify_tries AS tries FROM deposit WHERE address = $1 AND status = 'mined'`,
          [played.address],
        )
      ).map((row: { tries: number }) => row.tries);
    // Each was asked for, and on a slow machine the first ones once more.
    for (const tries of await asked()) expect(tries).toBeGreaterThanOrEqual(1);
    await chain.db.query(`UPDATE deposit SET verify_after = now(), verify_tries = 4 WHERE address = $1`, [
      played.address,
    ]);
    await chain.look();
    const unread = async (): Promise<number> =>
      (await chain.incidents()).filter((one) => one.kind === 'deposit-unverified' && one.resolved_at === null).length;
    expect(await unread()).toBe(500);
    // Their block is gone: nobody waits for them there.
    await chain.db
      .transaction(async (tx) => {
        const from = (await readCursor(tx, 'ethereum'))!;
        await rewind(tx, 'ethereum', from, { height: 0, hash: 'gone' });
        expect(
          await tx.query(`SELECT FROM incident WHERE kind = 'deposit-unverified' AND resolved_at IS NULL`),
        ).toHaveLength(0);
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    expect(await unread()).toBe(500);
    await chain.db.query(`UPDATE deposit SET status = 'void' WHERE address = $1`, [played.address]);
  });

  it('do not stop the follower where the node refuses to tell of one', async () => {
    const [odd, invoice] = [await chain.invoice(), await chain.invoice()];
    await chain.payer.pay('ETH', odd.address, '1');
    await chain.mine();
    await chain.payer.pay('ETH', invoice.address, '1');
    await chain.mine(depth + 1);
    chain.proxy.arm(refusing('no receipt for you'), ['eth_getTransactionReceipt'], 1);
    await chain.look();
    expect(await chain.deposits(odd)).toMatchObject([{ status: 'mined' }]);
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed' }]);
  });
});
