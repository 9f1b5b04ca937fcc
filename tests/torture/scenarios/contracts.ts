import { readWithdrawal } from '../../../db/withdrawals/withdrawals';
import { openWithdrawal } from '../../../commands/withdrawals/create';
import { add, fromUnits, negate } from '../../../domain/money';
import { call } from '../../../sandbox/parts/json-rpc';
import type { Scenario } from '../stage';
import { amountOf } from './amounts';
import { chargedBeside } from './charged';

/** Runtime code: reverts; reverts wherever gas has a price, as in a block; stores the value that it is paid. */
const codes = { reverts: '0x5f5ffd', cheats: '0x3a156008575f5ffd5b00', stores: '0x345f5500' } as const;

/** A merchant who withdraws to a contract. What it takes in vain is his; above the usual, of who bears the fee. */
export const scenario: Scenario = (random, name) => {
  const kind = random.pick(['reverts', 'cheats', 'stores'] as const);
  const feeMode = random.pick(['deduct', 'add'] as const);
  const amount = amountOf(random, 'ETH');
  return {
    what: `${name}: ${amount} ETH to a contract that ${kind}, fee ${feeMode}`,
    async live(stage) {
      const { world, shop } = stage;
      const address = stage.address('ETH', name);
      await stage.withNode('ETH', () => call(world.chains.ethRpcUrl, 'anvil_setCode', [address, codes[kind]]));
      await stage.list({ currency: 'ETH', address });
      const ask = { currency: 'ETH', address, feeMode, amount };
      const { row } = await stage.surely((tx) => openWithdrawal(tx, stage.deps, shop.id, ask, stage.by, name));
      const what = `withdrawal ${row.id} to a contract that ${kind}`;
      const last = await stage.ended(what, ['completed', 'failed'], () => readWithdrawal(world.db, shop.id, row.id));
      const isPaid = kind === 'stores';
      if ((last.status === 'completed') !== isPaid) stage.problems.push(`${what} ended ${last.status}`);
      stage.recipients.push({ what, currency: 'ETH', address, expected: add('0', isPaid ? last.net_amount : '0') });
      const beside = await chargedBeside(stage, `withdrawal/${row.id}`);
      const [took] = await stage.read<{ units: string }>(
        `SELECT coalesce(sum(a.fee_units), 0)::text AS units FROM attempt a JOIN intent i ON i.id = a.intent_id
          WHERE i.kind = 'withdrawal' AND i.ref = $1 AND a.status = 'final'`,
        [row.id],
      );
      const fee = fromUnits(BigInt(took!.units), 18);
      if (isPaid && feeMode === 'deduct' && beside !== '0') stage.problems.push(`${what} costs ${beside} ETH beside`);
      if (!isPaid && add(beside, negate(fee)) !== '0')
        stage.problems.push(`${what} cost ${fee} ETH, of which ${beside} are charged`);
      stage.changes.push({ currency: 'ETH', amount: negate(add(isPaid ? last.gross_amount : '0', beside)) });
    },
  };
};
