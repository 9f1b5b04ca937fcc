import { whileRefused } from './again';
import { call } from './parts/json-rpc';

/** How a node of an EVM chain refuses a nonce that another transaction of the account has, the same one or another. */
const takenNonce = /replacement transaction underpriced|transaction already imported|nonce too low/;

/** Sends a transaction from one of the accounts that a local EVM node has itself; answers its id, and mines nothing.
 *  The node may give two processes that send from one account at the same moment one nonce, and refuses the later. */
export async function sendFromNode(
  url: string,
  transaction: Readonly<Record<string, string>>,
  account = 0,
): Promise<string> {
  const accounts = await call<string[]>(url, 'eth_accounts', []);
  return whileRefused(takenNonce, () =>
    call<string>(url, 'eth_sendTransaction', [{ from: accounts[account], ...transaction }]),
  );
}
