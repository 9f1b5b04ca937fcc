import { Type } from 'typebox';
import { lineStatuses, viewBatch, viewLine, type BatchStatus, type LineStatus } from '../../domain/payouts/payout';
import { countLines, listBatches, pageOfLines, shownLinesOf } from '../../db/payouts/payouts';
import { sendCsv } from '../http/csv';
import { momentOf } from '../http/dates';
import { isLive } from '../http/deps';
import { route } from '../http/route';
import { heldFlag, isOn, pageOf, paging } from '../http/schemas';
import { tag, count, batchProperties, batchSchema, lineSchema, params, found } from './schemas';

/** Mass payouts and their payments, as they are. Contract: 4.7. */

export const listPayouts = route({
  name: 'listPayouts',
  method: 'get',
  path: '/api/v1/mass-payouts',
  summary: 'List mass payouts, newest first',
  tag,
  envelope: 'A',
  query: Type.Object({
    status: Type.Optional(batchProperties.status),
    held: heldFlag,
    dateFrom: Type.Optional(Type.String({ maxLength: 40, description: 'Queued at or after.' })),
    dateTo: Type.Optional(Type.String({ maxLength: 40, description: 'Queued before.' })),
    ...paging,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(batchSchema), total: count }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, deps) {
    const filter = {
      status: query.status as BatchStatus | undefined,
      isDelayed: isOn(query.held),
      dateFrom: momentOf(query.dateFrom, 'dateFrom'),
      dateTo: momentOf(query.dateTo, 'dateTo'),
    };
    const { items, total } = await listBatches(deps.db, merchant.id, filter, pageOf(query));
    return { data: { items: items.map(({ row, counts }) => viewBatch(row, counts, isLive(deps))), total } };
  },
});

export const getPayout = route({
  name: 'getPayout',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}',
  summary: 'Get a mass payout with its payments',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({ ...batchProperties, legs: Type.Array(lineSchema) }),
    description: 'The batch, and its payments in the order of its rows.',
  },
  errors: ['BATCH_NOT_FOUND'],
  async answer({ merchant, params: { id } }, deps) {
    // One snapshot: the counts are those of the lines.
    return deps.db.transaction('REPEATABLE READ', async (tx) => {
      const row = await found(tx, merchant.id, id);
      const lines = await shownLinesOf(tx, row.id);
      return { data: { ...viewBatch(row, await countLines(tx, row.id), isLive(deps)), legs: lines.map(viewLine) } };
    });
  },
});

export const listPayoutLegs = route({
  name: 'listPayoutLegs',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}/legs',
  summary: 'List the payments of a mass payout',
  tag,
  envelope: 'A',
  params,
  query: Type.Object({ status: Type.Optional(Type.String({ enum: [...lineStatuses] })), ...paging }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(lineSchema), total: count }),
    description: 'One page in the order of the rows, and how many there are in all.',
  },
  errors: ['BATCH_NOT_FOUND'],
  async answer({ merchant, params: { id }, query }, { db }) {
    const { id: batchId } = await found(db, merchant.id, id);
    const { items, total } = await pageOfLines(db, batchId, query.status as LineStatus | undefined, pageOf(query));
    return { data: { items: items.map(viewLine), total } };
  },
});

const csvHead = Object.keys(lineSchema.properties) as Array<keyof ReturnType<typeof viewLine>>;

export const exportPayout = route({
  name: 'exportPayout',
  method: 'get',
  path: '/api/v1/mass-payouts/{id}/export.csv',
  summary: 'The payments of a mass payout as a file',
  description: "A cell that a spreadsheet would take for a formula begins with `'`.",
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    type: 'text/csv',
    headers: ['Content-Disposition'],
    description: 'One line per payment, in the order of the rows.',
  },
  errors: ['BATCH_NOT_FOUND'],
  async answer(call, deps) {
    const { id } = await found(deps.db, call.merchant.id, call.params.id);
    return sendCsv(call, deps, {
      name: `mass-payout-${id}`,
      head: csvHead,
      async *batches() {
        const lines = (await shownLinesOf(deps.db, id)).map(viewLine);
        yield lines.map((line) => csvHead.map((name) => String(line[name] ?? '')));
      },
    });
  },
});
