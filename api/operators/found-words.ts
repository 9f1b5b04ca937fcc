import type { Found, RecordStory } from '../../commands/operators/find';
import { runbookOf } from '../../commands/operators/runbooks';
import { workflowUrl, type TemporalPlace } from './workflow-url';

/** What a shell prints of a search: the same facts as `GET /api/v1/platform/find`. */

type Intent = Found['intents'][number];

const at = (time: Date | string): string => new Date(time).toISOString();
/** A list under its name; nothing where it is empty. */
const part = (name: string, lines: readonly string[]): string[] =>
  lines.length ? [`  ${name}`, ...lines.map((line) => `    ${line}`)] : [];

const workflowWords = (settings: TemporalPlace, id: string): string =>
  [id, workflowUrl(settings, id) ?? []].flat().join('  ');

function intentLines(settings: TemporalPlace, { intent, workflowId }: Intent): string[] {
  const led = workflowId === null ? 'no workflow: lost by a recovery' : workflowWords(settings, workflowId);
  return [
    `${intent.id}  ${intent.kind}  ${intent.currency} on ${intent.network}  ${intent.status}` +
      `${intent.booked ? ', booked' : ''}  from ${intent.fromAddress}  ${led}`,
    ...intent.attempts.map(
      ({ n, txId, status, nonce, height, success }) =>
        `  attempt ${n}  ${txId}  ${status}${success === false ? ', reverted' : ''}` +
        `${nonce === null ? '' : `  nonce ${nonce}`}${height === null ? '' : `  block ${height}`}`,
    ),
  ];
}

function recordLines(settings: TemporalPlace, { record, ...story }: RecordStory): string[] {
  const money = record.amount === null ? '' : `  ${record.amount} ${record.currency ?? ''}`.trimEnd();
  const names = [
    record.slug === null ? [] : `slug ${record.slug}`,
    record.order_id === null ? [] : `order ${record.order_id}`,
    record.address === null ? [] : `address ${record.address}`,
  ].flat();
  return [
    `${record.kind} ${record.id}  ${record.status}${money}  ${at(record.created_at)}`,
    `  merchant ${record.merchant_name} (${record.merchant_id})`,
    ...(names.length ? [`  ${names.join('  ')}`] : []),
    ...part(
      'workflows',
      story.workflowIds.map((id) => workflowWords(settings, id)),
    ),
    ...part(
      'deposits',
      story.deposits.map(
        (one) =>
          `${one.amount} ${one.currency ?? 'of an unknown token'}  ${one.status}  ${one.network} ${one.txId} ` +
          `output ${one.index}  to ${one.address}${one.height === null ? '' : `  block ${one.height}`}`,
      ),
    ),
    ...part(
      'sent by us',
      story.intents.flatMap((one) => intentLines(settings, one)),
    ),
    ...part(
      'journals',
      story.journals.flatMap(({ id, key, reverses, createdAt, postings }) => [
        `${id}  ${key}${reverses === null ? '' : `  takes back ${reverses}`}  ${at(createdAt)}`,
        ...postings.map(({ debit, credit, amount, asset }) => `  ${amount} ${asset}  ${debit} to ${credit}`),
      ]),
    ),
    ...part(
      'deliveries',
      story.deliveries.map(
        (one) =>
          `${one.id}  ${one.type}  ${one.status} after ${one.attempts} attempts  ` +
          `${URL.parse(one.url)?.host ?? ''}${one.nextAttemptAt === null ? '' : `  next ${at(one.nextAttemptAt)}`}`,
      ),
    ),
    ...part(
      'incidents',
      story.incidents.map(
        ({ id, kind, createdAt, resolvedAt }) =>
          `${id}  ${kind}  ${at(createdAt)}  ${resolvedAt === null ? `open: docs/${runbookOf(kind)}` : 'resolved'}`,
      ),
    ),
  ];
}

/** Everything that a search has found, in lines. */
export function foundWords(settings: TemporalPlace, found: Found): string {
  const own = new Set(found.records.flatMap(({ intents }) => intents.map(({ intent }) => intent.id)));
  const lines = [
    ...found.records.flatMap((one) => recordLines(settings, one)),
    ...(found.isCut ? ['More records than these: look for something narrower'] : []),
    ...found.intents
      .filter(({ intent }) => !own.has(intent.id))
      .flatMap((one) => intentLines(settings, one).map((line, n) => (n === 0 ? `intent ${line}` : line))),
    ...found.addresses.map(
      ({ network, address, role, paymentId, conversionId, merchantId }) =>
        `address ${address} on ${network}: ours, ${role}` +
        `${paymentId === null ? '' : `, payment ${paymentId}`}` +
        `${conversionId === null ? '' : `, conversion ${conversionId}`}` +
        `${merchantId === null ? '' : `, merchant ${merchantId}`}`,
    ),
    ...found.merchants.map(({ id, name, status }) => `merchant ${id}  ${status}  ${name}`),
    ...found.users.map(
      ({ id, email, role, isActive, merchantId, merchantName }) =>
        `user ${id}  ${email}  ${role}${isActive ? '' : ', switched off'}` +
        `${merchantId === null ? '' : `  of ${merchantName} (${merchantId})`}`,
    ),
  ];
  return lines.join('\n') || 'Nothing is called that, and no address or transaction of ours is it';
}
