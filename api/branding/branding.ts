import { Type } from 'typebox';
import { logoFrom } from '../../commands/branding/set-logo';
import { isChange, recordAct } from '../../db/access/audit-log';
import { brandingOf, lockBranding, readLogo, storeBranding, storeLogo, type Logo } from '../../db/branding/branding';
import { checkBranding, logoPath, type InvoiceBranding } from '../../domain/branding/branding';
import { accentColorPattern, logoBytes } from '../../domain/branding/bounds';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { brandingSchema, emailSchema } from '../http/schemas';

/** What a merchant shows of themselves on the hosted pages: whom to ask, a logo, a colour, terms. */

const tag = 'Settings';
const clearable = 'Empty clears it.';
const link = (description: string) => Type.String({ maxLength: 2048, description: `${description} ${clearable}` });

export const getBranding = route({
  name: 'getBranding',
  method: 'get',
  path: '/api/v1/settings/branding',
  summary: 'Read what payers see of you',
  tag,
  envelope: 'A',
  success: { status: 200, schema: brandingSchema, description: 'The branding.' },
  errors: [],
  answer: async ({ merchant }, { db }) => ({ data: await brandingOf(db, merchant.id) }),
});

export const changeBranding = route({
  name: 'changeBranding',
  method: 'patch',
  path: '/api/v1/settings/branding',
  summary: 'Change what payers see of you',
  description: 'Shown on the hosted page and the receipt, of open payments too. What is left out stays as it is.',
  tag,
  envelope: 'A',
  body: Type.Partial(
    Type.Object({
      supportEmail: Type.Union([emailSchema, Type.Literal('')], {
        description: `Where payers write to. ${clearable}`,
      }),
      supportUrl: link('A page of yours where payers ask: https.'),
      termsUrl: link('Your terms: https.'),
      accentColor: Type.String({
        maxLength: 7,
        pattern: accentColorPattern,
        description: `Hex such as \`#0a7cff\`, made darker or lighter where it would be hard to read. ${clearable}`,
      }),
    }),
  ),
  success: { status: 200, schema: brandingSchema, description: 'The branding as it is now.' },
  errors: ['CALLBACK_NOT_HTTPS', 'CALLBACK_INTERNAL'],
  async answer({ body, user, merchant, ...from }, { db, config }) {
    const branding = await db.transaction(async (tx) => {
      const before = await lockBranding(tx, merchant.id);
      const checked = checkBranding({ ...before, ...body }, { allowInsecure: config.ALLOW_INSECURE_CALLBACKS });
      const after = { ...checked, logoUrl: before.logoUrl };
      if (!isChange(before, after)) return before;
      await storeBranding(tx, merchant.id, checked);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'branding.changed',
        before,
        after,
      });
      return after;
    });
    return { data: branding };
  },
});

/** Takes the place of the logo, or removes it with null. */
const replaceLogo = (
  db: ApiDeps['db'],
  actor: ReturnType<typeof actorOf>,
  merchantId: string,
  logo: Logo | null,
): Promise<InvoiceBranding> =>
  db.transaction(async (tx) => {
    const before = await lockBranding(tx, merchantId);
    await storeLogo(tx, merchantId, logo);
    const after = { ...before, logoUrl: logo && logoPath(logo.id) };
    if (isChange(before, after)) await recordAct(tx, actor, { merchantId, action: 'branding.changed', before, after });
    return after;
  });

export const setLogo = route({
  name: 'setLogo',
  method: 'post',
  path: '/api/v1/settings/branding/logo',
  summary: 'Set the logo that payers see',
  description: 'Scripts, links, animations and everything from elsewhere is removed from an SVG.',
  tag,
  envelope: 'A',
  maxBytes: 160 * 1024,
  body: Type.Object({
    image: Type.String({
      minLength: 4,
      maxLength: Math.ceil(logoBytes / 3) * 4,
      description: `A PNG or SVG file of at most ${logoBytes} bytes, in base64; a PNG of at most 2048 pixels a side.`,
    }),
  }),
  success: { status: 200, schema: brandingSchema, description: 'The branding as it is now.' },
  errors: ['INVALID_LOGO'],
  answer: async ({ body, user, merchant, ...from }, { db }) => ({
    data: await replaceLogo(db, actorOf(user, from), merchant.id, await logoFrom(body.image)),
  }),
});

export const removeLogo = route({
  name: 'removeLogo',
  method: 'delete',
  path: '/api/v1/settings/branding/logo',
  summary: 'Remove the logo',
  tag,
  envelope: 'A',
  success: { status: 200, schema: brandingSchema, description: 'The branding as it is now.' },
  errors: [],
  answer: async ({ user, merchant, ...from }, { db }) => ({
    data: await replaceLogo(db, actorOf(user, from), merchant.id, null),
  }),
});

export const getLogo = route({
  name: 'getLogo',
  method: 'get',
  path: '/logos/{logoId}',
  summary: 'A merchant’s logo',
  tag: 'Invoices',
  envelope: 'B',
  params: Type.Object({ logoId: Type.String({ description: '24-hex id; another one with each logo.' }) }),
  success: { status: 200, type: ['image/png', 'image/svg+xml'], description: 'The image.' },
  errors: ['NOT_FOUND'],
  async answer({ params: { logoId } }, { db }) {
    const logo = isId(logoId) ? await readLogo(db, logoId) : null;
    if (!logo) throw new DomainError('NOT_FOUND');
    return {
      text: logo.content,
      type: logo.type,
      headers: {
        'Cache-Control': 'public, max-age=86400',
        // Opened by itself it is a page of ours, which may run and load nothing.
        'Content-Security-Policy': "default-src 'none'; sandbox",
      },
    };
  },
});
