import { randomBytes } from 'node:crypto';
import { xrplCodec } from '../../chains/xrpl/codec';
import { xrplFamily } from '../../chains/xrpl/expiring-family';
import { xrplNode } from '../../chains/xrpl/node';
import type { SignedPayment } from '../../chains/xrpl/payment';
import { xrplPlanning } from '../../chains/xrpl/planning';
import type { ExpiringFamily } from '../../domain/chains/chain';
import { xrplChains, xrplNetwork } from '../chain/expiring-networks';
import { rich, simulatedXrpl, xrp, type Person, type SimulatedXrpl } from '../chain/xrpl-network';
import { expiringShop, type ExpiringShop, type ExpiringShopParts } from './expiring-shop';

const network = 'xrpl';
const seed = randomBytes(64);
const codec = xrplCodec(xrplChains.simulator);

/** The simulator of the XRP Ledger with a treasury that has money, for shops of one test each. */
export class XrplStage {
  private constructor(
    readonly net: SimulatedXrpl,
    /** Who gets what leaves. */
    readonly payee: Person,
    /** Of the signer, with a node of its own. */
    readonly family: ExpiringFamily,
  ) {}

  static async start(): Promise<XrplStage> {
    const net = await simulatedXrpl();
    await net.pay(rich, { to: codec.derive(codec.extendedKey(seed, 'treasury'), 0), drops: xrp(1010) });
    const family = xrplFamily(xrplChains.simulator, xrplNode({ url: net.part.url }));
    return new XrplStage(net, await net.funded(2), family);
  }

  open(more: Pick<ExpiringShopParts, 'record'> = {}): Promise<ExpiringShop> {
    const { net, family } = this;
    return expiringShop({
      ...{ network, native: 'XRP', seed, codec, family },
      planning: xrplPlanning(xrplNetwork, net.node),
      ...{ expiring: net.node.expiring, broadcast: net.node.broadcast },
      ...more,
    });
  }

  /** A payment by the key of the treasury that is not ours: it uses the account's next sequence. */
  async foreign(): Promise<SignedPayment> {
    const from = codec.derive(codec.extendedKey(seed, 'treasury'), 0);
    const { sequence, at } = (await this.net.node.account(from))!;
    const key = { role: 'treasury', index: 0 } as const;
    return codec.sign(seed, {
      ...{ from, key, to: rich.address, drops: 1n, feeDrops: 10n, sequence, lastLedger: at + 20 },
    });
  }

  /** What is open ends, and the audit finds nothing. */
  async close(shop: ExpiringShop): Promise<void> {
    await this.net.order({ order: 'go_on' });
    await this.net.close(25);
    expect(await shop.violations()).toEqual([]);
    await shop.stop();
  }

  async end(): Promise<void> {
    await this.net.end();
  }
}
