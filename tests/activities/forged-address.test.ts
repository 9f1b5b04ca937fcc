import { FollowedChain } from './followed-chain';

/** Somebody writes a row that calls the address of a stranger ours. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start();
}, 120_000);
afterAll(() => chain?.stop());

describe('A10: an address that our keys do not derive', () => {
  it.each(['deposit', 'treasury'] as const)('of the role %s is credited nothing', async (role) => {
    const invoice = await chain.invoice();
    const stranger = chain.h.api.deps.codecs.ethereum.normalise(
      `0x${role === 'deposit' ? 'a' : 'b'}${'1'.repeat(39)}`,
    )!;
    const thief = chain.h.api.deps.db;
    await thief.query(
      `INSERT INTO address (network, address, role, key_index, payment_id, merchant_id)
       SELECT 'ethereum', $1, $2, 999, CASE WHEN $2 = 'deposit' THEN id END, merchant_id FROM payment WHERE id = $3`,
      [stranger, role, invoice.id],
    );
    await chain.payer.pay('ETH', stranger, '1');
    await chain.mine(8);
    for (let tries = 0; tries < 6; tries += 1) {
      await chain.look();
      await chain.db.query('UPDATE deposit SET verify_after = NULL');
    }
    expect(await chain.deposits({ ...invoice, address: stranger })).toMatchObject([{ status: 'mined' }]);
    expect((await chain.incidents()).at(-1)).toMatchObject({
      kind: 'deposit-unverified',
      details: { reason: 'Our key does not derive its address' },
    });
    expect((await chain.advance(invoice)).status).not.toBe('CONFIRMED');
    expect(await chain.db.query('SELECT key FROM journal')).toEqual([]);
  });

  it('that they do derive is credited as ever', async () => {
    const invoice = await chain.invoice();
    await chain.payer.pay('ETH', invoice.address, invoice.amount);
    await chain.mine(8);
    await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed' }]);
  });
});
