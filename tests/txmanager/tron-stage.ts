import { tronCodec } from '../../chains/tron/codec';
import { tronFamily } from '../../chains/tron/expiring-family';
import { tronNode } from '../../chains/tron/node';
import { tronPlanning } from '../../chains/tron/planning';
import type { KeyRole } from '../../domain/chains/chain';
import type { BlockRef } from '../../domain/txmanager/expiry';
import { tronNetwork } from '../chain/expiring-networks';
import { seed, TronWorld } from '../chain/tron-world';
import { expiringShop, type ExpiringShop } from './expiring-shop';

const network = 'tron';

/** The simulator of TRON with a treasury that has money, for shops of one test each. */
export class TronStage {
  private constructor(readonly world: TronWorld) {}

  /** `sun`: by address, what others than the treasury have. */
  static async start(
    treasury: bigint,
    sun: (world: TronWorld) => Readonly<Record<string, bigint>>,
  ): Promise<TronStage> {
    const world = await TronWorld.start();
    await world.fund(addressOf(world, 'treasury'), treasury);
    for (const [address, amount] of Object.entries(sun(world))) await world.fund(address, amount);
    await world.mine(25);
    return new TronStage(world);
  }

  /** `finalBlock`: what the signer's own node calls final. */
  open(finalBlock?: () => Promise<BlockRef>): Promise<ExpiringShop> {
    const { world } = this;
    const node = tronNode(world.chain, { login: { url: world.url } });
    const own = finalBlock ? { ...node, expiring: { ...node.expiring, finalBlock } } : node;
    return expiringShop({
      ...{ network, native: 'TRX', seed, codec: world.codec, family: tronFamily(world.chain, own) },
      planning: tronPlanning(tronNetwork, world.adapter),
      ...{ expiring: world.adapter.expiring, broadcast: world.adapter.broadcast },
    });
  }

  /** The audit finds nothing. */
  async close(shop: ExpiringShop): Promise<void> {
    expect(await shop.violations()).toEqual([]);
    await shop.stop();
  }

  async end(): Promise<void> {
    await this.world.stop();
  }
}

/** An address of a role, the first unless told. */
export function addressOf(world: TronWorld, role: KeyRole, index = 0): string {
  const codec = tronCodec(world.chain);
  return codec.derive(codec.extendedKey(seed, role), index);
}
