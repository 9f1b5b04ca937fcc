import { oneOf, stated, textOf } from '../design/filter';

export const deliveryStatuses = ['pending', 'succeeded', 'retrying', 'failed', 'cancelled'] as const;

/** Which deliveries are shown; all of it is in the address. */
export type DeliveryFilter = Readonly<{
  endpointId?: string | undefined;
  status?: (typeof deliveryStatuses)[number] | undefined;
  eventId?: string | undefined;
  paymentId?: string | undefined;
}>;

const idOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text && /^[0-9a-f]{24}$/.test(text) ? text : undefined;
};

export const deliveryFilterOf = (search: Readonly<Record<string, unknown>>): DeliveryFilter =>
  stated({
    endpointId: search['endpointId'] === 'ipn' ? 'ipn' : idOf(search['endpointId']),
    status: oneOf(deliveryStatuses, search['status']),
    eventId: idOf(search['eventId']),
    paymentId: idOf(search['paymentId']),
  });
