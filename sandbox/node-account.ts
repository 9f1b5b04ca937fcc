import { whileRefused } from './again';
import { call } from './parts/json-rpc';

/** How a node of an EVM chain refuses a nonce that another transaction of the account has, the same one or another. */
const takenNonce = /replacement transaction underpriced|transaction already imported|nonce too low/;

/** anvil drops what is below the base fee of a block that it makes, where a real node keeps it: so what is sent takes
 *  nearly any base fee. It pays that of its block and the tip. */
const fees = { maxFeePerGas: '0xe8d4a51000', maxPriorityFeePerGas: '0x3b9aca00' } as const;

/** Sends a transaction from one of the accounts that a local EVM node has itself; answers its id, and mines nothing.
 *  The node may give two processes that send from one account at the same moment one nonce, and refuses the later. */
export async function sendFromNode(
  url: string,
  transaction: Readonly<Record<string, string>>,
  account = 0,
): Promise<string> {
  const accounts = await call<string[]>(url, 'eth_accounts', []);
  return whileRefused(takenNonce, () =>
    call<string>(url, 'eth_sendTransaction', [{ from: accounts[account], ...fees, ...transaction }]),
  );
}
