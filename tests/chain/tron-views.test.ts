import { tronAdapter } from '../../chains/tron/adapter';
import { tronNetwork } from './expiring-networks';
import { TronWorld } from './tron-world';

/** The view of all blocks and that of final ones may be two machines. */

let world: TronWorld;
beforeEach(async () => {
  world = await TronWorld.start();
});
afterEach(() => world.stop());

it('credits nothing on a branch of its own, however deep that is: the final blocks are others', async () => {
  const [payer, to] = [1, world.addressAt(2)];
  await world.fund(world.addressAt(payer), 1_000_000_000n);
  const { txId } = await world.paid(payer, { currency: 'TRX', to, units: 5n });
  const { height, hash } = await world.newestBlock();
  const transfer = { txId, index: -1, to, currency: 'TRX', units: 5n, inputs: [] };
  await world.mine(30);
  const others = await TronWorld.start();
  try {
    await others.mine(height + 35);
    const at = (solid: string) =>
      tronAdapter(tronNetwork, world.chain, { login: { url: world.url }, solid: { url: solid } });
    const [whole, apart] = [at(world.url), at(others.url)];
    expect(await whole.verify(transfer, hash)).toBe(5n);
    expect(await whole.sync()).toMatchObject({ isApart: false });
    expect(await apart.verify(transfer, hash)).toBeNull();
    expect(await apart.sync()).toMatchObject({ isApart: true });
    expect(await apart.finalHash!(height)).not.toBe(hash);
  } finally {
    await others.stop();
  }
});
