import { mayCall, type FactorAction, type Holder, type May, type Rights, type Scope } from './access';
import type { RateClass } from './rate-limits';

/** `factor`: the action for which a session must bring a fresh second factor in the body; keys have none. `noMerchant`:
 *  the error for a user who belongs to no merchant, where it is not NO_MERCHANT_CONTEXT. */
export type Access = Readonly<{
  may: May;
  rate: RateClass | 'none';
  /** Routes of one bucket share one limit; without it: a limit of its own. */
  bucket?: string;
  factor?: FactorAction;
  noMerchant?: 'NO_MERCHANT_CONTEXT' | 'NO_SCOPE';
}>;

const createPayments = { key: 'payments:create', session: 'payments:manage' } as const;
const readPayments = { key: 'payments:read', session: 'payments:view' } as const;
const readRefunds = { key: 'refunds:read', session: 'payments:view', or: 'refunds:view' } as const;
const createRefunds = { key: 'refunds:create', session: 'payments:manage', or: 'refunds:manage' } as const;
const decideRefunds = { key: null, session: 'payments:manage', or: 'refunds:manage' } as const;
const readConversions = { key: 'conversions:read', session: 'conversions:view' } as const;
const readPayouts = { key: 'payouts:read', session: 'mass-payouts:view' } as const;
const readWithdrawals = { key: 'withdrawals:read', session: 'withdrawals:view' } as const;
const readLedger = { key: 'ledger:read', session: 'balances:view' } as const;
const viewWebhooks = { key: 'webhooks:manage', session: 'webhooks:view' } as const;
const manageWebhooks = { key: 'webhooks:manage', session: 'webhooks:manage' } as const;
const readEvents = { key: 'events:read', session: 'webhooks:view' } as const;
/** Dashboard only: a secret key is refused like a token that is none. */
const onlySession = <P extends Rights['session']>(session: P) => ({ key: null, session }) as const;

/** Every route there is, by its name: who may call it, how often, and with which second factor. The guard reads nothing
 *  else. A route that is not here does not compile. Contract: 5.3, 8. */
export const access = {
  createPayment: { may: createPayments, rate: 'standard' },
  listPayments: { may: readPayments, rate: 'standard' },
  exportPayments: { may: readPayments, rate: 'standard' },
  exportPaymentsJson: { may: readPayments, rate: 'standard' },
  countPayments: { may: readPayments, rate: 'standard' },
  streamPayments: { may: readPayments, rate: 'standard' },
  summarizePayments: { may: readPayments, rate: 'standard' },
  getPayment: { may: readPayments, rate: 'standard' },
  getPaymentTimeline: { may: readPayments, rate: 'standard' },
  cancelPayment: { may: createPayments, rate: 'standard' },
  simulatePayment: { may: createPayments, rate: 'standard' },
  selectPaymentCurrency: { may: createPayments, rate: 'standard' },
  acceptUnderpaid: { may: onlySession('payments:manage'), rate: 'standard' },
  acceptCrossChain: { may: onlySession('payments:manage'), rate: 'standard' },
  rejectCrossChain: { may: onlySession('payments:manage'), rate: 'standard' },
  screenPayment: { may: readPayments, rate: 'screen' },
  createRefund: { may: createRefunds, rate: 'standard', factor: 'refund' },
  previewRefund: { may: createRefunds, rate: 'standard' },
  listPaymentRefunds: { may: readRefunds, rate: 'standard' },
  listRefunds: { may: readRefunds, rate: 'standard' },
  getRefund: { may: readRefunds, rate: 'standard' },
  cancelRefund: { may: createRefunds, rate: 'standard' },
  approveRefund: { may: decideRefunds, rate: 'change', factor: 'refund' },
  rejectRefund: { may: decideRefunds, rate: 'change', factor: 'refund' },
  executeConversion: {
    may: { key: 'conversions:execute', session: 'conversions:manage' },
    rate: 'convert',
    factor: 'conversion',
  },
  listConversions: { may: readConversions, rate: 'standard' },
  quoteConversion: { may: readConversions, rate: 'quote' },
  bestConversionRoute: { may: readConversions, rate: 'routes', noMerchant: 'NO_SCOPE' },
  cheaperConversionTargets: { may: readConversions, rate: 'routes' },
  conversionLiquidity: { may: readConversions, rate: 'global' },
  conversionsEnabled: { may: readConversions, rate: 'standard' },
  getConversion: { may: readConversions, rate: 'global' },
  validatePayouts: { may: onlySession('mass-payouts:manage'), rate: 'payoutCheck' },
  importPayouts: { may: onlySession('mass-payouts:manage'), rate: 'payoutCheck' },
  payoutTemplate: { may: readPayouts, rate: 'standard' },
  sendPayoutCode: { may: onlySession('mass-payouts:manage'), rate: 'emailCode' },
  queuePayouts: { may: onlySession('mass-payouts:manage'), rate: 'payoutQueue', factor: 'mass_payout' },
  listPayouts: { may: readPayouts, rate: 'standard' },
  getPayout: { may: readPayouts, rate: 'standard' },
  listPayoutLegs: { may: readPayouts, rate: 'standard' },
  exportPayout: { may: readPayouts, rate: 'standard' },
  approvePayout: { may: onlySession('mass-payouts:manage'), rate: 'change', factor: 'mass_payout' },
  cancelPayout: { may: onlySession('mass-payouts:manage'), rate: 'payoutCancel' },
  listRequestLogs: { may: readPayments, rate: 'standard' },
  getRequestLog: { may: readPayments, rate: 'standard' },

  getInvoiceStatus: { may: 'public', rate: 'poll' },
  streamInvoice: { may: 'public', rate: 'poll' },
  listInvoiceCurrencies: { may: 'public', rate: 'poll' },
  selectInvoiceCurrency: { may: 'public', rate: 'choice' },
  refreshInvoiceQuote: { may: 'public', rate: 'choice' },
  cancelInvoice: { may: 'public', rate: 'cancel' },
  leaveReceiptEmail: { may: 'public', rate: 'claim' },
  becomePayer: { may: 'public', rate: 'claim' },
  getRefundLink: { may: 'public', rate: 'claim' },
  getInvoiceEmbedding: { may: 'public', rate: 'poll' },
  getPublicWidget: { may: 'public', rate: 'poll' },
  openWidgetCheckout: { may: 'publishable', rate: 'checkout' },
  getRefundClaim: { may: 'public', rate: 'poll' },
  claimRefund: { may: 'public', rate: 'claim' },

  listMinimums: { may: 'public', rate: 'standard' },
  getMinimum: { may: 'public', rate: 'standard' },
  listCurrencies: { may: 'public', rate: 'standard' },
  getLogo: { may: 'public', rate: 'poll' },
  getIcon: { may: 'public', rate: 'none' },

  listWallets: { may: { key: 'wallets:read', session: 'wallets:view' }, rate: 'global' },
  addWallet: { may: onlySession('wallets:manage'), rate: 'change', factor: 'wallet_change' },
  repointWallet: { may: onlySession('wallets:manage'), rate: 'change', factor: 'wallet_change' },
  approveSettlement: { may: onlySession('wallets:manage'), rate: 'change', factor: 'wallet_change' },
  rejectSettlement: { may: onlySession('wallets:manage'), rate: 'change', factor: 'wallet_change' },
  getSettlementChange: { may: 'public', rate: 'poll' },
  stopSettlementChange: { may: 'public', rate: 'claim' },
  deactivateWallet: { may: onlySession('wallets:manage'), rate: 'change', factor: 'wallet_change' },
  sendWalletCode: { may: onlySession('wallets:manage'), rate: 'emailCode' },
  getWhitelist: { may: onlySession('whitelist:view'), rate: 'standard' },
  whitelistWallet: { may: onlySession('whitelist:manage'), rate: 'whitelist', factor: 'whitelist_change' },
  whitelistIp: { may: onlySession('whitelist:manage'), rate: 'whitelist', factor: 'whitelist_change' },
  deleteWhitelistEntry: { may: onlySession('whitelist:manage'), rate: 'whitelist', factor: 'whitelist_change' },
  sendWhitelistCode: { may: onlySession('whitelist:manage'), rate: 'emailCode' },
  createWithdrawal: { may: onlySession('withdrawals:manage'), rate: 'change', factor: 'withdrawal' },
  estimateWithdrawal: { may: onlySession('withdrawals:view'), rate: 'standard' },
  listWithdrawals: { may: readWithdrawals, rate: 'standard' },
  getWithdrawal: { may: readWithdrawals, rate: 'standard' },
  cancelWithdrawal: { may: onlySession('withdrawals:manage'), rate: 'change' },
  approveWithdrawal: { may: onlySession('withdrawals:manage'), rate: 'change', factor: 'withdrawal' },
  rejectWithdrawal: { may: onlySession('withdrawals:manage'), rate: 'change', factor: 'withdrawal' },
  sendWithdrawalCode: { may: onlySession('withdrawals:manage'), rate: 'emailCode' },
  listBalances: { may: readLedger, rate: 'global' },
  ledgerHistory: { may: readLedger, rate: 'global' },
  exportLedger: { may: readLedger, rate: 'global' },
  exportStatement: { may: readLedger, rate: 'global' },
  getLiabilityProof: { may: readLedger, rate: 'global' },

  register: { may: 'public', rate: 'register' },
  verifyEmail: { may: 'public', rate: 'verifyEmail' },
  resendVerification: { may: 'public', rate: 'mail' },
  forgotPassword: { may: 'public', rate: 'mail' },
  resetPassword: { may: 'public', rate: 'resetPassword' },
  login: { may: 'public', rate: 'login' },
  startTotpSetup: { may: 'public', rate: 'secondStep' },
  verifyTotpSetup: { may: 'public', rate: 'secondStep' },
  validateTotp: { may: 'public', rate: 'secondStep' },
  validatePasskey: { may: 'public', rate: 'secondStep' },
  passkeyLoginOptions: { may: 'public', rate: 'secondStep' },
  passkeyLogin: { may: 'public', rate: 'secondStep' },
  refreshSession: { may: 'public', rate: 'refresh' },
  logout: { may: 'public', rate: 'secondStep' },

  getMe: { may: 'user', rate: 'standard' },
  changeMe: { may: 'user', rate: 'change' },
  changePassword: { may: 'user', rate: 'resetPassword', factor: 'password' },
  listSessions: { may: 'user', rate: 'standard' },
  endSession: { may: 'user', rate: 'change' },
  regenerateBackupCodes: { may: 'user', rate: 'change', factor: 'backup_codes' },
  listPasskeys: { may: 'user', rate: 'standard' },
  removePasskey: { may: 'user', rate: 'change' },
  passkeyRegisterOptions: { may: 'user', rate: 'change', factor: 'passkey' },
  passkeyRegister: { may: 'user', rate: 'change' },
  mfaOptions: { may: 'user', rate: 'standard' },
  mfaPasskeyOptions: { may: 'user', rate: 'change' },
  sendMfaCode: { may: 'user', rate: 'emailCode' },

  lookUpInvitation: { may: 'public', rate: 'invitation' },
  acceptInvitation: { may: 'public', rate: 'invitation' },
  createInvitation: { may: onlySession('team:manage'), rate: 'change', factor: 'team' },
  listInvitations: { may: onlySession('team:view'), rate: 'standard' },
  resendInvitation: { may: onlySession('team:manage'), rate: 'emailCode' },
  revokeInvitation: { may: onlySession('team:manage'), rate: 'change' },
  listMembers: { may: onlySession('team:view'), rate: 'standard' },
  changeMember: { may: onlySession('team:manage'), rate: 'change', factor: 'team' },
  removeMember: { may: onlySession('team:manage'), rate: 'change', factor: 'team' },

  createApiKey: { may: onlySession('api-keys:manage'), rate: 'change', factor: 'api_key' },
  listApiKeys: { may: onlySession('api-keys:view'), rate: 'standard' },
  changeApiKey: { may: onlySession('api-keys:manage'), rate: 'change' },
  revokeApiKey: { may: onlySession('api-keys:manage'), rate: 'change' },
  getPublishableKey: { may: onlySession('widgets:view'), rate: 'standard' },
  rotatePublishableKey: { may: onlySession('widgets:manage'), rate: 'change', factor: 'publishable_key' },

  createWidget: { may: onlySession('widgets:manage'), rate: 'widget', bucket: 'widgets' },
  listWidgets: { may: onlySession('widgets:view'), rate: 'standard' },
  getWidget: { may: onlySession('widgets:view'), rate: 'standard' },
  changeWidget: { may: onlySession('widgets:manage'), rate: 'widget', bucket: 'widgets' },
  deleteWidget: { may: onlySession('widgets:manage'), rate: 'widget', bucket: 'widgets' },

  getSettings: { may: onlySession('settings:view'), rate: 'standard' },
  changeSettings: { may: onlySession('settings:manage'), rate: 'change' },
  getBranding: { may: onlySession('settings:view'), rate: 'standard' },
  changeBranding: { may: onlySession('settings:manage'), rate: 'change' },
  setLogo: { may: onlySession('settings:manage'), rate: 'change' },
  removeLogo: { may: onlySession('settings:manage'), rate: 'change' },
  getEgressLimits: { may: onlySession('settings:view'), rate: 'standard' },
  changeEgressLimits: { may: onlySession('settings:manage'), rate: 'change', factor: 'egress_limits' },
  rotateIpnSecret: { may: onlySession('settings:manage'), rate: 'change', factor: 'ipn_secret' },
  listAuditLog: { may: onlySession('audit:view'), rate: 'standard' },
  exportAuditLog: { may: onlySession('audit:view'), rate: 'standard' },

  findAnything: { may: 'super_admin', rate: 'find' },
  listMerchants: { may: 'super_admin', rate: 'standard' },
  getMerchant: { may: 'super_admin', rate: 'standard' },
  suspendMerchant: { may: 'super_admin', rate: 'change', factor: 'platform' },
  activateMerchant: { may: 'super_admin', rate: 'change', factor: 'platform' },
  setMerchantFee: { may: 'super_admin', rate: 'change', factor: 'platform' },
  getPlatformOverview: { may: 'super_admin', rate: 'global' },
  listIncidents: { may: 'super_admin', rate: 'standard' },
  getIncident: { may: 'super_admin', rate: 'standard' },
  resolveIncident: { may: 'super_admin', rate: 'change', factor: 'platform' },
  listPlatformAuditLog: { may: 'super_admin', rate: 'standard' },
  exportPlatformAuditLog: { may: 'super_admin', rate: 'standard' },
  getTreasury: { may: 'super_admin', rate: 'global' },
  getRecoveries: { may: 'super_admin', rate: 'standard' },
  listUnclaimedDeposits: { may: 'super_admin', rate: 'standard' },
  listScreenings: { may: 'super_admin', rate: 'standard' },
  listSwapOrders: { may: 'super_admin', rate: 'standard' },
  listRegistrations: { may: 'super_admin', rate: 'standard' },
  approveRegistration: { may: 'super_admin', rate: 'change', factor: 'platform' },
  refuseRegistration: { may: 'super_admin', rate: 'change', factor: 'platform' },
  listInviteCodes: { may: 'super_admin', rate: 'standard' },
  createInviteCode: { may: 'super_admin', rate: 'change', factor: 'platform' },
  revokeInviteCode: { may: 'super_admin', rate: 'change', factor: 'platform' },
  listSwitches: { may: 'super_admin', rate: 'standard' },
  setSwitch: { may: 'super_admin', rate: 'change', factor: 'platform' },
  getExposure: { may: 'super_admin', rate: 'standard' },
  limitExposure: { may: 'super_admin', rate: 'change', factor: 'platform' },
  setConversionPair: { may: 'super_admin', rate: 'change', factor: 'platform' },
  listFreezes: { may: 'super_admin', rate: 'standard' },
  freezeEgress: { may: 'super_admin', rate: 'change', factor: 'platform' },
  listOperatorRequests: { may: 'super_admin', rate: 'standard' },
  getOperatorRequest: { may: 'super_admin', rate: 'standard' },
  fileOperatorRequest: { may: 'super_admin', rate: 'change', factor: 'platform' },
  confirmOperatorRequest: { may: 'super_admin', rate: 'change', factor: 'platform' },
  cancelOperatorRequest: { may: 'super_admin', rate: 'change', factor: 'platform' },
  getPlatformLimits: { may: 'super_admin', rate: 'standard' },
  setPlatformLimits: { may: 'super_admin', rate: 'change', factor: 'platform' },

  listEventTypes: { may: 'public', rate: 'standard' },

  createWebhookEndpoint: { may: manageWebhooks, rate: 'change' },
  listWebhookEndpoints: { may: viewWebhooks, rate: 'standard' },
  getWebhookEndpoint: { may: viewWebhooks, rate: 'standard' },
  changeWebhookEndpoint: { may: manageWebhooks, rate: 'change' },
  deleteWebhookEndpoint: { may: manageWebhooks, rate: 'change' },
  rotateWebhookSecret: { may: manageWebhooks, rate: 'change' },
  testWebhookEndpoint: { may: manageWebhooks, rate: 'change' },
  replayWebhookEndpoint: { may: manageWebhooks, rate: 'change' },
  listDeliveries: { may: viewWebhooks, rate: 'standard' },
  redeliver: { may: manageWebhooks, rate: 'standard' },
  listEvents: { may: readEvents, rate: 'standard' },
  getEvent: { may: readEvents, rate: 'standard' },
  getOpenApi: { may: 'public', rate: 'none' },
  getDashboardOpenApi: { may: 'public', rate: 'none' },
  getOperatorsOpenApi: { may: 'public', rate: 'none' },
  getHealth: { may: 'public', rate: 'none' },
  getReadiness: { may: 'public', rate: 'none' },
} as const satisfies Record<string, Access>;

export type RouteName = keyof typeof access;
export type MayOf<Name extends RouteName> = (typeof access)[Name]['may'];

/** Whether `user` could call, in a session, all that `scope` opens to a key. */
export const couldCall = (user: Holder, scope: Scope): boolean =>
  Object.values<Access>(access).every(({ may }) => typeof may !== 'object' || may.key !== scope || mayCall(user, may));

/** The routes by which a second person approves what somebody else has asked for, and what each approves. */
const approvalRoutes = {
  approveRefund: 'refunds',
  approveWithdrawal: 'withdrawals',
  approvePayout: 'mass payouts',
  approveSettlement: 'settlement addresses',
} as const satisfies Partial<Record<RouteName, string>>;
export type Approval = keyof typeof approvalRoutes;

/** The rights that open an approval. */
export const approvalRights = (route: Approval): Rights => access[route].may;

/** What `holder` may approve, in words. */
export const approvals = (holder: Holder): string[] =>
  Object.entries(approvalRoutes).flatMap(([route, what]) =>
    mayCall(holder, approvalRights(route as Approval)) ? [what] : [],
  );
