import { reorgEthereum, transactionsOf } from '../../sandbox/chain-tools';
import {
  world,
  open,
  pay,
  half,
  halfPaid,
  sees,
  until,
  late,
  childOf,
  queued,
  depthOf,
  isReorged,
  takeEthereum,
  bringBack,
  type Case,
} from './stage';

/** Blocks of Ethereum that are replaced. */
export const ethereum: Case[] = [
  {
    rows: '14, 18',
    name: 'not confirmed within a day; what confirms later is a payment of its own',
    status: 'FAILED',
    told: 'created detected confirming failed repeat_deposit',
    async drive() {
      const invoice = await open('ETH');
      await pay(invoice);
      await world.payer.mine('ETH');
      await sees(invoice, 'CONFIRMING');
      await late(invoice, 25 * 3600);
      await sees(invoice, 'FAILED');
      await childOf(invoice, 'ETH');
      return invoice;
    },
  },
  {
    rows: '12, 8',
    name: 'a block with one of two parts is replaced, and it comes again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const invoice = await halfPaid('ETH');
      await pay(invoice, half(invoice));
      await world.payer.mine('ETH');
      await sees(invoice, 'CONFIRMING');
      await takeEthereum(1);
      await sees(invoice, 'PARTIALLY_PAID');
      await isReorged(invoice);
      await pay(invoice, half(invoice));
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '16, 11',
    name: 'six blocks of Ethereum are replaced before settlement, and have it again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice } = await queued('ETH');
      const raws = await takeEthereum(6);
      await sees(invoice, 'WAITING');
      await bringBack(raws);
      await sees(invoice, 'SETTLED', 'ETH');
      await world.history(`payment/${invoice.id}`, 'payment-reorged');
      return invoice;
    },
  },
  {
    rows: '16, 13',
    name: 'six blocks of Ethereum are replaced before settlement; it is paid again, on the nonce of its old sweep',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice } = await queued('ETH');
      await takeEthereum(6);
      await sees(invoice, 'WAITING');
      await pay(invoice);
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
  {
    rows: '16, 13',
    name: 'the same with a token, and another amount',
    status: 'SETTLED',
    exceptions: ['overpaid', 'reorged'],
    async drive() {
      const { invoice } = await queued('USDT_ERC20');
      await world.payer.mine('ETH', 3);
      await until('its sweep is sent', async () => {
        const [row] = await world.db.query(
          `SELECT FROM intent WHERE payment_id = $1 AND kind = 'sweep' AND status = 'sent'`,
          [invoice.id],
        );
        return row !== undefined;
      });
      await takeEthereum(await depthOf(invoice));
      await sees(invoice, 'WAITING');
      await pay(invoice, '40');
      await sees(invoice, 'SETTLED', 'ETH');
      const [{ nonces }] = await world.db.query(
        `SELECT array_agg(DISTINCT nonce) AS nonces FROM attempt WHERE from_address = $1`,
        [invoice.address],
      );
      expect(nonces).toEqual([0]);
      return invoice;
    },
  },
  {
    rows: '16 or 17',
    name: 'a reorganisation and the sweep',
    status: 'SETTLED',
    exceptions: 'any',
    async drive() {
      const { invoice } = await queued('USDT_ERC20');
      await world.payer.mine('ETH');
      const depth = await depthOf(invoice);
      await reorgEthereum(world.chains.ethRpcUrl, depth, await transactionsOf(world.chains.ethRpcUrl, depth));
      await sees(invoice, 'SETTLED', 'ETH');
      return invoice;
    },
  },
];
