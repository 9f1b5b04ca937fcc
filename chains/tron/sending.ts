import type { BroadcastAnswer } from '../../domain/chains/chain';
import { fields, text } from './answers';
import type { Ask } from './http';
import { readTransaction } from './read-back';

const isShort = /balance is not sufficient|not enough|insufficient|no account|account .{0,80}not exists?/i;

/** Some nodes write their messages in hex. */
function plain(message: string): string {
  const isHex = message.length >= 4 && /^([0-9a-f]{2})+$/i.test(message);
  return isHex ? Buffer.from(message, 'hex').toString('utf8') : message;
}

/** There is no `conflict`, for there is no nonce. `known` proves nothing: nodes remember the id of what they have
 *  refused, and answer the repeat with DUP_TRANSACTION_ERROR. `invalid`: no block takes it while its recipient and its
 *  sender are as they are. Codes: Broadcast and RPC errors, developers.tron.network. */
export async function broadcast(ask: Ask, raw: string): Promise<BroadcastAnswer> {
  const { txId } = readTransaction(raw);
  const said = await ask('/wallet/broadcasthex', { transaction: raw }, (answer) => {
    const given = fields(answer, 'The answer');
    const code = given.code === undefined ? '' : text(given.code, 'code');
    const message = given.message === undefined ? '' : plain(text(given.message, 'message'));
    if (given.result === true && given.txid !== txId) throw new Error(`it took ${String(given.txid)}, not ${txId}`);
    return { isTaken: given.result === true, code, reason: [code, message].filter(Boolean).join(': ') };
  });
  if (said.isTaken) return { outcome: 'accepted' };
  const { code, reason } = said;
  if (code === 'DUP_TRANSACTION_ERROR') return { outcome: 'known' };
  if (code === 'TRANSACTION_EXPIRATION_ERROR') return { outcome: 'expired', reason };
  const isInvalid = code === 'CONTRACT_VALIDATE_ERROR';
  const isFunds = code === 'BANDWITH_ERROR' || (isInvalid && isShort.test(reason));
  return { outcome: 'refused', why: isFunds ? 'funds' : isInvalid ? 'invalid' : 'other', reason };
}
