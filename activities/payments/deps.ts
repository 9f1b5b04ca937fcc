import type { DataSource } from 'typeorm';
import type { Config } from '../../domain/config';
import type { PaymentCommandDeps } from '../../commands/payments/deps';

export type PaymentDeps = PaymentCommandDeps & Readonly<{ db: DataSource; config: Config }>;
