import type { ChainNode, ExpiringNode } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { jsonRpc } from '../json-rpc';
import type { NodeLogin } from '../node-http';
import {
  readAccount,
  readConsent,
  readNodeState,
  readReserves,
  type NodeState,
  type Reserves,
  type XrplAccount,
} from './accounts';
import { asking } from './answers';
import type { XrplChain } from './chain';
import { expiringNode } from './expiring';
import { readHash, readHead, readLedger, type XrplLedger } from './ledgers';
import { broadcast, readFees, submit, type SubmitAnswer, type XrplFees } from './sending';
import { lookUp, readSender, sightingOf, verify, type Window, type XrplSighting } from './sightings';
import type { XrplTransfer } from './transfers';

/** The half that talks to a node: rippled (now xrpld) over JSON-RPC. Every method throws NODE_UNREACHABLE (retried)
 *  where the node does not answer, or answers something else than it should. */
export type XrplNode = Readonly<{
  /** The newest validated ledger, which is final. */
  head(): Promise<Pick<XrplLedger, 'height' | 'hash' | 'time'>>;
  state(): Promise<NodeState>;
  readLedger(height: number): Promise<XrplLedger | null>;
  account(address: string, at?: number | 'validated'): Promise<XrplAccount | null>;
  /** Whether `to` takes payments of `from`, as of a validated ledger. */
  hasConsent(from: string, to: string, at: number): Promise<boolean>;
  reserves(): Promise<Reserves>;
  fees(): Promise<XrplFees>;
  submit(raw: string): Promise<SubmitAnswer>;
  broadcast: ChainNode['broadcast'];
  lookUp(txId: string, window: Window): Promise<XrplSighting>;
  verify(transfer: Pick<XrplTransfer, 'txId' | 'index' | 'to' | 'tag'>, ledgerHash: string): Promise<bigint | null>;
  sender(txId: string): Promise<Readonly<{ address: string; tag: string | null }> | null>;
  ledgerHash(height: number): Promise<string | null>;
  find(txId: string): ReturnType<typeof sightingOf>;
  expiring: ExpiringNode;
}>;

export function xrplNode({ url, user, password }: NodeLogin, patienceMs?: number): XrplNode {
  const ask = asking(jsonRpc(url, user, password, patienceMs));
  return {
    head: () => readHead(ask),
    state: () => readNodeState(ask),
    readLedger: (height) => readLedger(ask, height),
    account: (address, at) => readAccount(ask, address, at),
    hasConsent: (from, to, at) => readConsent(ask, from, to, at),
    reserves: () => readReserves(ask),
    fees: () => readFees(ask),
    submit: (raw) => submit(ask, raw),
    broadcast: (raw) => broadcast(ask, raw),
    lookUp: (txId, window) => lookUp(ask, txId, window),
    verify: (transfer, ledgerHash) => verify(ask, transfer, ledgerHash),
    sender: (txId) => readSender(ask, txId),
    ledgerHash: (height) => readHash(ask, height),
    find: (txId) => sightingOf(ask, txId),
    expiring: expiringNode(ask),
  };
}

/** The same node, refused where it is of another network: addresses look alike on all of them, and most signatures are
 *  good on any. What one says of a transaction is no proof of what another has. */
export function ofNetwork(node: XrplNode, { networkId }: XrplChain): XrplNode {
  let isRight = false;
  const check = async (): Promise<void> => {
    if (isRight) return;
    const { networkId: own } = await node.state();
    if (own !== networkId)
      throw new DomainError('NODE_UNREACHABLE', `The node is on network ${own} of the XRP Ledger, not on ${networkId}`);
    isRight = true;
  };
  type Act = (...args: unknown[]) => Promise<unknown>;
  const checked =
    (act: Act): Act =>
    async (...args) => {
      await check();
      return act(...args);
    };
  const all = <Part extends object>(part: Part): Part =>
    Object.fromEntries(Object.entries(part).map(([name, act]) => [name, checked(act as Act)])) as Part;
  const { state, expiring, ...asked } = node;
  return { ...all(asked), state, expiring: all(expiring) };
}
