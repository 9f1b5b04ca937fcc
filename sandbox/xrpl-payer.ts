import { encode, encodeForSigning } from 'ripple-binary-codec';
import { deriveAddress, deriveKeypair, sign } from 'ripple-keypairs';
import type { Destination } from '../domain/chains/tags';
import { whileRefused } from './again';
import { call } from './parts/json-rpc';

/** Pays on a simulated XRP Ledger: own transactions, nothing of the service's code. */

/** Of the account that has all XRP of a new network, which everybody knows (xrpl.org: accounts, special addresses). */
const keys = deriveKeypair('snoPBrXtMeMyMHUVTgbuqAfg1SUTb');
const rich = deriveAddress(keys.publicKey);
const feeDrops = 10;
/** Several processes pay from the one account: the sequence is another's by now, or the ledger is full. */
const takenSequence = /tefPAST_SEQ|terPRE_SEQ|telCAN_NOT_QUEUE/;

type Answer<T> = T & { error?: string; error_message?: string };

async function ask<T>(url: string, method: string, params: object = {}): Promise<T> {
  const answer = await call<Answer<T>>(url, method, [{ api_version: 2, ...params }]);
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error} ${answer.error_message ?? ''}`);
  return answer;
}

/** Sends drops, and answers the transaction's id; closes no ledger. */
export const payXrp = (url: string, { address, tag }: Destination, drops: bigint): Promise<string> =>
  whileRefused(takenSequence, async () => {
    const { info } = await ask<{ info: { network_id: number } }>(url, 'server_info');
    const { account_data } = await ask<{ account_data: { Sequence: number } }>(url, 'account_info', { account: rich });
    const fields = {
      TransactionType: 'Payment',
      Account: rich,
      Destination: address,
      ...(tag === undefined ? {} : { DestinationTag: Number(tag) }),
      Amount: drops.toString(),
      Fee: String(feeDrops),
      Sequence: account_data.Sequence,
      SigningPubKey: keys.publicKey,
      NetworkID: info.network_id,
    };
    const tx_blob = encode({ ...fields, TxnSignature: sign(encodeForSigning(fields), keys.privateKey) });
    const said = await ask<{ engine_result: string; tx_json: { hash: string } }>(url, 'submit', { tx_blob });
    if (!['tesSUCCESS', 'terQUEUED'].includes(said.engine_result)) throw new Error(`submit: ${said.engine_result}`);
    return said.tx_json.hash;
  });

export async function closeLedgers(url: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await ask(url, 'ledger_accept');
}
