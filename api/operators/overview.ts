import { Type } from 'typebox';
import { networks } from '../../domain/chains/assets';
import { firstIdOf } from '../../domain/ids';
import { readExposure } from '../../db/conversions/exposure';
import { freezes } from '../../db/limits/outbound';
import { lanesOf } from '../../db/txmanager/blockers';
import { backlog, networkStates, openIncidents, volumesSince } from '../../db/operators/overview';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { exact, named, nullable, time } from '../http/schemas';
import { exposureSchema } from './platform';

/** One page that says how the platform is doing. */

const text = Type.String();
const count = Type.Integer();
const overviewSchema = named('PlatformOverview', {
  incidents: Type.Array(Type.Object({ kind: text, count, oldestAt: time }), { description: 'Open ones, by kind.' }),
  networks: Type.Array(
    Type.Object({
      network: text,
      height: text,
      headHeight: text,
      lagSeconds: Type.Number({ description: 'How far the follower is behind the clock.' }),
      staleReason: nullable(Type.String({ description: 'Why its node is stale; null: it is not.' })),
      staleSince: nullable(time),
      tracesOffSince: nullable(time),
      openIntents: Type.Integer({ description: 'Transactions of ours under way.' }),
    }),
  ),
  outbox: Type.Object({ rows: count, ageSeconds: Type.Number({ description: 'Of the oldest request to Temporal.' }) }),
  openDeliveries: count,
  openPayments: count,
  openRequests: Type.Integer({ description: 'Of operators, waiting for confirmations.' }),
  waitingRegistrations: Type.Integer({ description: 'That an operator decides about.' }),
  audit: nullable(Type.Object({ at: time, violations: count })),
  frozen: Type.Array(Type.String({ description: 'Ticker; * for everything.' })),
  wallets: Type.Array(
    Type.Object({
      network: text,
      address: text,
      role: Type.String({ enum: ['treasury', 'gas'] }),
      lane: nullable(Type.String({ enum: ['used', 'dropped'] })),
      isBlocked: Type.Boolean(),
      frozenReason: nullable(text),
      waitingTxId: nullable(Type.String({ description: 'Its lowest transaction that is in no block.' })),
      behind: Type.Integer({ description: 'Transactions behind that one.' }),
    }),
    { description: 'Hot wallets of account chains.' },
  ),
  exposure: exposureSchema,
  volumes: Type.Array(
    Type.Object({
      hours: count,
      byCurrency: Type.Array(
        Type.Object({
          fiatCurrency: text,
          created: count,
          settled: count,
          createdAmount: exact('Prices of the payments made in this time.'),
          settledAmount: exact('Of those that are settled.'),
        }),
      ),
    }),
  ),
});

const windows = [24, 24 * 7];

async function overview({ db, config }: Pick<ApiDeps, 'db' | 'config'>) {
  const accountChains = config.networks.filter((id) => networks[id].kind === 'account');
  const waiting = await backlog(db);
  const volumes = [];
  for (const hours of windows)
    volumes.push({ hours, byCurrency: await volumesSince(db, firstIdOf(Date.now() - hours * 3_600_000)) });
  return {
    incidents: (await openIncidents(db)).map((one) => ({ ...one, oldestAt: one.oldestAt.toISOString() })),
    networks: (await networkStates(db, config.networks)).map((one) => ({
      ...one,
      staleSince: one.staleSince?.toISOString() ?? null,
      tracesOffSince: one.tracesOffSince?.toISOString() ?? null,
    })),
    outbox: { rows: waiting.outboxRows, ageSeconds: waiting.outboxAgeSeconds },
    openDeliveries: waiting.openDeliveries,
    openPayments: waiting.openPayments,
    openRequests: waiting.openRequests,
    waitingRegistrations: waiting.waitingRegistrations,
    audit:
      waiting.auditedAt === null
        ? null
        : { at: waiting.auditedAt.toISOString(), violations: waiting.auditViolations ?? 0 },
    frozen: (await freezes(db)).map(({ currency }) => currency),
    wallets: (await lanesOf(db, accountChains)).map((lane) => ({
      network: lane.network,
      address: lane.address,
      role: lane.role,
      lane: lane.lane,
      isBlocked: lane.isBlocked,
      frozenReason: lane.frozenReason,
      waitingTxId: lane.txId,
      behind: lane.behind,
    })),
    exposure: await readExposure(db, config.networks),
    volumes,
  };
}

export const getPlatformOverview = route({
  name: 'getPlatformOverview',
  method: 'get',
  path: '/api/v1/platform/overview',
  summary: 'How the platform is doing',
  tag: 'Platform',
  envelope: 'A',
  success: { status: 200, schema: overviewSchema, description: 'Incidents, networks, backlogs, money and volumes.' },
  errors: [],
  answer: async (_call, deps) => ({ data: await overview(deps) }),
});
