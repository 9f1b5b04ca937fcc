import type { TSchema } from 'typebox';
import { routes } from '../../../api/routes';
import { access } from '../../../domain/access/access-table';

/** Every field in which a merchant, a payer or a donor may write freely, as the API declares it. */

type Schema = Readonly<{
  type?: string | readonly string[];
  pattern?: string;
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  items?: Schema;
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
}>;

const markup = '<b onclick="x">';

const isText = ({ type, pattern, format, enum: listed, const: only }: Schema): boolean =>
  [type].flat().includes('string') &&
  !listed &&
  only === undefined &&
  !format &&
  (!pattern || new RegExp(pattern, 'u').test(markup));

const namesIn = (schema: Schema, at: string): string[] => [
  ...(isText(schema) ? [at] : []),
  ...(schema.items ? namesIn(schema.items, `${at}[]`) : []),
  ...(schema.anyOf ?? []).flatMap((one) => namesIn(one, at)),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => namesIn(one, at ? `${at}.${name}` : name)),
];

/** Fields whose value is compared with a list, parsed, or used up as a secret: no page shows what was refused. */
const checkedFields = new Set(
  (
    'password newPassword currentPassword token code setupToken confirmToken totpToken challengeKey emailCode ' +
    'inviteCode email idempotencyKey currency fromCurrency toCurrency address settlementAddress destinationTag ' +
    'amount fixedAmount minAmount maxAmount suggestedAmounts[] allowedCurrencies[] allowedOrigins[] whitelistId ip ' +
    'allowedIps[] expiresAt since until type types[] enabledEvents[] image timeZone'
  ).split(' '),
);
const lastOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Addresses of the web: a page makes links of them. */
const isAddress = (name: string): boolean => /url$/i.test(lastOf(name));

const fieldsOf = (route: (typeof routes)[number]): string[] =>
  access[route.name].may === 'super_admin' || !route.body
    ? []
    : namesIn(route.body as TSchema as Schema, '')
        // A donor's postal address is text; every other address is one of a chain.
        .filter((name) => name === 'donor.address' || !checkedFields.has(lastOf(name)))
        .map((name) => `${route.name} ${name}`);

const all = routes.flatMap(fieldsOf);
export const freeTexts = all.filter((name) => !isAddress(name.split(' ')[1]!));
export const webAddresses = all.filter((name) => isAddress(name.split(' ')[1]!));
