import type { EntitySchema } from 'typeorm';
import * as access from './access/entities';
import * as audit from './audit/entities';
import * as branding from './branding/entities';
import * as chains from './chains/entities';
import * as conversions from './conversions/entities';
import * as ledger from './ledger/entities';
import * as lightning from './lightning/entities';
import * as limits from './limits/entities';
import * as mail from './mail/entities';
import * as operators from './operators/entities';
import * as payments from './payments/entities';
import * as payouts from './payouts/entities';
import * as platform from './platform-entities';
import * as pricing from './pricing/entities';
import * as recovery from './recovery/entities';
import * as refunds from './refunds/entities';
import * as screening from './screening/entities';
import * as sweeps from './sweeps/entities';
import * as temporal from './temporal/entities';
import * as txmanager from './txmanager/entities';
import * as wallets from './wallets/entities';
import * as webhooks from './webhooks/entities';
import * as widgets from './widgets/entities';
import * as withdrawals from './withdrawals/entities';

/** Every table that is declared, a file per feature. A new table of a feature needs no line here.
 *  docs/decisions/0035-entities.md */
export const entities: readonly EntitySchema[] = [
  access,
  audit,
  branding,
  chains,
  conversions,
  ledger,
  lightning,
  limits,
  mail,
  operators,
  payments,
  payouts,
  platform,
  pricing,
  recovery,
  refunds,
  screening,
  sweeps,
  temporal,
  txmanager,
  wallets,
  webhooks,
  widgets,
  withdrawals,
].flatMap((feature) => Object.values<EntitySchema>(feature));
