import type { ParameterObject, PathItemObject, ReferenceObject, SchemaObject } from 'openapi3-ts/oas31';
import type { Components } from './components';
import { eventExampleOf, type Examples } from './examples';

/** The webhooks of the API reference: one per kind of data, from the schema of events itself. */

const headers: Readonly<Record<string, Readonly<{ name: string; description: string }>>> = {
  WebhookId: {
    name: 'webhook-id',
    description: 'Id of the event; the same on every attempt. Drop what you have seen.',
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    description: 'Seconds since 1970. Refuse what is older than 5 minutes.',
  },
  WebhookSignature: {
    name: 'webhook-signature',
    description:
      'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, space-separated, ' +
      'while a secret is rotated.',
  },
};
export const webhookParameters: Readonly<Record<string, ParameterObject>> = Object.fromEntries(
  Object.entries(headers).map(([key, header]) => [
    key,
    { ...header, in: 'header' as const, required: true, schema: { type: 'string' as const } },
  ]),
);

export const webhookResponses = {
  WebhookTaken: { description: 'Any 2xx: it has arrived. Anything else is tried again for about three days.' },
  WebhookGone: { description: 'The endpoint is switched off, and told of by `webhook_endpoint.disabled`.' },
};

type Discriminator = Readonly<{ discriminator: { mapping: Record<string, string> } }>;

/** An entry per kind; `Event` is a component already. */
export function webhooksOf(components: Components, examples: Examples): Record<string, PathItemObject> {
  const { discriminator } = components.schemas['Event'] as SchemaObject & Discriminator;
  const kinds = new Map<string, string[]>();
  for (const [type, ref] of Object.entries(discriminator.mapping)) kinds.set(ref, [...(kinds.get(ref) ?? []), type]);
  return Object.fromEntries(
    [...kinds].map(([ref, types]) => {
      const name = ref.slice(ref.lastIndexOf('/') + 1);
      const { description } = components.schemas[name]!;
      const media = { schema: { $ref: ref }, ...eventExampleOf(examples, types) };
      return [`${name[0]!.toLowerCase()}${name.slice(1)}`, { post: operation(name, description!, media) }];
    }),
  );
}

type Media = Readonly<{ schema: ReferenceObject; example?: unknown }>;
const operation = (name: string, description: string, media: Media): PathItemObject['post'] => ({
  operationId: `on${name}`,
  tags: ['Webhooks'],
  summary: `${name.replace(/Event$/, '').replaceAll(/(?!^)([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)} events`,
  description,
  security: [],
  parameters: Object.keys(webhookParameters).map((key) => ({ $ref: `#/components/parameters/${key}` })),
  requestBody: { required: true, content: { 'application/json': media } },
  responses: {
    '2XX': { $ref: '#/components/responses/WebhookTaken' },
    '410': { $ref: '#/components/responses/WebhookGone' },
  },
});
