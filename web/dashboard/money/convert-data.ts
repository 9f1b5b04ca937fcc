import { client, payload } from '../api/client';

export type ConversionAsk = Readonly<{ fromCurrency: string; toCurrency: string; fromAmount: string }>;

/** Moves nothing. */
export const quoteOf = (query: ConversionAsk) =>
  payload(client.GET('/api/v1/conversions/quote', { params: { query } }));
export type Quote = Awaited<ReturnType<typeof quoteOf>>;

/** A quote with the moment it was read, and the key of its ask: as long as the ask is the same, so is the key, and a
 *  repeat after a lost answer finds the first conversion. */
export type Quoted = Readonly<{ ask: ConversionAsk; quote: Quote; at: number; key: string }>;
