import type { Route } from '../route';
import { listCurrencies } from './currencies';
import { getDocs, getDocsAsset, getOpenApi } from './docs';
import { getHealth, getMetrics, getReadiness } from './health';
import { getIcon } from './icons';
import {
  cancelInvoice,
  getInvoiceStatus,
  listInvoiceCurrencies,
  refreshInvoiceQuote,
  selectInvoiceCurrency,
  streamInvoiceEvents,
} from './invoices';
import { listBalances } from './ledger';
import { getMinimum, listMinimums } from './min-orders';
import {
  cancelPayment,
  countPayments,
  createPayment,
  getPayment,
  getTimeline,
  listPaymentsRoute,
  selectCurrency,
} from './payments';
import { getRequestLog } from './request-logs';
import { listWallets } from './wallets';
import { listEventTypes } from './webhook-event-types';

/** Every route there is. One that is not here does not exist; one that is here is in the reference. Where two paths match, the
 *  first one answers. */
export const routes: readonly Route[] = [
  createPayment,
  listPaymentsRoute,
  countPayments,
  getPayment,
  getTimeline,
  cancelPayment,
  selectCurrency,
  getInvoiceStatus,
  streamInvoiceEvents,
  listInvoiceCurrencies,
  selectInvoiceCurrency,
  refreshInvoiceQuote,
  cancelInvoice,
  listMinimums,
  getMinimum,
  listCurrencies,
  getIcon,
  listWallets,
  listBalances,
  listEventTypes,
  getRequestLog,
  getOpenApi,
  getDocs,
  getDocsAsset,
  getHealth,
  getReadiness,
  getMetrics,
];
