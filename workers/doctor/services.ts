import type { DataSource } from 'typeorm';
import { createMailer } from '../../commands/mail/mailer';
import { ratesIn } from '../../db/pricing/rates';
import { assetsOn } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import { fault, good, type Finding } from '../../domain/finding';

/** Whether the mail server takes our sign-in; nothing is sent. */
export async function checkMail(config: Config): Promise<Finding[]> {
  const mailer = createMailer(config);
  try {
    await mailer.verify();
    return [good(`The mail server takes mail from ${config.MAIL_FROM}`)];
  } catch (error) {
    return [
      fault(`The mail server does not take mail: ${(error as Error).message}`, 'Correct SMTP_URL; codes go by mail'),
    ];
  } finally {
    mailer.close();
  }
}

/** Whether every currency on offer has a price that may be used. */
export async function checkRates(db: DataSource, config: Config): Promise<Finding[]> {
  const fresh = await ratesIn(db, 'USD', config.RATE_MAX_AGE_SECONDS);
  const missing = assetsOn(config.networks).flatMap(({ currency }) => (fresh.has(currency) ? [] : [currency]));
  return missing.length
    ? [
        fault(
          `No price younger than ${config.RATE_MAX_AGE_SECONDS} s: ${missing.join(', ')}`,
          config.RATE_SOURCE === 'file'
            ? 'Keep the prices of RATE_FILE fresh'
            : `Start worker-payments, and let it reach the exchanges ${config.rateExchanges.join(', ')}`,
        ),
      ]
    : [good('Every currency has a price')];
}
