import type { EntityManager } from 'typeorm';
import { findAsset, networksWithAddressesOf, type NetworkId } from '../../domain/chains/assets';
import { ownAddress, readAddress } from '../../domain/chains/address';
import { checkCarried, sharesAccount } from '../../domain/chains/tags';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { isId, newId } from '../../domain/ids';
import { knownNode } from '../lightning/node';
import { type Queryable, changedRows } from '../query';
import { drawKey, noLiveKey, sharedKey } from '../recovery/live-key';
import { isSharedAccount } from '../payments/addresses';
import type { RowOf } from '../entity';
import type { merchantWalletEntity } from './entities';

/** A merchant's wallet: where settled funds of one currency go. Contract: 2.6, G6. */
export type WalletRow = Readonly<RowOf<typeof merchantWalletEntity>>;

/** Adds the active wallet of a currency. With `address` the merchant's own (custody external); without, the next
 *  treasury address, whose key the signer holds; where payments share an account, that one. Throws
 *  CURRENCY_NOT_AVAILABLE, INVALID_ADDRESS, WALLET_EXISTS, and UPSTREAM_UNAVAILABLE while the signer has not registered
 *  its keys. */
export async function addWallet(
  db: Pick<EntityManager, 'transaction'>,
  wallet: Readonly<{ merchantId: string; currency: string; address?: string }>,
  codec: Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'network'>,
): Promise<WalletRow> {
  const asset = findAsset(wallet.currency);
  if (!asset || asset.network !== codec.network) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  checkCarried(asset);
  const own = wallet.address === undefined ? undefined : readAddress(codec, wallet.address);
  return db.transaction(async (tx) => {
    if (own !== undefined) await refuseOurs(tx, codec.network, own);
    const address = own ?? (await treasuryAddress(tx, wallet, codec));
    return insertWallet(tx, { ...wallet, address, custody: own === undefined ? 'platform' : 'external' });
  });
}

/** Adds the active wallet of what comes by Lightning: it stays in the channels of our node, whose public key stands
 *  where other wallets have an address. Throws WALLET_EXISTS, and UPSTREAM_UNAVAILABLE while no node was followed. */
export async function addLightningWallet(
  tx: Queryable,
  wallet: Readonly<{ merchantId: string; currency: string }>,
): Promise<WalletRow> {
  const node = await knownNode(tx);
  if (!node) throw new DomainError('UPSTREAM_UNAVAILABLE', 'The Lightning node was never followed');
  return insertWallet(tx, { ...wallet, address: node.key, custody: 'platform' });
}

async function insertWallet(
  tx: Queryable,
  wallet: Readonly<{ merchantId: string; currency: string; address: string; custody: WalletRow['custody'] }>,
): Promise<WalletRow> {
  const [row] = await tx.query<WalletRow[]>(
    `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (merchant_id, currency) WHERE is_active DO NOTHING RETURNING *`,
    [newId(), wallet.merchantId, wallet.currency, wallet.address, wallet.custody],
  );
  if (!row) throw new DomainError('WALLET_EXISTS');
  return row;
}

/** The active wallet of a merchant, locked. Throws WALLET_NOT_FOUND: unknown, foreign and deactivated are the same. */
export async function lockWallet(tx: Queryable, merchantId: string, id: string): Promise<WalletRow> {
  const [row] = isId(id)
    ? await tx.query<WalletRow[]>(
        'SELECT * FROM merchant_wallet WHERE id = $1 AND merchant_id = $2 AND is_active FOR NO KEY UPDATE',
        [id, merchantId],
      )
    : [];
  if (!row) throw new DomainError('WALLET_NOT_FOUND');
  return row;
}

/** An address of the merchant's own, in the one spelling of its network. Throws INVALID_ADDRESS. */
export async function normalSettlement(
  tx: Queryable,
  codec: Pick<ChainCodec, 'normalise' | 'refusalOf' | 'network'>,
  address: string,
): Promise<string> {
  const own = readAddress(codec, address);
  await refuseOurs(tx, codec.network, own);
  return own;
}

/** Points a locked wallet at another address, for payments made from now on. */
export async function setSettlement(
  tx: Queryable,
  wallet: WalletRow,
  to: Readonly<{ address: string; custody: WalletRow['custody'] }>,
): Promise<WalletRow> {
  const [row] = await changedRows<WalletRow>(
    tx,
    'UPDATE merchant_wallet SET settlement_address = $2, custody = $3 WHERE id = $1 AND is_active RETURNING *',
    [wallet.id, to.address, to.custody],
  );
  return row!;
}

/** Takes a locked wallet out of use; its row stays. */
export async function deactivateWallet(tx: Queryable, wallet: WalletRow): Promise<WalletRow> {
  const [row] = await changedRows<WalletRow>(
    tx,
    'UPDATE merchant_wallet SET is_active = false, deactivated_at = now() WHERE id = $1 AND is_active RETURNING *',
    [wallet.id],
  );
  return row!;
}

/** How often a wallet has been added or changed; its row is locked, or of this transaction. */
export async function walletVersion(tx: Queryable, id: string): Promise<number> {
  const [row] = await tx.query<Array<{ version: number }>>(
    'SELECT count(*)::integer AS version FROM merchant_wallet_history WHERE wallet_id = $1',
    [id],
  );
  return row!.version;
}

/** Money sent to an address of the service's own would go round in a circle, or come where nobody looks: the same
 *  account on another network is ours too. */
export async function isOurs(tx: Queryable, network: NetworkId, address: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = ANY($1) AND address = $2 AND tag = '' LIMIT 1`,
    [networksWithAddressesOf(network), address],
  );
  return rows.length > 0;
}

/** Throws INVALID_ADDRESS where the address is one of the service's own. */
export async function refuseOurs(tx: Queryable, network: NetworkId, address: string): Promise<void> {
  if (await isOurs(tx, network, address)) throw new DomainError('INVALID_ADDRESS', ownAddress);
}

/** Where a merchant's money stays with the service. */
async function treasuryAddress(
  tx: Queryable,
  wallet: Readonly<{ merchantId: string; currency: string }>,
  codec: Pick<ChainCodec, 'derive' | 'network'>,
): Promise<string> {
  if (!sharesAccount(codec.network)) return nextTreasuryAddress(tx, wallet, codec);
  const { xpub, branch } = await sharedKey(tx, codec.network);
  const address = codec.derive(xpub, 0, branch);
  if (!(await isSharedAccount(tx, codec.network, address))) throw noLiveKey(codec.network, 'treasury');
  return address;
}

/** A fresh address of our own: for a merchant's wallet, or for one conversion. Throws UPSTREAM_UNAVAILABLE. */
export async function nextTreasuryAddress(
  tx: Queryable,
  owner: Readonly<{ currency: string; merchantId?: string; conversionId?: string }>,
  codec: Pick<ChainCodec, 'derive' | 'network'>,
): Promise<string> {
  const { xpub, branch, index } = await drawKey(tx, codec.network, 'treasury');
  const address = codec.derive(xpub, index, branch);
  await tx.query(
    `INSERT INTO address (network, address, role, branch, key_index, currency, merchant_id, conversion_id)
     VALUES ($1, $2, 'treasury', $3, $4, $5, $6, $7)`,
    [codec.network, address, branch, index, owner.currency, owner.merchantId ?? null, owner.conversionId ?? null],
  );
  return address;
}

/** Every wallet of a merchant, deactivated ones included, newest first. */
export const walletsOf = (db: Queryable, merchantId: string): Promise<WalletRow[]> =>
  db.query<WalletRow[]>('SELECT * FROM merchant_wallet WHERE merchant_id = $1 ORDER BY created_at DESC, id DESC', [
    merchantId,
  ]);
