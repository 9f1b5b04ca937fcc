import type { Route } from './http/route';
import { changeMe, changePassword, endSession, getMe, listSessions, regenerateBackupCodes } from './access/account';
import { listPasskeys, passkeyRegister, passkeyRegisterOptions, removePasskey } from './access/own-passkeys';
import { mfaOptions, mfaPasskeyOptions, sendMfaCode } from './access/mfa';
import {
  changeApiKey,
  createApiKey,
  getPublishableKey,
  listApiKeys,
  revokeApiKey,
  rotatePublishableKey,
} from './access/api-keys';
import { exportAuditLog, listAuditLog } from './access/audit-log';
import {
  bestConversionRoute,
  cheaperConversionTargets,
  conversionLiquidity,
  conversionsEnabled,
  executeConversion,
  getConversion,
  listConversions,
  quoteConversion,
} from './conversions/conversions';
import { simulatePayment } from './payments/simulate';
import { listCurrencies } from './currencies/currencies';
import { openApiRoute } from './http/reference/route';
import { changeEgressLimits, getEgressLimits, getPlatformLimits, setPlatformLimits } from './limits/outbound-limits';
import { getEvent, listEvents } from './webhooks/events';
import { getHealth, getReadiness } from './http/health';
import { getIcon } from './currencies/icons';
import {
  cancelInvoice,
  getInvoiceStatus,
  listInvoiceCurrencies,
  refreshInvoiceQuote,
  selectInvoiceCurrency,
  streamInvoiceEvents,
} from './payments/invoices';
import { exportLedger, exportStatement, getLiabilityProof, ledgerHistory, listBalances } from './ledger/ledger';
import { login, validateTotp } from './access/login';
import { passkeyLogin, passkeyLoginOptions, validatePasskey } from './access/passkey-login';
import { logout, refreshSession } from './access/session-routes';
import { startTotpSetup, verifyTotpSetup } from './access/totp-setup';
import { importPayouts, payoutTemplate } from './payouts/files';
import { approvePayout, cancelPayout, queuePayouts, sendPayoutCode, validatePayouts } from './payouts/mass-payouts';
import { exportPayout, getPayout, listPayoutLegs, listPayouts } from './payouts/views';
import { becomePayer, getRefundLink, leaveReceiptEmail } from './payments/payer';
import { getMinimum, listMinimums } from './conversions/min-orders';
import { acceptCrossChain, acceptUnderpaid, rejectCrossChain } from './payments/decisions';
import { cancelPayment, createPayment, getPayment, getTimeline, selectCurrency } from './payments/payments';
import { countPayments, exportPayments, exportPaymentsJson, listPaymentsRoute } from './payments/payment-lists';
import { exportPlatformAuditLog, listPlatformAuditLog } from './operators/audit-log';
import { findAnything } from './operators/find';
import { getIncident, listIncidents, resolveIncident } from './operators/incidents';
import { createInviteCode, listInviteCodes, revokeInviteCode } from './operators/invite-codes';
import { activateMerchant, getMerchant, listMerchants, setMerchantFee, suspendMerchant } from './operators/merchants';
import { getPlatformOverview } from './operators/overview';
import { approveRegistration, listRegistrations, refuseRegistration } from './operators/registrations';
import { getRecoveries, listUnclaimedDeposits } from './operators/recovery-lists';
import { listScreenings } from './operators/screenings';
import { listSwapOrders } from './operators/swap-orders';
import { getTreasury } from './operators/treasury';
import { streamPayments } from './payments/payment-stream';
import { summarizePayments } from './payments/summary';
import {
  freezeEgress,
  getExposure,
  limitExposure,
  listFreezes,
  listSwitches,
  setConversionPair,
  setSwitch,
} from './operators/platform';
import {
  cancelOperatorRequest,
  confirmOperatorRequest,
  fileOperatorRequest,
  getOperatorRequest,
  listOperatorRequests,
} from './operators/requests';
import { claimRefund, getRefundClaim } from './refunds/refund-claims';
import {
  approveRefund,
  cancelRefund,
  createRefund,
  getRefund,
  listPaymentRefunds,
  listRefunds,
  previewRefund,
  rejectRefund,
} from './refunds/refunds';
import { forgotPassword, register, resendVerification, resetPassword, verifyEmail } from './access/registration';
import { getRequestLog, listRequestLogs } from './access/request-logs';
import { screenPayment } from './screening/screening';
import { changeSettings, getSettings, rotateIpnSecret } from './access/settings';
import { changeBranding, getBranding, getLogo, removeLogo, setLogo } from './branding/branding';
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  lookUpInvitation,
  resendInvitation,
  revokeInvitation,
} from './access/invitations';
import { changeMember, listMembers, removeMember } from './access/team';
import { getSettlementChange, stopSettlementChange } from './wallets/settlement-changes';
import {
  addWallet,
  deactivateWallet,
  listWallets,
  repointWallet,
  sendWalletCode,
  approveSettlement,
  rejectSettlement,
} from './wallets/wallets';
import { listDeliveries, redeliverRoute } from './webhooks/webhook-deliveries';
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  replayWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from './webhooks/webhook-endpoints';
import { listEventTypes } from './webhooks/webhook-event-types';
import {
  deleteWhitelistEntry,
  getWhitelist,
  sendWhitelistCode,
  whitelistIp,
  whitelistWallet,
} from './wallets/whitelist';
import {
  approveWithdrawal,
  cancelWithdrawal,
  createWithdrawal,
  estimateWithdrawal,
  getWithdrawal,
  listWithdrawals,
  rejectWithdrawal,
  sendWithdrawalCode,
} from './withdrawals/withdrawals';
import { getInvoiceEmbedding, getPublicWidget, openWidgetCheckout } from './widgets/public-widgets';
import { changeWidget, createWidget, deleteWidget, getWidget, listWidgets } from './widgets/widgets';

/** Describes all routes, itself included. */
const getOpenApi: Route = openApiRoute('getOpenApi', 'integrators', () => routes);
const getDashboardOpenApi: Route = openApiRoute('getDashboardOpenApi', 'dashboard', () => routes);
const getOperatorsOpenApi: Route = openApiRoute('getOperatorsOpenApi', 'operators', () => routes);

/** Every route there is. One that is not here does not exist; one that is here is in the reference. Where two paths
 *  match, the first one answers. */
export const routes: readonly Route[] = [
  createPayment,
  listPaymentsRoute,
  exportPayments,
  exportPaymentsJson,
  countPayments,
  summarizePayments,
  streamPayments,
  getPayment,
  getTimeline,
  cancelPayment,
  selectCurrency,
  simulatePayment,
  acceptUnderpaid,
  acceptCrossChain,
  rejectCrossChain,
  screenPayment,
  createRefund,
  previewRefund,
  listPaymentRefunds,
  listRefunds,
  getRefund,
  cancelRefund,
  approveRefund,
  rejectRefund,
  executeConversion,
  listConversions,
  quoteConversion,
  bestConversionRoute,
  cheaperConversionTargets,
  conversionLiquidity,
  conversionsEnabled,
  getConversion,
  getRefundClaim,
  claimRefund,
  getInvoiceStatus,
  streamInvoiceEvents,
  listInvoiceCurrencies,
  selectInvoiceCurrency,
  refreshInvoiceQuote,
  cancelInvoice,
  becomePayer,
  leaveReceiptEmail,
  getRefundLink,
  getInvoiceEmbedding,
  getPublicWidget,
  openWidgetCheckout,
  listMinimums,
  getMinimum,
  listCurrencies,
  getIcon,
  listWallets,
  addWallet,
  repointWallet,
  deactivateWallet,
  approveSettlement,
  rejectSettlement,
  getSettlementChange,
  stopSettlementChange,
  sendWalletCode,
  getWhitelist,
  whitelistWallet,
  whitelistIp,
  deleteWhitelistEntry,
  sendWhitelistCode,
  createWithdrawal,
  estimateWithdrawal,
  sendWithdrawalCode,
  listWithdrawals,
  getWithdrawal,
  cancelWithdrawal,
  approveWithdrawal,
  rejectWithdrawal,
  listBalances,
  ledgerHistory,
  exportLedger,
  exportStatement,
  getLiabilityProof,
  listEventTypes,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  replayWebhookEndpoint,
  listDeliveries,
  redeliverRoute,
  listEvents,
  getEvent,
  validatePayouts,
  importPayouts,
  payoutTemplate,
  sendPayoutCode,
  queuePayouts,
  listPayouts,
  getPayout,
  listPayoutLegs,
  exportPayout,
  approvePayout,
  cancelPayout,
  listRequestLogs,
  getRequestLog,
  register,
  verifyEmail,
  resendVerification,
  forgotPassword,
  resetPassword,
  login,
  startTotpSetup,
  verifyTotpSetup,
  validateTotp,
  validatePasskey,
  passkeyLoginOptions,
  passkeyLogin,
  refreshSession,
  logout,
  getMe,
  changeMe,
  changePassword,
  listSessions,
  endSession,
  regenerateBackupCodes,
  listPasskeys,
  removePasskey,
  passkeyRegisterOptions,
  passkeyRegister,
  mfaOptions,
  mfaPasskeyOptions,
  sendMfaCode,
  lookUpInvitation,
  acceptInvitation,
  createInvitation,
  listInvitations,
  resendInvitation,
  revokeInvitation,
  listMembers,
  changeMember,
  removeMember,
  getPublishableKey,
  rotatePublishableKey,
  createApiKey,
  listApiKeys,
  changeApiKey,
  revokeApiKey,
  createWidget,
  listWidgets,
  getWidget,
  changeWidget,
  deleteWidget,
  getSettings,
  changeSettings,
  getBranding,
  changeBranding,
  setLogo,
  removeLogo,
  getLogo,
  getEgressLimits,
  changeEgressLimits,
  rotateIpnSecret,
  listAuditLog,
  exportAuditLog,
  findAnything,
  getPlatformOverview,
  listIncidents,
  getIncident,
  resolveIncident,
  listMerchants,
  getMerchant,
  setMerchantFee,
  suspendMerchant,
  activateMerchant,
  listPlatformAuditLog,
  exportPlatformAuditLog,
  listScreenings,
  listSwapOrders,
  getTreasury,
  getRecoveries,
  listUnclaimedDeposits,
  listRegistrations,
  approveRegistration,
  refuseRegistration,
  listInviteCodes,
  createInviteCode,
  revokeInviteCode,
  listSwitches,
  setSwitch,
  getExposure,
  limitExposure,
  setConversionPair,
  listFreezes,
  freezeEgress,
  listOperatorRequests,
  getOperatorRequest,
  fileOperatorRequest,
  confirmOperatorRequest,
  cancelOperatorRequest,
  getPlatformLimits,
  setPlatformLimits,
  getOpenApi,
  getDashboardOpenApi,
  getOperatorsOpenApi,
  getHealth,
  getReadiness,
];
