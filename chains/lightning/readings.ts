import {
  bytes,
  counted,
  fields,
  height,
  hexText,
  list,
  Misshapen,
  oneOf,
  text,
  whole,
  yes,
  type Fields,
} from './answers';
import { lndHttp, type LndLogin } from './http';
import type { BitcoinNetwork, Invoice } from './invoice';

/** What anybody of ours may know of a node. The macaroon needs `info:read` and `offchain:read`, and for `holds` also
 *  `onchain:read`: it moves nothing. */

type NodeInfo = Readonly<{
  version: string;
  /** The node's public key, hex. */
  key: string;
  network: BitcoinNetwork;
  /** The newest block that the node has. */
  height: number;
  /** Whether that is the newest that there is, as far as the node knows. Until then heights prove nothing. */
  isSynced: boolean;
}>;

/** A channel of ours. Satoshi. */
export type Channel = Readonly<{
  /** Its funding output, `txid:index`. */
  point: string;
  peer: string;
  isActive: boolean;
  isPrivate: boolean;
  capacity: bigint;
  /** What we can send at the most, and what can reach us: without the reserves, and within what may be under way. Fees
   *  of the way and of the channel's own transactions come off that. */
  sendable: bigint;
  receivable: bigint;
}>;

type ChannelBackup = Readonly<{ channels: readonly string[]; sealed: string }>;

export type LndReadings = Readonly<{
  /** Throws NODE_UNREACHABLE for a node of another network. */
  info(): Promise<NodeInfo>;
  channels(): Promise<readonly Channel[]>;
  /** All that the node has of its own, at the most: in channels that are open, being opened or closed, what is on its
   *  way to others, and its wallet. Without what comes in (`incoming`): that may not be its own. What a close has under
   *  way may count twice. Millisatoshi. */
  holds(): Promise<bigint>;
  /** What is offered to the node in its channels, by hash: money that it holds, and what it has taken whose channel has
   *  not told the other side yet; not what it passes on. lnd says whole satoshi: each is given as one more, at the
   *  most. Millisatoshi. */
  incoming(): Promise<ReadonlyArray<Readonly<{ hash: string; msat: bigint }>>>;
  /** An invoice as lnd itself reads it: what it would pay, to whom. */
  decode(invoice: string): Promise<Pick<Invoice, 'amountMsat' | 'hash' | 'payee' | 'createdAt' | 'expiresAt'>>;
  /** All channels in one file, which the node's seed alone opens (Base64). With it, and without the newest state, peers
   *  are asked to close the channels; a restored older state of the node would lose what is in them. */
  backup(): Promise<ChannelBackup>;
}>;

const networks: readonly BitcoinNetwork[] = ['mainnet', 'testnet', 'signet', 'regtest', 'simnet'];

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const notBelowZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

/** What one side of a channel can send: its balance without its reserve, and no more than the other side lets be under
 *  way at once. Satoshi. */
function sendableBy(balance: bigint, own: Fields, other: Fields): bigint {
  const free = notBelowZero(balance - whole(own, 'chan_reserve_sat'));
  return least(free, whole(other, 'max_pending_amt_msat') / 1000n);
}

function channelOf(value: unknown): Channel {
  const channel = fields(value, 'A channel');
  const ours = fields(channel.local_constraints, 'local_constraints');
  const theirs = fields(channel.remote_constraints, 'remote_constraints');
  return {
    point: text(channel, 'channel_point'),
    peer: hexText(channel, 'remote_pubkey', 33),
    isActive: yes(channel, 'active'),
    isPrivate: yes(channel, 'private'),
    capacity: whole(channel, 'capacity'),
    sendable: sendableBy(whole(channel, 'local_balance'), ours, theirs),
    receivable: sendableBy(whole(channel, 'remote_balance'), theirs, ours),
  };
}

/** What a channel has coming in for the node itself. Of amounts lnd leaves out what is less than a satoshi. */
const incomingOf = (value: unknown): Array<Readonly<{ hash: string; msat: bigint }>> =>
  list(fields(value, 'A channel'), 'pending_htlcs')
    .map((one) => fields(one, 'A part'))
    .filter((part) => yes(part, 'incoming') && whole(part, 'forwarding_channel') === 0n)
    .map((part) => ({ hash: bytes(part, 'hash_lock', 32), msat: 1000n * whole(part, 'amount') + 999n }));

/** What can be sent and received now, over all channels that are up. One payment may go by several of them, in parts:
 *  the largest one may still be less. Satoshi. */
export function capacityOf(channels: readonly Channel[]): Readonly<{ sendable: bigint; receivable: bigint }> {
  const up = channels.filter(({ isActive }) => isActive);
  return {
    sendable: up.reduce((sum, { sendable }) => sum + sendable, 0n),
    receivable: up.reduce((sum, { receivable }) => sum + receivable, 0n),
  };
}

/** Millisatoshi of an amount as lnd writes one in two units. */
const msatIn = (from: Fields, name: string): bigint => whole(fields(from[name], name), 'msat');

/** Field by field as lnd's `rpcserver.go`, v0.20, adds it up: what others are offered is `unsettled_remote_balance`. */
async function holdsOf(lnd: ReturnType<typeof lndHttp>): Promise<bigint> {
  const inChannels = await lnd.ask({
    path: '/v1/balance/channels',
    shape: (answer) => {
      const balance = fields(answer, 'The balance of channels');
      const parts = ['local_balance', 'unsettled_remote_balance', 'pending_open_local_balance'] as const;
      return parts.reduce((sum, part) => sum + msatIn(balance, part), 0n);
    },
  });
  const closing = await lnd.ask({
    path: '/v1/channels/pending',
    shape: (answer) => whole(fields(answer, 'The pending channels'), 'total_limbo_balance'),
  });
  const inWallet = await lnd.ask({
    path: '/v1/balance/blockchain',
    shape: (answer) => {
      const balance = fields(answer, 'The balance of the wallet');
      return whole(balance, 'total_balance') + whole(balance, 'locked_balance');
    },
  });
  return inChannels + 1000n * (closing + inWallet);
}

export function lndReadings(login: LndLogin, network: BitcoinNetwork): LndReadings {
  const lnd = lndHttp(login);
  return {
    holds: () => holdsOf(lnd),
    info: () =>
      lnd.ask({
        path: '/v1/getinfo',
        shape: (answer) => {
          const info = fields(answer, 'The node');
          const chain = fields(list(info, 'chains')[0], 'Its chain');
          const own = oneOf(chain, 'network', networks);
          if (own !== network) throw new Misshapen(`this node is of ${own}, and ${network} is what we are of`);
          return {
            version: text(info, 'version'),
            key: hexText(info, 'identity_pubkey', 33),
            network: own,
            height: height(info, 'block_height'),
            isSynced: yes(info, 'synced_to_chain'),
          };
        },
      }),
    channels: () =>
      lnd.ask({
        path: '/v1/channels',
        shape: (answer) => list(fields(answer, 'The list'), 'channels').map(channelOf),
      }),
    incoming: () =>
      lnd.ask({
        path: '/v1/channels',
        shape: (answer) => list(fields(answer, 'The list'), 'channels').flatMap(incomingOf),
      }),
    decode: (invoice) =>
      lnd.ask({
        path: `/v1/payreq/${encodeURIComponent(invoice)}`,
        shape: (answer) => {
          const read = fields(answer, 'The invoice');
          const amountMsat = whole(read, 'num_msat');
          const createdAt = counted(read, 'timestamp');
          return {
            amountMsat: amountMsat || null,
            hash: hexText(read, 'payment_hash', 32),
            payee: hexText(read, 'destination', 33),
            ...{ createdAt, expiresAt: createdAt + counted(read, 'expiry') },
          };
        },
      }),
    backup: () =>
      lnd.ask({
        path: '/v1/channels/backup',
        shape: (answer) => {
          const whole = fields(fields(answer, 'The backup').multi_chan_backup, 'multi_chan_backup');
          const points = list(whole, 'chan_points').map((one) => {
            const point = fields(one, 'A channel');
            const txId = Buffer.from(text(point, 'funding_txid_bytes'), 'base64').reverse().toString('hex');
            return `${txId}:${height(point, 'output_index')}`;
          });
          return { channels: points, sealed: text(whole, 'multi_chan_backup') };
        },
      }),
  };
}
