import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { useTexts } from '../texts/texts';
import type { Payment } from './data';

type Said = Readonly<Record<string, unknown>>;

/** What a donor said of themselves, by its field; null: the payment has no donor. */
function donorOf({ metadata }: Pick<Payment, 'metadata'>): Said | null {
  const donor = (metadata as Said | null | undefined)?.['donor'];
  return typeof donor === 'object' ? (donor as Said | null) : null;
}

/** Whom a donation is of; nothing for any other payment. */
export function Donor({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const donor = donorOf(payment);
  if (!donor) return null;
  const facts = Object.entries(t.payment.donorFields).map(([field, name]) => {
    const said = donor[field];
    return [name, typeof said === 'string' && said] as const;
  });
  return (
    <section className={css.card} aria-labelledby="donor">
      <h2 id="donor">{t.payment.donor}</h2>
      <Facts facts={facts} />
    </section>
  );
}
