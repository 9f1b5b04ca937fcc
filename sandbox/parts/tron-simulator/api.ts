import type { Block, Chain } from './chain';
import { tryCall } from './contracts';
import { readTransaction, Refusal, type Transaction } from './transactions';
import { accountView, blockView, hexText, infoView, parametersView, resourcesView, txView } from './views';

/** The routes of a FullNode and of its view of final blocks, by path. Reference: HTTP API, developers.tron.network. */

export type Body = Readonly<Record<string, unknown>>;
export type Routes = Readonly<Record<string, (body: Body) => unknown>>;

/** What the next broadcast meets. `reply-lost`: it is taken and nothing is answered. `duplicate`: it is taken and
 *  answered as known. `dropped`: it is taken and no block ever has it. `expired`, `busy`: it is refused. */
export const oneFaults = ['reply-lost', 'duplicate', 'dropped', 'expired', 'busy', 'invalid'] as const;
type OneFault = (typeof oneFaults)[number];

export type Node = {
  readonly chain: Chain;
  /** How many blocks the node is behind the network. */
  lag: number;
  next: OneFault | null;
};

/** A call that is taken and not answered. */
export class ReplyLost extends Error {}

const heightAsked = (body: Body): number => (typeof body.num === 'number' ? body.num : -1);
const addressAsked = (value: unknown): string => {
  if (typeof value !== 'string' || !/^41[0-9a-f]{40}$/.test(value))
    throw new Error('class org.tron.core.services.http.JsonFormat$ParseException : INVALID hex String');
  return value;
};

/** What a view shows: a FullNode up to its newest block, `/walletsolidity` up to the newest final one. */
function viewOf(node: Node, isFinal: boolean) {
  const { chain } = node;
  const newest = (): Block => {
    const height = (isFinal ? chain.solid : chain.head).height - node.lag;
    return chain.at(Math.max(0, height))!;
  };
  const at = (height: number): Block | undefined => (height > newest().height ? undefined : chain.at(height));
  const place = (txId: unknown): Block | undefined => {
    const height = chain.placeOf(String(txId));
    return height === undefined ? undefined : at(height);
  };
  return { newest, at, place, world: () => chain.worldAt(newest().height) };
}

/** Reading, which both views have. */
function readingRoutes(node: Node, prefix: string, isFinal: boolean): Routes {
  const { newest, at, place, world } = viewOf(node, isFinal);
  const infosOf = (block: Block): unknown[] => block.mined.map((mined) => infoView(mined, block));
  return {
    [`${prefix}/getnowblock`]: () => blockView(newest()),
    [`${prefix}/getblockbynum`]: (body) => blockView(at(heightAsked(body))),
    [`${prefix}/gettransactioninfobyblocknum`]: (body) => {
      const block = at(heightAsked(body));
      return block ? infosOf(block) : [];
    },
    [`${prefix}/gettransactioninfobyid`]: ({ value }) => {
      const block = place(value);
      const mined = block?.mined.find(({ tx }) => tx.txId === value);
      return block && mined ? infoView(mined, block) : {};
    },
    [`${prefix}/getaccount`]: ({ address }) => {
      const asked = addressAsked(address);
      return accountView(asked, world().accounts.get(asked), world().contracts.has(asked));
    },
    [`${prefix}/triggerconstantcontract`]: (body) => constantCall(node, isFinal, body),
  };
}

/** Reference: /wallet/triggerconstantcontract. That a call reverts stands beside it: `result` is true all the same. */
function constantCall(node: Node, isFinal: boolean, body: Body): unknown {
  const { newest, world } = viewOf(node, isFinal);
  const [owner, to] = [addressAsked(body.owner_address), addressAsked(body.contract_address)];
  if (!world().contracts.has(to))
    return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hexText('Smart contract is not exist.') } };
  const done = tryCall(world(), { owner, to, data: String(body.data ?? ''), amount: 0n }, newest().time);
  const ret = done.contractRet === 'SUCCESS' ? {} : { ret: 'FAILED' };
  return {
    result: { result: true, ...(done.message ? { message: hexText(done.message) } : {}) },
    energy_used: done.energy,
    constant_result: [done.result],
    transaction: { ret: [ret], visible: false },
  };
}

/** Reference: /wallet/broadcasthex. */
function broadcast(node: Node, tx: Transaction): unknown {
  const said = (result: boolean, code: string, message: string): unknown => ({
    result,
    code,
    message,
    transaction: JSON.stringify({ txID: tx.txId }),
    txid: tx.txId,
  });
  const fault = node.next;
  node.next = null;
  if (fault === 'expired') return said(false, 'TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
  if (fault === 'invalid')
    return said(false, 'CONTRACT_VALIDATE_ERROR', 'Contract validate error : Cannot transfer TRX to a smartContract.');
  if (fault === 'busy') return said(false, 'SERVER_BUSY', 'Server busy.');
  try {
    node.chain.submit(tx);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return said(false, error.code, error.message);
  }
  if (fault === 'dropped') node.chain.drop(tx.txId);
  if (fault === 'reply-lost') throw new ReplyLost();
  if (fault === 'duplicate') return said(false, 'DUP_TRANSACTION_ERROR', 'Transaction already exists.');
  return said(true, 'SUCCESS', '');
}

export function nodeRoutes(node: Node): Routes {
  const { chain } = node;
  const { newest, world } = viewOf(node, false);
  return {
    ...readingRoutes(node, '/wallet', false),
    ...readingRoutes(node, '/walletsolidity', true),
    '/wallet/getaccountresource': ({ address }) =>
      resourcesView(world().accounts.get(addressAsked(address)), newest().time),
    '/wallet/getchainparameters': () => parametersView(),
    '/wallet/gettransactionfrompending': ({ value }) => {
      const tx = chain.pending().find(({ txId }) => txId === value);
      return tx ? txView(tx) : {};
    },
    '/wallet/broadcasthex': ({ transaction }) => broadcast(node, readTransaction(String(transaction))),
  };
}
