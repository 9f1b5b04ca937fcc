import type { en } from './en';

/** Wörter der ersten Seite. */
export const de: typeof en = {
  attention: 'Braucht Aufmerksamkeit',
  quiet: 'Nichts wartet auf Sie.',
  partiallyPaid: (count) =>
    count === 1 ? '1 Zahlung ist teilweise bezahlt' : `${count} Zahlungen sind teilweise bezahlt`,
  crossChainPending: (count) =>
    count === 1 ? '1 Zahlung kam in einer anderen Währung' : `${count} Zahlungen kamen in einer anderen Währung`,
  underpaid: (count) =>
    count === 1
      ? '1 Zahlung der letzten 30 Tage war zu niedrig'
      : `${count} Zahlungen der letzten 30 Tage waren zu niedrig`,
  paidLate: (count) =>
    count === 1
      ? '1 Zahlung der letzten 30 Tage kam nach ihrem Ablauf'
      : `${count} Zahlungen der letzten 30 Tage kamen nach ihrem Ablauf`,
  wrongCurrency: (count) =>
    count === 1
      ? '1 Zahlung der letzten 30 Tage kam in der falschen Währung'
      : `${count} Zahlungen der letzten 30 Tage kamen in der falschen Währung`,
  refundWaits: (amount) => `Eine Erstattung von ${amount} wartet auf Freigabe`,
  moreRefunds: (count) =>
    count === 1 ? '1 weitere Erstattung wartet auf Freigabe' : `${count} weitere Erstattungen warten auf Freigabe`,
  withdrawals: (count) =>
    count === 1 ? '1 Auszahlung wartet auf Freigabe' : `${count} Auszahlungen warten auf Freigabe`,
  payouts: (count) =>
    count === 1 ? '1 Sammelauszahlung wartet auf Freigabe' : `${count} Sammelauszahlungen warten auf Freigabe`,
  flagged: (count) =>
    count === 1
      ? '1 Zahlung der letzten 30 Tage fiel bei der Prüfung auf'
      : `${count} Zahlungen der letzten 30 Tage fielen bei der Prüfung auf`,
  outgoingHeld: 'Ausgehendes Geld dieses Kontos ist angehalten: Nichts wird gesendet, bis der Support es freigibt',
  withdrawalsHeld: (count) => (count === 1 ? '1 Auszahlung ist angehalten' : `${count} Auszahlungen sind angehalten`),
  payoutsHeld: (count) =>
    count === 1 ? '1 Sammelauszahlung ist angehalten' : `${count} Sammelauszahlungen sind angehalten`,
  refundsHeld: (count) => (count === 1 ? '1 Erstattung ist angehalten' : `${count} Erstattungen sind angehalten`),
  endpointOff: (url) => `Der Webhook-Endpunkt ${url} wurde abgeschaltet, weil er nicht erreichbar war`,
  deliveriesFail: 'Webhook-Zustellungen sind gescheitert und werden erneut versucht',
  limitLow: (used, limit) => `${used} von ${limit}, die in 24 Stunden gesendet werden dürfen, sind verbraucht`,
  countLow: (used, limit) => `${used} von ${limit} Überweisungen einer Stunde sind verbraucht`,
  payments: 'Zahlungen',
  span: 'Zeitraum',
  spans: { 1: 'Heute', 7: '7 Tage', 30: '30 Tage' },
  inUtc: 'Ein Tag beginnt um Mitternacht UTC, wie in den Listen.',
  volume: 'Umsatz',
  created: 'Erstellt',
  paid: 'Bezahlt',
  settled: 'Abgeschlossen',
  share: (percent) => `${percent} der erstellten`,
  before: (value) => `Zuvor: ${value}`,
  nothing: 'Keine Zahlung in diesem Zeitraum.',
  toPayments: 'Diese Zahlungen zeigen',
  chart: (from, to) => `Abgeschlossener Umsatz je Tag, ${from} bis ${to}, neben den Tagen davor`,
  now: 'Dieser Zeitraum',
  earlier: 'Der Zeitraum davor',
  numbers: 'Das Diagramm in Zahlen',
  day: 'Tag',
  balances: 'Guthaben',
  worth: 'Etwa',
};
