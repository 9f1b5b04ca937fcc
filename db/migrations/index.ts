import { Baseline1798000000000 } from './1798000000000-baseline';
import { GasEstimates1799000001000 } from './1799000001000-gas-estimates';
import { OperatorRequests1799000010000 } from './1799000010000-operator-requests';
import { MerchantHold1799000011000 } from './1799000011000-merchant-hold';
import { ReplacedIntents1799000012000 } from './1799000012000-replaced-intents';
import { TwoPeople1799000020000 } from './1799000020000-two-people';
import { SettlementChanges1799000021000 } from './1799000021000-settlement-changes';
import { FoundByBalance1799000030000 } from './1799000030000-found-by-balance';
import { StaleNode1799000030100 } from './1799000030100-stale-node';
import { UntracedBlocks1799000030200 } from './1799000030200-untraced-blocks';
import { UnverifiedDeposits1799000030300 } from './1799000030300-unverified-deposits';
import { DepositChanges1799000030400 } from './1799000030400-deposit-changes';
import { PayerBrowser1799000040000 } from './1799000040000-payer-browser';
import { Widgets1799000060000 } from './1799000060000-widgets';
import { KeyBranches1799000070000 } from './1799000070000-key-branches';
import { LostSignatures1799000071000 } from './1799000071000-lost-signatures';
import { NewDestinations1799000080000 } from './1799000080000-new-destinations';
import { Lanes1799000090000 } from './1799000090000-lanes';
import { DepositParts1799000100000 } from './1799000100000-deposit-parts';
import { Watched1799000100100 } from './1799000100100-watched';
import { KnownDevices1799000110000 } from './1799000110000-known-devices';
import { FirstBatches1799000110100 } from './1799000110100-first-batches';
import { Branding1799000140000 } from './1799000140000-branding';
import { ReceiptEmails1799000141000 } from './1799000141000-receipt-emails';
import { PayerData1799000142000 } from './1799000142000-payer-data';
import { OperatorsSearch1799000150000 } from './1799000150000-operators-search';
import { IncidentResolution1799000151000 } from './1799000151000-incident-resolution';
import { PlatformLists1799000152000 } from './1799000152000-platform-lists';
import { Registrations1799000153000 } from './1799000153000-registrations';
import { PaymentDays1799000180000 } from './1799000180000-payment-days';
import { Waits1799000181000 } from './1799000181000-waits';
import { DestinationTags1799000190000 } from './1799000190000-destination-tags';
import { GasLanes1799000200000 } from './1799000200000-gas-lanes';
import { StatusCounts1799000210000 } from './1799000210000-status-counts';
import { Instance1799000220000 } from './1799000220000-instance';
import { UserPreferences1799000230000 } from './1799000230000-user-preferences';
import { ApiRequests1799000240000 } from './1799000240000-api-requests';
import { PricesAndRefunds1799000270000 } from './1799000270000-prices-and-refunds';
import { PaymentDeciders1799000280000 } from './1799000280000-payment-deciders';
import { SharedAddresses1799000290000 } from './1799000290000-shared-addresses';
import { DataFees1799000300000 } from './1799000300000-data-fees';
import { OneLoader1799000310000 } from './1799000310000-one-loader';
import { Allocation1799000400000 } from './1799000400000-allocation';
import { StartDelays1799000700000 } from './1799000700000-start-delays';
import { DeliveryQueue1799000800000 } from './1799000800000-delivery-queue';
import { MetricsOfTheService1799000900000 } from './1799000900000-metrics-of-the-service';
import { LostOwners1799000910000 } from './1799000910000-lost-owners';
import { RequestOfEvent1799000920000 } from './1799000920000-request-of-event';
import { NamesOfMerchants1799000930000 } from './1799000930000-names-of-merchants';
import { HashedBy1799000940000 } from './1799000940000-hashed-by';
import { EarlierIpnSecret1799000950000 } from './1799000950000-earlier-ipn-secret';
import { Traceparents1799000960000 } from './1799000960000-traceparents';
import { ExpiringAttempts1799000970000 } from './1799000970000-expiring-attempts';
import { Validity1799000990000 } from './1799000990000-validity';
import { RestoredAttempts1799000991000 } from './1799000991000-restored-attempts';
import { LightningInvoices1799001000000 } from './1799001000000-lightning-invoices';
import { Seeds1799001010000 } from './1799001010000-seeds';
import { AddressReserves1799001011000 } from './1799001011000-address-reserves';
import { LightningNode1799001020000 } from './1799001020000-lightning-node';
import { LightningWallets1799001030000 } from './1799001030000-lightning-wallets';
import { LightningPayments1799001050000 } from './1799001050000-lightning-payments';
import { LightningRefunds1799001087000 } from './1799001087000-lightning-refunds';
import { AddedFees1799001088000 } from './1799001088000-added-fees';
import { PaymentsWithMoney1799001089000 } from './1799001089000-payments-with-money';
import { LightningLines1799001090000 } from './1799001090000-lightning-lines';
import { BesideAddresses1799001095000 } from './1799001095000-beside-addresses';
import { CallsGivenUp1799001110000 } from './1799001110000-calls-given-up';
import { LooksAfterRecoveries1799001115000 } from './1799001115000-looks-after-recoveries';
import { UnauditedLightning1799001116000 } from './1799001116000-unaudited-lightning';
import { ForeignSequences1799001120000 } from './1799001120000-foreign-sequences';
import { DifferingAttempts1799001125000 } from './1799001125000-differing-attempts';
import { HeldByLightning1799001130000 } from './1799001130000-held-by-lightning';
import { UnknownLightning1799001131000 } from './1799001131000-unknown-lightning';
import { LostFees1799001140000 } from './1799001140000-lost-fees';
import { ComparedLightning1799001160000 } from './1799001160000-compared-lightning';
import { ForgottenPayments1799001161000 } from './1799001161000-forgotten-payments';
import { WalletTurns1799001175000 } from './1799001175000-wallet-turns';
import { DecidedTransfers1799001200000 } from './1799001200000-decided-transfers';

/** Every migration, oldest first; only ever added to. Functions, triggers and views are in db/functions. */
export const migrations = [
  Baseline1798000000000,
  GasEstimates1799000001000,
  OperatorRequests1799000010000,
  MerchantHold1799000011000,
  ReplacedIntents1799000012000,
  TwoPeople1799000020000,
  SettlementChanges1799000021000,
  FoundByBalance1799000030000,
  StaleNode1799000030100,
  UntracedBlocks1799000030200,
  UnverifiedDeposits1799000030300,
  DepositChanges1799000030400,
  PayerBrowser1799000040000,
  Widgets1799000060000,
  KeyBranches1799000070000,
  LostSignatures1799000071000,
  NewDestinations1799000080000,
  Lanes1799000090000,
  DepositParts1799000100000,
  Watched1799000100100,
  KnownDevices1799000110000,
  FirstBatches1799000110100,
  Branding1799000140000,
  ReceiptEmails1799000141000,
  PayerData1799000142000,
  OperatorsSearch1799000150000,
  IncidentResolution1799000151000,
  PlatformLists1799000152000,
  Registrations1799000153000,
  PaymentDays1799000180000,
  Waits1799000181000,
  DestinationTags1799000190000,
  GasLanes1799000200000,
  StatusCounts1799000210000,
  Instance1799000220000,
  UserPreferences1799000230000,
  ApiRequests1799000240000,
  PricesAndRefunds1799000270000,
  PaymentDeciders1799000280000,
  SharedAddresses1799000290000,
  DataFees1799000300000,
  OneLoader1799000310000,
  Allocation1799000400000,
  StartDelays1799000700000,
  DeliveryQueue1799000800000,
  MetricsOfTheService1799000900000,
  LostOwners1799000910000,
  RequestOfEvent1799000920000,
  NamesOfMerchants1799000930000,
  HashedBy1799000940000,
  EarlierIpnSecret1799000950000,
  Traceparents1799000960000,
  ExpiringAttempts1799000970000,
  Validity1799000990000,
  RestoredAttempts1799000991000,
  LightningInvoices1799001000000,
  Seeds1799001010000,
  AddressReserves1799001011000,
  LightningNode1799001020000,
  LightningWallets1799001030000,
  LightningPayments1799001050000,
  LightningRefunds1799001087000,
  AddedFees1799001088000,
  PaymentsWithMoney1799001089000,
  LightningLines1799001090000,
  BesideAddresses1799001095000,
  CallsGivenUp1799001110000,
  LooksAfterRecoveries1799001115000,
  UnauditedLightning1799001116000,
  ForeignSequences1799001120000,
  DifferingAttempts1799001125000,
  HeldByLightning1799001130000,
  UnknownLightning1799001131000,
  LostFees1799001140000,
  ComparedLightning1799001160000,
  ForgottenPayments1799001161000,
  WalletTurns1799001175000,
  DecidedTransfers1799001200000,
];
