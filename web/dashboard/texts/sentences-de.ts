import { waitMessages } from '../../../domain/txmanager/waits';
import { details, passwordNeeds } from './details-de';

/** What the API writes in English about records and rows, in German. It has no codes there: a sentence is found by its
 *  words, with its amounts and names in brackets. */

const plain: Readonly<Record<string, string>> = {
  [waitMessages.limit]:
    'Wartet: Was in 24 Stunden gesendet werden darf, ist verbraucht. Wird von selbst gesendet, sobald Platz ist.',
  [waitMessages.paused]:
    'Wartet: Diese Währung wird zurzeit nicht gesendet. Wird von selbst gesendet, wenn die Pause endet.',
  [waitMessages.held]: 'Wartet: Ausgehendes Geld dieses Kontos ist angehalten. Bitte wenden Sie sich an den Support.',
  [waitMessages.funds]: 'Wartet, bis Mittel bereitstehen. Wird von selbst gesendet.',
  [waitMessages.network]: 'Wartet auf das Netzwerk. Wird von selbst gesendet.',
  [waitMessages.checked]: 'Wartet auf eine Prüfung. Wird danach von selbst gesendet.',
  'The address does not take this transfer: it would be reverted. Nothing was sent. Use another address':
    'Die Adresse nimmt diese Überweisung nicht an. Nichts wurde gesendet. Verwenden Sie eine andere Adresse.',
  'The address takes more gas than a usual transfer, and the balance cannot pay for it. Nothing was sent':
    'Die Adresse braucht mehr Gas als üblich, und das Guthaben reicht dafür nicht. Nichts wurde gesendet.',
  'The address takes a higher network fee, and too little of the amount would be left. Nothing was sent':
    'Die Adresse kostet mehr Netzwerkgebühr als üblich, und vom Betrag bliebe zu wenig. Nichts wurde gesendet.',
  'The network did not take the transaction: it was withdrawn, and the money is back':
    'Das Netzwerk nahm die Transaktion nicht an: Sie wurde zurückgezogen, und das Geld ist wieder da.',
  'The network did not take the transaction in time: it has expired, and the money is back':
    'Das Netzwerk nahm die Transaktion nicht rechtzeitig an: Sie ist verfallen, und das Geld ist wieder da.',
  'The transaction was mined and reverted: the address does not take it. Its network fee was charged':
    'Die Transaktion kam in einen Block und scheiterte an der Adresse. Die Netzwerkgebühr wurde berechnet.',
  'The token did not pay what was sent: the money is back':
    'Der Token hat nicht gezahlt, was gesendet wurde. Das Geld ist wieder da.',
  'This invoice expires too soon: ask for a new one':
    'Diese Rechnung läuft zu bald ab. Lassen Sie sich eine neue geben.',
  'This invoice names no amount: ask for one that does':
    'Diese Rechnung nennt keinen Betrag. Lassen Sie sich eine mit Betrag geben.',
  'This invoice asks for a part of a satoshi: ask for whole ones':
    'Diese Rechnung verlangt einen Teil eines Satoshi. Lassen Sie sich eine über ganze geben.',
  'This invoice was given before: ask for a new one':
    'Diese Rechnung wurde schon einmal angegeben. Lassen Sie sich eine neue geben.',
  'By Lightning the payer gives an invoice at claimUrl: leave address out':
    'Über Lightning nennt der Zahler eine Rechnung unter dem Link. Lassen Sie die Adresse weg.',
  'By Lightning, give an invoice, or a Lightning address of the whitelist':
    'Über Lightning geben Sie eine Rechnung an oder eine Lightning-Adresse der Whitelist.',
  'By Lightning, a mass payout pays Lightning addresses of the whitelist alone':
    'Über Lightning bezahlt eine Sammelzahlung nur Lightning-Adressen der Whitelist.',
  'Neither a Lightning address nor the public key of a node: that is 66 hexadecimal digits and begins with 02 or 03':
    'Weder eine Lightning-Adresse noch der öffentliche Schlüssel eines Knotens (66 hexadezimale Ziffern).',
  'Its Lightning address has given no invoice of this amount: nothing has left':
    'Ihre Lightning-Adresse hat keine Rechnung über diesen Betrag gegeben. Nichts hat das Guthaben verlassen.',
  'No way to its receiver was found, or the invoice has expired: nothing has left':
    'Es wurde kein Weg zum Empfänger gefunden, oder die Rechnung ist abgelaufen. Nichts hat das Guthaben verlassen.',
  'Its address was taken off the whitelist before it was sent':
    'Die Adresse wurde vor dem Senden von der Whitelist genommen.',
  'The address is no longer on the withdrawal whitelist': 'Die Adresse ist nicht mehr auf der Whitelist.',
  'The conversion could not be executed at present; the full amount is back in the balance':
    'Die Umwandlung war derzeit nicht möglich. Der volle Betrag ist wieder im Guthaben.',
  'The price moved beyond the protection band before execution; the full amount is back in the balance':
    'Der Preis verließ vorher die geschützte Spanne. Der volle Betrag ist wieder im Guthaben.',
  'The conversion could not be executed in time; the full amount is back in the balance':
    'Die Umwandlung war nicht rechtzeitig möglich. Der volle Betrag ist wieder im Guthaben.',
  'The conversion could not be completed; the full amount is back in the balance':
    'Die Umwandlung kam nicht zustande. Der volle Betrag ist wieder im Guthaben.',
  'The market moved by more than 1 % before execution': 'Der Markt bewegte sich vorher um mehr als 1 %.',
  'No fresh rate could be had; nothing was moved': 'Es gab keinen aktuellen Kurs. Nichts wurde bewegt.',
  'The conversion was interrupted before it began; nothing was moved':
    'Die Umwandlung wurde unterbrochen, bevor sie begann. Nichts wurde bewegt.',
  'This conversion is temporarily unavailable; try again shortly':
    'Diese Umwandlung ist vorübergehend nicht möglich. Versuchen Sie es gleich noch einmal.',
  'The balance does not cover this conversion': 'Das Guthaben reicht für diese Umwandlung nicht.',
  'This address belongs to this service itself: give one of a wallet outside it':
    'Diese Adresse gehört diesem Dienst selbst. Geben Sie eine fremde an.',
  'There is no row to pay': 'Es gibt keine Zeile, die gezahlt werden kann.',
  'The amount has blanks around it': 'Um den Betrag stehen Leerzeichen.',
  'The amount is not a decimal number': 'Der Betrag ist keine Dezimalzahl.',
  'The amount is too small': 'Der Betrag ist zu klein.',
};

const patterns: ReadonlyArray<readonly [pattern: RegExp, german: string]> = [
  [/^A mass payout has at most (.*) rows$/, 'Eine Massenauszahlung hat höchstens $1 Zeilen.'],
  [/^This invoice is of (.*), and money here is of (.*)$/, 'Diese Rechnung ist von $1, und das Geld hier ist von $2.'],
  [
    /^This invoice lasts for more than (\d+) days: ask for one of a week$/,
    'Diese Rechnung gilt länger als $1 Tage. Lassen Sie sich eine für eine Woche geben.',
  ],
  [
    /^This invoice asks for (\d+) blocks at the end of its way, and (\d+) are the most$/,
    'Diese Rechnung verlangt $1 Blöcke am Ende ihres Wegs, höchstens $2 gehen. Lassen Sie sich eine andere geben.',
  ],
  [
    /^The invoice asks for (.*) BTC, and (.*) BTC would be sent$/,
    'Die Rechnung verlangt $1 BTC, und gesendet würden $2 BTC.',
  ],
  [
    /^Not a Lightning invoice that can be paid: (.*)$/,
    'Keine Lightning-Rechnung, die bezahlt werden kann. Kopieren Sie sie neu, oder lassen Sie sich eine andere geben.',
  ],
  [/^More than (.*) rows$/, 'Mehr als $1 Zeilen.'],
  [/^Rows that cannot be paid: (.*) of (.*)$/, 'Zeilen, die nicht gezahlt werden können: $1 von $2.'],
  [/^The balance does not cover (.*)$/, 'Das Guthaben reicht nicht für $1.'],
  [/^Unsupported currency (.*)$/, 'Die Währung $1 gibt es nicht.'],
  [/^Not an address that (.*) can be sent to$/, 'Das ist keine Adresse für $1.'],
  [
    /^This address of (.*) is mistyped, or is a token's contract, or the zero address: copy it again$/,
    'Diese Adresse von $1 ist vertippt, oder sie ist ein Token-Vertrag oder die Nulladresse. Kopieren Sie sie neu.',
  ],
  [
    /^This address of (.*) is mistyped, or is of another chain \(live, test\): copy it again$/,
    'Diese Adresse von $1 ist vertippt oder von einer anderen Kette (echt, Test). Kopieren Sie sie neu.',
  ],
  [
    /^In hexadecimal an address of (.*) has no checksum: give the spelling that begins with (.*)$/,
    'Hexadezimal hat eine Adresse von $1 keine Prüfsumme. Geben Sie die Schreibweise an, die mit $2 beginnt.',
  ],
  [/^This is of Lightning: give an address of (.*)$/, 'Das gehört zu Lightning. Geben Sie eine Adresse von $1 an.'],
  [/^Not an address of (.*): it looks like one of (.*)$/, 'Keine Adresse von $1. Sie sieht aus wie eine von $2.'],
  [/^Not an address of (.*): one is 0x and .*$/, 'Keine Adresse von $1: Eine ist 0x und 40 hexadezimale Ziffern.'],
  [
    /^Not an address of (.*): one begins with (.*) \(on test chains (.*)\), or is of .*$/,
    'Keine Adresse von $1: Eine beginnt mit $2 (auf Testketten $3) oder ist von der älteren Art.',
  ],
  [/^(.*) cannot be sent yet$/, '$1 kann noch nicht gesendet werden.'],
  [
    /^The address is not on the withdrawal whitelist for (.*)$/,
    'Die Adresse ist für $1 nicht auf der Whitelist, oder der Eintrag zählt noch nicht.',
  ],
  [
    /^(.*) cannot be priced now, try again shortly$/,
    '$1 hat gerade keinen Preis. Versuchen Sie es gleich noch einmal.',
  ],
  [
    /^After the network fee of (.*) less than (.*) is left$/,
    'Nach der Netzwerkgebühr von $1 bleibt weniger als $2 übrig.',
  ],
  [/^(.*) needs a destination tag$/, '$1 braucht einen Destination-Tag.'],
  [/^(.*) has no destination tags$/, '$1 hat keine Destination-Tags.'],
  [
    /^a destination tag of (.*) is a whole number up to (.*)$/,
    'Ein Destination-Tag von $1 ist eine ganze Zahl bis $2.',
  ],
  [
    /^The X-address has the tag (\d+) in it, and (\d+) was given beside it: give one of them$/,
    'Die X-Adresse enthält den Tag $1, und daneben steht $2. Geben Sie einen davon an.',
  ],
  [
    /^The X-address says that its receiver has no tag, and (\d+) was given beside it: give one of them$/,
    'Laut der X-Adresse hat ihr Empfänger keinen Tag, und daneben steht $1. Geben Sie eines davon an.',
  ],
  [
    /^This X-address is of a test network, and this is the main network$/,
    'Diese X-Adresse gehört zu einem Testnetz, und dies ist das Hauptnetz.',
  ],
  [
    /^This X-address is of the main network, and this is a test network$/,
    'Diese X-Adresse gehört zum Hauptnetz, und dies ist ein Testnetz.',
  ],
  [
    /^Nobody has the key of (\S+): what is sent there is lost$/,
    'Niemand hat den Schlüssel zu $1. Was dorthin geht, ist verloren.',
  ],
  [
    /^A destination tag of XRP is a whole number up to (\d+)$/,
    'Ein Destination-Tag von XRP ist eine ganze Zahl bis $1.',
  ],
  [/^Too little: convert at least (.*)$/, 'Zu wenig: Wandeln Sie mindestens $1 um.'],
  [/^Too much at once: convert at most (.*)$/, 'Zu viel auf einmal: Wandeln Sie höchstens $1 um.'],
  [/^Not enough (.*) is available at present$/, 'Derzeit ist nicht genug $1 verfügbar.'],
  [
    /^(.*) needs destination tags, which orders at the swap provider do not have$/,
    '$1 braucht Destination-Tags, die es beim Tauschpartner nicht gibt.',
  ],
  [
    /^Line (.*): the columns currency, address and amount are needed$/,
    'Zeile $1: Die Spalten currency, address und amount werden gebraucht.',
  ],
  [/^Line (.*): a column is there twice$/, 'Zeile $1: Eine Spalte gibt es zweimal.'],
  [
    /^Line (.*): a cell is too long or holds control characters$/,
    'Zeile $1: Eine Zelle ist zu lang oder enthält Steuerzeichen.',
  ],
  [/^Not a CSV file: .*$/, 'Das ist keine CSV-Datei.'],
];

/** A sentence that is not known stays as it is. */
export function sentence(message: string): string {
  const known = plain[message] ?? passwordNeeds(message);
  if (known) return known;
  const found = [...patterns, ...details].find(([pattern]) => pattern.test(message));
  return found ? message.replace(found[0], found[1]) : message;
}
