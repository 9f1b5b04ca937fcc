import { Type } from 'typebox';
import { amountPattern } from '../../domain/money';
import {
  callbackDomainPattern,
  feeBearers,
  settingBounds,
  underpaidPolicies,
} from '../../domain/access/setting-bounds';
import { fiatDecimals } from '../../domain/pricing/quote';
import { isChange, recordAct } from '../../db/access/audit-log';
import {
  changeSettings as change,
  rotateIpnSecret as rotate,
  settingsOf,
  type Settings,
} from '../../db/access/merchants';
import { factorProps, withFactor } from './step-up';
import { actorOf } from './users';
import { route } from '../http/route';
import { named, time } from '../http/schemas';

/** What a merchant sets for payments to come; those already made keep what they were made with. Contract: G2, G4. */

const tag = 'Settings';
const properties = {
  displayCurrency: Type.String({ enum: Object.keys(fiatDecimals), description: 'Fiat that payments are priced in.' }),
  feeBearer: Type.String({ enum: [...feeBearers] }),
  underpaymentTolerancePct: Type.Number({
    minimum: 0,
    maximum: settingBounds.underpaymentTolerancePct,
    multipleOf: 0.01,
  }),
  underpaidPolicy: Type.String({ enum: [...underpaidPolicies] }),
  callbackDomains: Type.Array(Type.String({ maxLength: 253, pattern: callbackDomainPattern }), {
    maxItems: settingBounds.callbackDomains,
    description: 'Hosts that callbacks may go to, with all below them; empty: any.',
  }),
  autoAcceptCrossChainHours: Type.Integer({
    minimum: 0,
    maximum: settingBounds.autoAcceptCrossChainHours,
    description: 'After so many hours a payment in another currency is accepted by itself; 0: never.',
  }),
  whitelistDelayHours: Type.Integer({
    minimum: 0,
    maximum: settingBounds.whitelistDelayHours,
    description:
      'A whitelist entry counts after so many hours. A shorter delay holds for new entries once the longer one has ' +
      'passed.',
  }),
  refundDailyCapUsd: Type.Union([Type.String({ pattern: amountPattern }), Type.Null()], {
    description: 'The most that refunds of 24 hours may be worth, in US dollars, as a decimal string; null: no cap.',
  }),
  defaultExpiresIn: Type.Union(
    [
      Type.Integer({
        minimum: settingBounds.defaultExpiresIn.least,
        maximum: settingBounds.defaultExpiresIn.most,
      }),
      Type.Null(),
    ],
    { description: 'Seconds; null: the platform’s.' },
  ),
  ipnEnabled: Type.Boolean(),
};
const settingsSchema = named('Settings', properties);

const present = (settings: Settings) => ({
  ...settings,
  underpaymentTolerancePct: JSON.parse(settings.underpaymentTolerancePct) as number,
});

export const getSettings = route({
  name: 'getSettings',
  method: 'get',
  path: '/api/v1/settings',
  summary: 'Read the settings',
  tag,
  envelope: 'A',
  success: { status: 200, schema: settingsSchema, description: 'The settings.' },
  errors: [],
  answer: async ({ merchant }, { db }) => ({ data: present(await settingsOf(db, merchant.id)) }),
});

export const changeSettings = route({
  name: 'changeSettings',
  method: 'patch',
  path: '/api/v1/settings',
  summary: 'Change settings',
  description: 'What is left out stays as it is.',
  tag,
  envelope: 'A',
  body: Type.Partial(settingsSchema),
  success: { status: 200, schema: settingsSchema, description: 'The settings as they are now.' },
  errors: [],
  async answer({ body, user, merchant, ...from }, { db, sessions, keys }) {
    const { underpaymentTolerancePct, ...rest } = body;
    const changes = {
      ...rest,
      ...(underpaymentTolerancePct === undefined ? {} : { underpaymentTolerancePct: String(underpaymentTolerancePct) }),
    } as Partial<Settings>;
    const next = await db.transaction(async (tx) => {
      const before = await settingsOf(tx, merchant.id, { lock: true });
      await change(tx, merchant.id, { ...before, ...changes });
      const after = await settingsOf(tx, merchant.id); // as they are written: 1.50 is 1.5
      if (isChange(present(before), present(after)))
        await recordAct(tx, actorOf(user, from), {
          merchantId: merchant.id,
          action: 'settings.changed',
          before: pick(before, changes),
          after: pick(after, changes),
        });
      return after;
    });
    sessions.forget();
    keys.forget();
    return { data: present(next) };
  },
});

const pick = (settings: Settings, names: object): Record<string, unknown> =>
  Object.fromEntries(Object.keys(names).map((name) => [name, settings[name as keyof Settings]]));

export const rotateIpnSecret = route({
  name: 'rotateIpnSecret',
  method: 'post',
  path: '/api/v1/settings/ipn-secret/rotate',
  summary: 'Replace the secret that signs IPN calls',
  tag,
  envelope: 'A',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({
      secret: Type.String({ description: '`whsec_…`; shown this once.' }),
      previousValidUntil: time,
    }),
    description: 'Signs from now on, repeats of older events included. The secret before signs too for 24 hours.',
  },
  errors: [],
  async answer({ body, user, merchant, ...from }, deps) {
    const { secret, previousValidUntil } = await withFactor(deps, user, 'ipn_secret', body, async (tx) => {
      await recordAct(tx, actorOf(user, from), { merchantId: merchant.id, action: 'ipn_secret.rotated' });
      return rotate(tx, deps.config.SECRETS_KEY, merchant.id);
    });
    return { data: { secret, previousValidUntil: previousValidUntil.toISOString() } };
  },
});
