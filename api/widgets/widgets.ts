import { Type, type Static } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { Decimal } from '../../domain/money';
import { defaultBranding, defaultSettings, type Branding, type WidgetSettings } from '../../domain/widgets/widget';
import { changeWidget as change, createWidget as create, settingsOf } from '../../commands/widgets/settings';
import { isChange, recordAct } from '../../db/access/audit-log';
import { publishableKeyOf } from '../../db/access/merchants';
import {
  deleteWidgetRow,
  readWidget,
  statsOf,
  widgetsOf,
  type WidgetRow,
  type WidgetStats,
} from '../../db/widgets/widgets';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { pageOf, paging } from '../http/schemas';
import { settingProperties, widgetSchema } from './schemas';

/** Payment buttons and donation forms for pages of the merchant. Contract: 2.11, 4.9, G14. */

const tag = 'Widgets';
const params = Type.Object({ widgetId: Type.String({ description: '24-hex id.' }) });
const { type, name, amountMode, ...rest } = settingProperties;
const body = Type.Object({ type, name, amountMode, ...Type.Partial(Type.Object(rest)).properties });
const changeBody = Type.Partial(Type.Object(settingProperties));
type Given = Partial<Static<typeof body>>;

/** An amount as it is written; a number has the digits that JavaScript prints. */
export const amountText = (amount: string | number): string =>
  typeof amount === 'string' ? amount : new Decimal(amount).toFixed();
const orNull = (amount: string | number | null): string | null => (amount === null ? null : amountText(amount));

/** The settings that a body names. */
function named(given: Given, branding: Branding): Partial<WidgetSettings> {
  const settings: Record<string, unknown> = { ...given };
  if (given.fixedAmount !== undefined) settings['fixedAmount'] = amountText(given.fixedAmount);
  if (given.minAmount !== undefined) settings['minAmount'] = orNull(given.minAmount);
  if (given.maxAmount !== undefined) settings['maxAmount'] = orNull(given.maxAmount);
  if (given.suggestedAmounts !== undefined) settings['suggestedAmounts'] = given.suggestedAmounts.map(amountText);
  if (given.branding !== undefined) settings['branding'] = { ...branding, ...given.branding };
  return settings;
}

/** What goes into a page. The publishable key is no secret. Contract: 5.1. */
const snippetOf = ({ id }: WidgetRow, key: string, { config }: Pick<ApiDeps, 'config'>): string =>
  `<script src="${new URL('/embed.js', config.CHECKOUT_URL).href}" defer></script>\n` +
  `<crypto-pay-button widget="${id}" key="${key}"></crypto-pay-button>`;

const present = (row: WidgetRow, stats: WidgetStats, embedSnippet: string) => ({
  id: row.id,
  merchantId: row.merchant_id,
  ...settingsOf(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  embedSnippet,
  stats: { opens: stats.opens, payments: stats.payments, paidUsd: stats.paid_usd },
});

async function shown(deps: ApiDeps, row: WidgetRow): Promise<ReturnType<typeof present>> {
  const [stats, key] = await Promise.all([statsOf(deps.db, row.id), publishableKeyOf(deps.db, row.merchant_id)]);
  return present(row, stats, snippetOf(row, key, deps));
}

const rulesOf = ({ config }: Pick<ApiDeps, 'config'>) => ({
  allowInsecureCallbacks: config.ALLOW_INSECURE_CALLBACKS,
  byLightning: config.LIGHTNING_PAYMENTS,
});
const checkId = (id: string): string => {
  if (!isId(id)) throw new DomainError('WIDGET_NOT_FOUND');
  return id;
};

export const createWidget = route({
  name: 'createWidget',
  method: 'post',
  path: '/api/v1/widgets',
  summary: 'Create a widget',
  description:
    'A payment button or a donation form for your pages: put `embedSnippet` there. Its payments are in the list of ' +
    'payments and in your webhooks. To `successUrl` and `cancelUrl` the outcome is appended: `status=paid` (or ' +
    '`expired`, `failed`, `cancelled`), `invoice_id`, `source=widget`, `widget_id`, `widget_type`. Nobody signs that ' +
    'query: deliver when the webhook says so.',
  tag,
  envelope: 'A',
  body,
  success: { status: 201, schema: widgetSchema, description: 'The widget.' },
  errors: ['CALLBACK_NOT_HTTPS', 'CALLBACK_INTERNAL'],
  async answer({ body: given, user, merchant, ...from }, deps) {
    const settings = { ...defaultSettings, ...named(given, defaultBranding) } as WidgetSettings;
    const row = await deps.db.transaction(async (tx) => {
      const made = await create(tx, merchant, settings, rulesOf(deps));
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'widget.created',
        target: made.id,
        after: settingsOf(made),
      });
      return made;
    });
    return { data: await shown(deps, row) };
  },
});

export const listWidgets = route({
  name: 'listWidgets',
  method: 'get',
  path: '/api/v1/widgets',
  summary: 'List widgets, newest first',
  tag,
  envelope: 'A',
  query: Type.Object({
    type: Type.Optional(type),
    isActive: Type.Optional(Type.Boolean({ description: 'Only those that are on, or off.' })),
    ...paging,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(widgetSchema), total: Type.Integer() }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, deps) {
    const [{ items, total }, key] = await Promise.all([
      widgetsOf(deps.db, merchant.id, query, pageOf(query)),
      publishableKeyOf(deps.db, merchant.id),
    ]);
    return { data: { items: items.map((row) => present(row, row.stats, snippetOf(row, key, deps))), total } };
  },
});

export const getWidget = route({
  name: 'getWidget',
  method: 'get',
  path: '/api/v1/widgets/{widgetId}',
  summary: 'Get a widget',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: widgetSchema, description: 'The widget.' },
  errors: ['WIDGET_NOT_FOUND'],
  answer: async ({ merchant, params: { widgetId } }, deps) => ({
    data: await shown(deps, await readWidget(deps.db, merchant.id, checkId(widgetId))),
  }),
});

export const changeWidget = route({
  name: 'changeWidget',
  method: 'patch',
  path: '/api/v1/widgets/{widgetId}',
  summary: 'Change a widget, or switch it off and on',
  description:
    'What is left out stays as it is, in `branding` too. Checkouts that are open keep the terms they began with.',
  tag,
  envelope: 'A',
  params,
  body: changeBody,
  success: { status: 200, schema: widgetSchema, description: 'The widget as it is now.' },
  errors: ['WIDGET_NOT_FOUND', 'CALLBACK_NOT_HTTPS', 'CALLBACK_INTERNAL'],
  async answer({ params: { widgetId }, body: given, user, merchant, ...from }, deps) {
    const row = await deps.db.transaction(async (tx) => {
      const before = await readWidget(tx, merchant.id, checkId(widgetId), { lock: true });
      if (Object.keys(given).length === 0) return before;
      const after = await change(tx, merchant, before, named(given, before.branding), rulesOf(deps));
      if (isChange(settingsOf(before), settingsOf(after)))
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'widget.changed',
          target: widgetId,
          before: settingsOf(before),
          after: settingsOf(after),
        });
      return after;
    });
    return { data: await shown(deps, row) };
  },
});

export const deleteWidget = route({
  name: 'deleteWidget',
  method: 'delete',
  path: '/api/v1/widgets/{widgetId}',
  summary: 'Delete a widget',
  tag,
  envelope: 'A',
  params,
  success: {
    status: 200,
    schema: Type.Object({ deleted: Type.Literal(true) }),
    description: 'No checkout can be opened any more; its payments stay.',
  },
  errors: ['WIDGET_NOT_FOUND'],
  async answer({ params: { widgetId }, user, merchant, ...from }, { db }) {
    await db.transaction(async (tx) => {
      await deleteWidgetRow(tx, merchant.id, checkId(widgetId));
      await recordAct(tx, actorOf(user, from), { merchantId: merchant.id, action: 'widget.deleted', target: widgetId });
    });
    return { data: { deleted: true } };
  },
});
