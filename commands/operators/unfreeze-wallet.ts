import { recordAct } from '../../db/access/audit-log';
import { resolveWalletFreezes } from '../../db/incidents';
import { lockFrozen, unfreezeWallet } from '../../db/txmanager/frozen-wallets';
import { notNow, type OperatorAct } from './act';

export const unfreezeOneWallet: OperatorAct = {
  kind: 'unfreeze-wallet',
  title: 'Let a frozen wallet sign again',
  fields: { network: 'Network of the wallet.', address: 'Its address.' },
  async validate(tx, { network, address }) {
    if ((await lockFrozen(tx, network!, address!)) === null)
      throw notNow(`There is no freeze of a wallet ${network}/${address}`);
    return { network: network!, address: address! };
  },
  async describe(tx, { network, address }) {
    return `Let wallet ${network}/${address} sign again: ${(await lockFrozen(tx, network!, address!)) ?? ''}`;
  },
  async execute(tx, { network, address }, { requestId, reason, actor }) {
    if ((await lockFrozen(tx, network!, address!)) === null)
      throw notNow(`There is no freeze of a wallet ${network}/${address}`);
    await unfreezeWallet(tx, network!, address!);
    await resolveWalletFreezes(tx, network!, address!);
    await recordAct(tx, actor, {
      merchantId: null,
      action: 'wallet.unfrozen',
      target: `${network}/${address}`,
      after: { reason, requestId },
    });
    return `Wallet ${network}/${address} may sign again`;
  },
};
